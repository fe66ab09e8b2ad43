// Reports of a stand-in library to the user: calls whose kernels the trace lacks, and functions that are not implemented.
//
// A stand-in library replaces one of NVIDIA's closed libraries. It computes on the host, because device memory is memory
// of the process (SPEC: the arena), so a pointer to the device is dereferenced as it is.
#pragma once

#include "../../core/jump.h"

namespace standin {

// Facts about the library that is linked; memsim/capture/library_build.py has them.
struct LibraryFacts {
    const char* title;  // as users know it: "cuBLAS"
    int not_supported;  // the status that the library returns for a function it lacks
};
extern const LibraryFacts library;

// How often device memory was written so far; `more`: of which just now (memsim_device_writes in libcuda.so.1). 0
// without the core.
uint64_t device_writes(unsigned more = 0);

// Counts one call that would have launched kernels. When the process ends, one line reports how many there were.
void count_call();

// Counts one call whose result was there already.
void count_repeat();

// Reports the function once and returns the library's "not supported" status.
int not_supported(const char* function);

// A line for the user, once per text.
void note_once(const char* text);

}  // namespace standin
