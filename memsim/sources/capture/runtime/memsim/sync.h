// Barriers, fences and the clock (CUDA C++ Programming Guide, "Synchronization Functions" to "Time Function").
#pragma once

#include <time.h>

#include "fault.h"

#if !defined(__clang__)  // which knows it
MEMSIM_CUDA void __syncthreads() {
    memsim_probe::log_word(memsim_probe::barrier_mark);
    memsim_probe::block.barrier(0, "__syncthreads()");
}
#endif
MEMSIM_CUDA int __syncthreads_count(int predicate) {
    memsim_probe::log_word(memsim_probe::barrier_mark);
    return memsim_probe::block.barrier(predicate != 0, "__syncthreads_count()");
}
MEMSIM_CUDA int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) != 0; }
MEMSIM_CUDA int __syncthreads_and(int predicate) { return __syncthreads_count(!predicate) == 0; }

// Threads take turns on one OS thread: only the compiler could reorder.
MEMSIM_CUDA void __threadfence() { asm volatile("" ::: "memory"); }
MEMSIM_CUDA void __threadfence_block() { __threadfence(); }
MEMSIM_CUDA void __threadfence_system() { __threadfence(); }

MEMSIM_CUDA long long int clock64() {  // of an SM at 1 GHz
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}
#if !defined(__clang__)
// Kernels mean the SM's clock, host code means C's: processor time.
extern "C" inline clock_t clock() noexcept {
    if (memsim_probe::block.inside()) return static_cast<int>(clock64());
    timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1000000000L / CLOCKS_PER_SEC);
}
#endif
MEMSIM_CUDA unsigned long long globaltimer() { return clock64(); }
MEMSIM_CUDA void __nanosleep(unsigned) { memsim_probe::block.spin(); }
[[noreturn]] MEMSIM_CUDA void __trap() {
    fflush(stdout);
    memsim_probe::fail_in_thread("__trap()");
}
MEMSIM_CUDA void __brkpt() {}
MEMSIM_CUDA void __prof_trigger(int) {}
