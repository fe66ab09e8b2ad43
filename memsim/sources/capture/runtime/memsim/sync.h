// Barriers, fences and the clock (CUDA C++ Programming Guide, "Synchronization Functions" to "Time Function").
#pragma once

#include <time.h>

#include "block.h"

#if !defined(__clang__)  // which knows these
MEMSIM_CUDA void __syncthreads() {
    memsim_probe::log_word(memsim_probe::barrier_mark);
    memsim_probe::block.barrier(0, "__syncthreads()");
}
MEMSIM_CUDA int __syncthreads_count(int predicate) {
    memsim_probe::log_word(memsim_probe::barrier_mark);
    return memsim_probe::block.barrier(predicate != 0, "__syncthreads_count()");
}
MEMSIM_CUDA int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) != 0; }
MEMSIM_CUDA int __syncthreads_and(int predicate) { return __syncthreads_count(!predicate) == 0; }
#endif

// Threads take turns on one OS thread: only the compiler could reorder.
MEMSIM_CUDA void __threadfence() { asm volatile("" ::: "memory"); }
MEMSIM_CUDA void __threadfence_block() { __threadfence(); }
MEMSIM_CUDA void __threadfence_system() { __threadfence(); }

MEMSIM_CUDA long long int clock64() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}
MEMSIM_CUDA clock_t __clock() { return static_cast<int>(clock64()); }
MEMSIM_CUDA unsigned long long globaltimer() { return clock64(); }
MEMSIM_CUDA void __nanosleep(unsigned) { memsim_probe::block.spin(); }
[[noreturn]] MEMSIM_CUDA void __trap() { memsim_probe::fail("__trap() in thread (%u,%u,%u)", threadIdx.x, threadIdx.y, threadIdx.z); }
MEMSIM_CUDA void __brkpt() {}
MEMSIM_CUDA void __prof_trigger(int) {}
