// OpenMP of the host's part. Kernels run on one OS thread, and so does what launches them: unless the build turns
// OpenMP on, its functions answer for a team of one.
#pragma once

#if defined(_OPENMP) && !defined(__clang__)
#include_next <omp.h>
#else

#include <time.h>

typedef int omp_lock_t;
typedef enum { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto } omp_sched_t;
static inline int omp_get_thread_num() { return 0; }
static inline int omp_get_num_threads() { return 1; }
static inline int omp_get_max_threads() { return 1; }
static inline int omp_get_num_procs() { return 1; }
static inline int omp_in_parallel() { return 0; }
static inline void omp_set_num_threads(int) {}
static inline void omp_set_nested(int) {}
static inline void omp_set_dynamic(int) {}
static inline void omp_set_schedule(omp_sched_t, int) {}
static inline void omp_init_lock(omp_lock_t*) {}
static inline void omp_destroy_lock(omp_lock_t*) {}
static inline void omp_set_lock(omp_lock_t*) {}
static inline void omp_unset_lock(omp_lock_t*) {}
static inline double omp_get_wtime() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}
static inline double omp_get_wtick() { return 1e-9; }
#endif
