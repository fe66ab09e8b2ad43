// Managed memory (CUDA Runtime API, "Memory Management"): advice and prefetches move nothing, for host and device share
// the memory; what was advised can be asked for.

#include "managed.h"

#include <cstring>
#include <map>
#include <mutex>

namespace memsim::runtime {

namespace {

enum Advice { set_read_mostly = 1, unset_read_mostly, set_preferred, unset_preferred, set_accessed_by, unset_accessed_by };
enum RangeAttribute {
  read_mostly = 1, preferred_location, accessed_by, last_prefetch, preferred_type, preferred_id, prefetch_type, prefetch_id
};
constexpr int invalid_device = -2, cpu_device = -1;
constexpr int location_device = 1, location_host = 2;

struct Advised {
  int read_mostly = 0, preferred = invalid_device, accessed_by = invalid_device, prefetched = invalid_device;
};
std::mutex advised_lock;
std::map<uint64_t, Advised>& advised() {  // by the allocation's address
  static auto* all = new std::map<uint64_t, Advised>;
  return *all;
}

bool find_managed(const void* pointer, size_t bytes, Allocation* found) {
  return find_allocation(address_of(pointer), found) &&
         address_of(pointer) + bytes <= found->address + found->bytes &&
         (found->kind == AllocationKind::managed || found->kind == AllocationKind::variable);
}

int location_type(int device) { return device >= 0 ? location_device : device == cpu_device ? location_host : 0; }

}  // namespace

int device_of(MemoryLocation location) { return location.type == location_device ? location.id : cpu_device; }

Error advise(const void* pointer, size_t bytes, int advice, int device) {
  Allocation found;
  if (Status failed = ready()) return failed;
  if (device > 0) return error_invalid_device;
  if (!bytes || !find_managed(pointer, bytes, &found)) return error_invalid_value;
  std::lock_guard<std::mutex> hold(advised_lock);
  Advised& one = advised()[found.address];
  switch (advice) {
    case set_read_mostly: one.read_mostly = 1; return success;
    case unset_read_mostly: one.read_mostly = 0; return success;
    case set_preferred: one.preferred = device; return success;
    case unset_preferred: one.preferred = invalid_device; return success;
    case set_accessed_by: one.accessed_by = device; return success;
    case unset_accessed_by: one.accessed_by = invalid_device; return success;
    default: return error_invalid_value;
  }
}

Error prefetch(const void* pointer, size_t bytes, int device, StreamHandle handle) {
  Allocation found;
  if (device > 0) return error_invalid_device;
  if (!bytes || !find_managed(pointer, bytes, &found)) return error_invalid_value;
  {
    std::lock_guard<std::mutex> hold(advised_lock);
    advised()[found.address].prefetched = device;
  }
  return submit(stream_of(handle), Nothing{});
}

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaMemRangeGetAttribute(void* data, size_t data_bytes, int attribute, const void* pointer,
                                           size_t bytes) {
  Allocation found;
  if (!data || data_bytes < sizeof(int) || !bytes || !find_managed(pointer, bytes, &found))
    return done(error_invalid_value);
  std::lock_guard<std::mutex> hold(advised_lock);
  const Advised& one = advised()[found.address];
  auto* out = static_cast<int*>(data);
  switch (attribute) {
    case read_mostly: *out = one.read_mostly; break;
    case preferred_location: *out = one.preferred; break;
    case accessed_by:
      for (size_t i = 0; i < data_bytes / sizeof(int); ++i) out[i] = i ? invalid_device : one.accessed_by;
      break;
    case last_prefetch: *out = one.prefetched; break;
    case preferred_type: *out = location_type(one.preferred); break;
    case preferred_id: *out = one.preferred; break;
    case prefetch_type: *out = location_type(one.prefetched); break;
    case prefetch_id: *out = one.prefetched; break;
    default: return done(error_invalid_value);
  }
  return success;
}

MEMSIM_CUDA Error cudaMemRangeGetAttributes(void** data, size_t* data_bytes, int* attributes, size_t n,
                                            const void* pointer, size_t bytes) {
  if (!data || !data_bytes || !attributes || !n) return done(error_invalid_value);
  for (size_t i = 0; i < n; ++i)
    if (Error failed = cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], pointer, bytes)) return failed;
  return success;
}
