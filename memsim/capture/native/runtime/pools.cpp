// Stream-ordered allocation (CUDA Runtime API, "Stream Ordered Memory Allocator").

#include <cstring>

#include "common.h"

namespace memsim::runtime {

namespace {

enum PoolAttribute { follow = 1, opportunistic, internal, threshold, reserved, reserved_high, used, used_high };

Error allocate_async(void** pointer, size_t bytes, Pool* pool, StreamHandle handle) {
  if (!pointer) return done(error_invalid_value);
  if (Status failed = ready()) return done(failed);
  uint64_t address = 0;
  Error failed = allocate_from_pool(pool, bytes, stream_of(handle), &address);
  if (!failed) *pointer = pointer_to(address);
  return done(failed);
}

// Where an attribute's 64-bit value is kept; nullptr: it is an int or none.
uint64_t* wide_attribute(Pool* pool, int attribute) {
  switch (attribute) {
    case threshold: return &pool->release_threshold;
    case reserved:
    case used: return &pool->used;
    case reserved_high: return &pool->reserved_high;
    case used_high: return &pool->used_high;
    default: return nullptr;
  }
}
int* narrow_attribute(Pool* pool, int attribute) {
  switch (attribute) {
    case follow: return &pool->reuse_follow;
    case opportunistic: return &pool->reuse_opportunistic;
    case internal: return &pool->reuse_internal;
    default: return nullptr;
  }
}

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaMallocAsync(void** pointer, size_t bytes, StreamHandle stream) {
  return allocate_async(pointer, bytes, current_pool(), stream);
}
MEMSIM_CUDA Error cudaMallocFromPoolAsync(void** pointer, size_t bytes, Pool* pool, StreamHandle stream) {
  return allocate_async(pointer, bytes, pool, stream);
}
MEMSIM_CUDA Error cudaFreeAsync(void* pointer, StreamHandle stream) {
  if (!pointer) return done(error_invalid_value);
  return done(free_in_stream(address_of(pointer), stream_of(stream)));
}

MEMSIM_CUDA Error cudaDeviceGetDefaultMemPool(Pool** pool, int device) {
  if (!pool) return done(error_invalid_value);
  *pool = default_pool();
  return done(check_device(device));
}
MEMSIM_CUDA Error cudaDeviceGetMemPool(Pool** pool, int device) {
  if (!pool) return done(error_invalid_value);
  *pool = current_pool();
  return done(check_device(device));
}
MEMSIM_CUDA Error cudaDeviceSetMemPool(int device, Pool* pool) {
  if (Error failed = check_device(device)) return done(failed);
  if (!is_pool(pool)) return done(error_invalid_value);
  set_current_pool(pool);
  return success;
}
MEMSIM_CUDA Error cudaMemGetDefaultMemPool(Pool** pool, const MemoryLocation*, int) {
  return cudaDeviceGetDefaultMemPool(pool, 0);
}
MEMSIM_CUDA Error cudaMemGetMemPool(Pool** pool, const MemoryLocation*, int) { return cudaDeviceGetMemPool(pool, 0); }
MEMSIM_CUDA Error cudaMemSetMemPool(const MemoryLocation*, int, Pool* pool) { return cudaDeviceSetMemPool(0, pool); }

MEMSIM_CUDA Error cudaMemPoolCreate(Pool** pool, const PoolProperties* properties) {
  if (!pool || !properties) return done(error_invalid_value);
  if (properties->handle_types) return done(unsupported("cudaMemPoolCreate with shareable handles"));
  *pool = create_pool();
  return done(ready());
}
MEMSIM_CUDA Error cudaMemPoolDestroy(Pool* pool) { return done(destroy_pool(pool)); }
MEMSIM_CUDA Error cudaMemPoolTrimTo(Pool* pool, size_t) { return is_pool(pool) ? success : done(error_invalid_value); }

MEMSIM_CUDA Error cudaMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  if (!is_pool(pool) || !value) return done(error_invalid_value);
  if (int* narrow = narrow_attribute(pool, attribute)) {
    memcpy(narrow, value, sizeof *narrow);
    return success;
  }
  uint64_t given;
  memcpy(&given, value, sizeof given);
  bool high = attribute == reserved_high || attribute == used_high;
  if (attribute != threshold && !(high && given == 0)) return done(error_invalid_value);
  *wide_attribute(pool, attribute) = high ? pool->used : given;
  return success;
}
MEMSIM_CUDA Error cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  if (!is_pool(pool) || !value) return done(error_invalid_value);
  if (const int* narrow = narrow_attribute(pool, attribute)) {
    memcpy(value, narrow, sizeof *narrow);
  } else if (const uint64_t* wide = wide_attribute(pool, attribute)) {
    memcpy(value, wide, sizeof *wide);
  } else {
    return done(error_invalid_value);
  }
  return success;
}

MEMSIM_CUDA Error cudaMemPoolSetAccess(Pool* pool, const MemoryAccess* access, size_t n) {
  return is_pool(pool) && (access || !n) ? success : done(error_invalid_value);
}
MEMSIM_CUDA Error cudaMemPoolGetAccess(int* flags, Pool* pool, const MemoryLocation*) {
  constexpr int read_and_write = 3;
  if (!flags || !is_pool(pool)) return done(error_invalid_value);
  *flags = read_and_write;
  return success;
}
