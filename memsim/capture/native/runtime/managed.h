// Advice and prefetches, whose functions differ between the ABIs of CUDA 12 and 13 (version.cpp).
#pragma once

#include "common.h"

namespace memsim::runtime {

int device_of(MemoryLocation location);  // -1: the host
Error advise(const void* pointer, size_t bytes, int advice, int device);
Error prefetch(const void* pointer, size_t bytes, int device, StreamHandle stream);

}  // namespace memsim::runtime
