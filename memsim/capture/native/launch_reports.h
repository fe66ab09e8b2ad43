// What the core in libcuda.so.1 reports about each launch to CUPTI's stand-in: a plain struct, because the two are
// separate libraries.
#pragma once

#include <stdint.h>

struct MemsimLaunchReport {
  uint64_t number;          // of the launch, from 1
  const char* kernel;       // its name in PTX; lives as long as the module
  uint64_t stream;          // id
  uint32_t grid[3], block[3];
  uint32_t registers, static_shared, dynamic_shared, local_bytes;
  uint64_t start_ns, end_ns;  // simulated time, once the launch has ended
};

// Called before a launch with `ends` 0 and after it with 1. The caller holds the core's lock, which is recursive.
typedef void (*MemsimLaunchObserver)(const MemsimLaunchReport* launch, int ends);
