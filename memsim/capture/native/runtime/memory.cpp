// Allocation (CUDA Runtime API, "Memory Management" and "Unified Addressing").

#include <algorithm>
#include <cstring>

#include "common.h"

namespace memsim::runtime {

namespace {

constexpr size_t pitch_alignment = 512;
constexpr uint64_t host_mapped = 2;
constexpr uint32_t registered_io = 4;

Error allocate_into(AllocationKind kind, size_t bytes, void** pointer, uint32_t flags = 0) {
  if (!pointer) return done(error_invalid_value);
  uint64_t address = 0;
  Error failed = allocate(kind, bytes, &address, flags);
  if (!failed) *pointer = pointer_to(address);
  return done(failed);
}

// Frees what begins at the pointer if it is of the kinds that the function frees.
Error free_kind(void* pointer, bool pinned) {
  if (Status failed = ready()) return done(failed);
  if (!pointer) return success;
  Allocation found;
  bool known = find_allocation(address_of(pointer), &found) && found.address == address_of(pointer);
  bool of_kind = known && !found.registered && (found.kind == AllocationKind::pinned) == pinned &&
                 found.kind != AllocationKind::variable && found.kind != AllocationKind::array &&
                 found.kind != AllocationKind::host;
  if (!of_kind) return done(error_invalid_value);
  return done(free_in_stream(address_of(pointer), stream_of(nullptr)));
}

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaMalloc(void** pointer, size_t bytes) {
  return allocate_into(AllocationKind::device, bytes, pointer);
}

MEMSIM_CUDA Error cudaFree(void* pointer) { return free_kind(pointer, false); }
MEMSIM_CUDA Error cudaFreeHost(void* pointer) { return free_kind(pointer, true); }

MEMSIM_CUDA Error cudaMallocHost(void** pointer, size_t bytes) {
  return allocate_into(AllocationKind::pinned, bytes, pointer);
}

MEMSIM_CUDA Error cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  if (flags > 7) return done(error_invalid_value);
  return allocate_into(AllocationKind::pinned, bytes, pointer, flags);
}

MEMSIM_CUDA Error cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned global = 1, host = 2;
  if (!bytes || (flags != global && flags != host)) return done(error_invalid_value);
  return allocate_into(AllocationKind::managed, bytes, pointer, flags);
}

MEMSIM_CUDA Error cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pointer || !pitch) return done(error_invalid_value);
  size_t row = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  Error failed = allocate_into(AllocationKind::device, row * height, pointer);
  if (!failed) *pitch = row;
  return failed;
}

MEMSIM_CUDA Error cudaMalloc3D(PitchedPointer* pitched, CudaExtent extent) {
  if (!pitched) return done(error_invalid_value);
  size_t pitch = 0;
  Error failed = cudaMallocPitch(&pitched->ptr, &pitch, extent.width, extent.height * std::max<size_t>(extent.depth, 1));
  if (failed) return failed;
  pitched->pitch = pitch;
  pitched->xsize = extent.width;
  pitched->ysize = extent.height;
  return success;
}

MEMSIM_CUDA Error cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  if (flags & ~15u) return done(error_invalid_value);
  return done(register_host(address_of(pointer), bytes, flags & ~registered_io));
}

MEMSIM_CUDA Error cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  if (flags || !device) return done(error_invalid_value);
  Allocation found;
  bool pinned = find_allocation(address_of(host), &found) && found.kind == AllocationKind::pinned;
  if (!pinned) return done(error_invalid_value);
  *device = host;  // unified addressing
  return success;
}

MEMSIM_CUDA Error cudaHostGetFlags(unsigned* flags, void* host) {
  Allocation found;
  bool pinned = find_allocation(address_of(host), &found) && found.kind == AllocationKind::pinned;
  if (!pinned || !flags) return done(error_invalid_value);
  *flags = found.flags | host_mapped;
  return success;
}

MEMSIM_CUDA Error cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  constexpr int unregistered = 0, host = 1, device = 2, managed = 3;
  if (!attributes) return done(error_invalid_value);
  if (Status failed = ready()) return done(failed);
  memset(attributes, 0, sizeof *attributes);
  void* same = const_cast<void*>(pointer);
  Allocation found;
  if (!find_allocation(address_of(pointer), &found) || found.kind == AllocationKind::host) {
    *attributes = {unregistered, -2, nullptr, same};
  } else if (found.kind == AllocationKind::pinned) {
    *attributes = {host, 0, same, same};
  } else if (found.kind == AllocationKind::managed) {
    *attributes = {managed, 0, same, same};
  } else {
    *attributes = {device, 0, same, nullptr};
  }
  return success;
}
