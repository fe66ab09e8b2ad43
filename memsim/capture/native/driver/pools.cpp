// Stream-ordered allocation and memory pools (CUDA Driver API, "Stream Ordered Memory Allocator").
#include <cstring>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

enum PoolAttribute {
  reuse_follow = 1, reuse_opportunistic = 2, reuse_internal = 3, release_threshold = 4, reserved_current = 5,
  reserved_high = 6, used_current = 7, used_high = 8
};

int* flag_of(Pool* pool, int attribute) {
  switch (attribute) {
    case reuse_follow: return &pool->reuse_follow;
    case reuse_opportunistic: return &pool->reuse_opportunistic;
    case reuse_internal: return &pool->reuse_internal;
    default: return nullptr;
  }
}
int pool_out(Pool** out, Pool* pool) {
  MEMSIM_RETURN_IF(ready());
  return give(out, pool);
}

}  // namespace

CU cuMemAllocFromPoolAsync(uint64_t* address, size_t bytes, Pool* pool, void* stream) {
  MEMSIM_REQUIRE(address && bytes, invalid_value);
  return allocate_from_pool(pool, bytes, stream_of(stream), address);
}
CU cuMemAllocAsync(uint64_t* address, size_t bytes, void* stream) {
  return cuMemAllocFromPoolAsync(address, bytes, current_pool(), stream);
}
CU cuMemFreeAsync(uint64_t address, void* stream) { return free_in_stream(address, stream_of(stream)); }

CU cuMemPoolCreate(Pool** pool, const void*) {
  MEMSIM_REQUIRE(pool, invalid_value);
  MEMSIM_RETURN_IF(ready());
  *pool = create_pool();
  return status::success;
}
CU cuMemPoolDestroy(Pool* pool) { return destroy_pool(pool); }
CU cuMemPoolTrimTo(Pool* pool, size_t) { return is_pool(pool) ? status::success : status::invalid_value; }
CU cuMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  MEMSIM_REQUIRE(is_pool(pool) && value, invalid_value);
  if (int* flag = flag_of(pool, attribute)) memcpy(flag, value, sizeof *flag);
  else if (attribute == release_threshold) memcpy(&pool->release_threshold, value, 8);
  else {
    uint64_t given;
    memcpy(&given, value, sizeof given);
    MEMSIM_REQUIRE((attribute == reserved_high || attribute == used_high) && !given, invalid_value);
    (attribute == used_high ? pool->used_high : pool->reserved_high) = pool->used;
  }
  return status::success;
}
CU cuMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  MEMSIM_REQUIRE(is_pool(pool) && value, invalid_value);
  if (int* flag = flag_of(pool, attribute)) {
    memcpy(value, flag, sizeof *flag);
    return status::success;
  }
  MEMSIM_REQUIRE(attribute >= release_threshold && attribute <= used_high, invalid_value);
  const uint64_t values[] = {pool->release_threshold, pool->used, pool->reserved_high, pool->used, pool->used_high};
  memcpy(value, &values[attribute - release_threshold], 8);
  return status::success;
}
CU cuMemPoolSetAccess(Pool* pool, const AccessDescription* access, size_t n) {
  return is_pool(pool) && (access || !n) ? status::success : status::invalid_value;
}
CU cuMemPoolGetAccess(int* flags, Pool* pool, Location* location) {
  MEMSIM_REQUIRE(location && is_pool(pool), invalid_value);
  return give(flags, location->type == 1 && location->id == first_device ? 3 : 0);
}
CU cuDeviceGetDefaultMemPool(Pool** pool, int device) {
  MEMSIM_REQUIRE(device == first_device, invalid_device);
  return pool_out(pool, default_pool());
}
CU cuDeviceGetMemPool(Pool** pool, int device) {
  MEMSIM_REQUIRE(device == first_device, invalid_device);
  return pool_out(pool, current_pool());
}
CU cuDeviceSetMemPool(int device, Pool* pool) {
  MEMSIM_REQUIRE(device == first_device, invalid_device);
  MEMSIM_REQUIRE(is_pool(pool), invalid_value);
  set_current_pool(pool);
  return status::success;
}
CU cuMemGetDefaultMemPool(Pool** pool, Location*, int) { return pool_out(pool, default_pool()); }
CU cuMemGetMemPool(Pool** pool, Location*, int) { return pool_out(pool, current_pool()); }
CU cuMemSetMemPool(Location*, int, Pool* pool) { return cuDeviceSetMemPool(first_device, pool); }

CU cuDeviceGraphMemTrim(int device) { return check_device(device); }
CU cuDeviceGetGraphMemAttribute(int device, int, void* value) {
  MEMSIM_REQUIRE(value, invalid_value);
  memset(value, 0, 8);
  return check_device(device);
}
