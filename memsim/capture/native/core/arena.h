// The arena: device memory of this process, a sparse memfd that the server maps too.
//
// libcuda.so.1 allocates in the lower half, the preloaded malloc (host_memory.cpp) in the upper one, so that neither
// needs the other's bookkeeping. Whoever comes first creates it; libcuda finds the preloaded library's by a weak symbol.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace memsim {

struct Arena {
  int descriptor = -1;
  uint64_t base = 0, bytes = 0;
  std::atomic<uint64_t> sequence{1};  // of allocations, the same count for both halves
  uint64_t middle() const { return base + bytes / 2; }
  uint64_t end() const { return base + bytes; }
  bool holds(uint64_t address) const { return address - base < bytes; }
};

constexpr uint64_t arena_bytes = uint64_t(256) << 30;
constexpr uint64_t page_bytes = 4096, device_page_bytes = 2 << 20;

// Addresses that programs print are the same in every run as long as nothing else lies there.
constexpr uint64_t preferred_base = 0x300000000000;

// Creates the memfd and maps it. Async-signal safe and without malloc: the preloaded malloc calls it.
inline bool create_arena(Arena& arena) {
  for (uint64_t bytes = arena_bytes; bytes >= (uint64_t(4) << 30); bytes /= 2) {  // less under an address limit
    int descriptor = memfd_create("memsim-device-memory", MFD_CLOEXEC);
    if (descriptor < 0) return false;
    // Programs that use fixed small descriptors (3, 4 ...) must not meet this one.
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 600);
    if (high >= 0) {
      close(descriptor);
      descriptor = high;
    }
    if (ftruncate(descriptor, off_t(bytes)) == 0) {
      constexpr int flags = MAP_SHARED | MAP_NORESERVE;
      void* where = mmap(reinterpret_cast<void*>(preferred_base), bytes, PROT_READ | PROT_WRITE,
                         flags | MAP_FIXED_NOREPLACE, descriptor, 0);
      if (where == MAP_FAILED) where = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
      if (where != MAP_FAILED) {
        arena.descriptor = descriptor;
        arena.base = reinterpret_cast<uint64_t>(where);
        arena.bytes = bytes;
        return true;
      }
    }
    close(descriptor);
  }
  return false;
}

// A block of the preloaded malloc was allocated (bytes > 0) or freed (bytes 0).
struct HostChange {
  uint64_t address, bytes, sequence;
};

}  // namespace memsim

// What the preloaded library offers; null in programs without it.
extern "C" {
__attribute__((weak)) memsim::Arena* memsim_host_memory_arena();
// Copies changes since the position into `out`, oldest first; returns their number and moves the position on.
// SIZE_MAX: too many were made since; `memsim_host_memory_blocks` lists what is there.
__attribute__((weak)) size_t memsim_host_memory_changes(uint64_t* position, memsim::HostChange* out, size_t most);
// All blocks that exist (their number), and the position for later changes.
__attribute__((weak)) size_t memsim_host_memory_blocks(uint64_t* position, memsim::HostChange* out, size_t most);
// The block that holds an address; false: none.
__attribute__((weak)) bool memsim_host_memory_find(uint64_t address, memsim::HostChange* block);
}
