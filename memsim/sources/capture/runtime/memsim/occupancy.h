// How many blocks the imaginary GPU of describe_device() holds at a time.
#pragma once

#include <stddef.h>

namespace memsim_probe {

constexpr int host_multiprocessors = 80;

// Blocks that occupy an SM at most: of so many threads and shared bytes, registers unknown.
inline int blocks_per_sm(int threads, size_t shared_bytes) {
    if (threads <= 0 || threads > 1024) return 0;
    int blocks = 2048 / ((threads + 31) / 32 * 32);
    if (shared_bytes && blocks * shared_bytes > 164 << 10) blocks = (164 << 10) / shared_bytes;
    return blocks < 32 ? blocks : 32;
}

}  // namespace memsim_probe
