// Managed memory (CUDA Driver API, "Unified Addressing"): advice and prefetches move nothing, for host and device share
// the memory; what was advised can be asked for.
#include <map>
#include <mutex>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

enum Advice { set_read_mostly = 1, unset_read_mostly, set_preferred, unset_preferred, set_accessed_by, unset_accessed_by };
enum RangeAttribute {
  read_mostly = 1, preferred_location, accessed_by, last_prefetch, preferred_type, preferred_id, prefetch_type, prefetch_id
};
constexpr int no_device = -2, cpu_device = -1;
constexpr int location_device = 1, location_host = 2;

struct Advised {
  int read_mostly = 0, preferred = no_device, accessed_by = no_device, prefetched = no_device;
};
std::mutex advised_lock;
std::map<uint64_t, Advised>& advised() {  // by the allocation's address
  static auto* all = new std::map<uint64_t, Advised>;
  return *all;
}

bool find_managed(uint64_t address, size_t bytes, Allocation* found) {
  return bytes && find_allocation(address, found) && address + bytes <= found->address + found->bytes &&
         (found->kind == AllocationKind::managed || found->kind == AllocationKind::variable);
}
int location_type(int device) { return device >= 0 ? location_device : device == cpu_device ? location_host : 0; }
int device_of(Location location) { return location.type == location_device ? location.id : cpu_device; }
int check_stream(void* stream) { return stream_of(stream) ? status::success : status::invalid_handle; }

}  // namespace

CU cuMemAdvise(uint64_t address, size_t bytes, int advice, int device) {
  Allocation found;
  MEMSIM_RETURN_IF(ready());
  MEMSIM_REQUIRE(device <= first_device, invalid_device);
  MEMSIM_REQUIRE(find_managed(address, bytes, &found), invalid_value);
  std::lock_guard<std::mutex> hold(advised_lock);
  Advised& one = advised()[found.address];
  switch (advice) {
    case set_read_mostly: one.read_mostly = 1; return status::success;
    case unset_read_mostly: one.read_mostly = 0; return status::success;
    case set_preferred: one.preferred = device; return status::success;
    case unset_preferred: one.preferred = no_device; return status::success;
    case set_accessed_by: one.accessed_by = device; return status::success;
    case unset_accessed_by: one.accessed_by = no_device; return status::success;
    default: return status::invalid_value;
  }
}
CU cuMemAdvise_v2(uint64_t address, size_t bytes, int advice, Location location) {
  return cuMemAdvise(address, bytes, advice, device_of(location));
}
CU cuMemPrefetchAsync(uint64_t address, size_t bytes, int device, void* stream) {
  Allocation found;
  MEMSIM_REQUIRE(device <= first_device, invalid_device);
  MEMSIM_REQUIRE(find_managed(address, bytes, &found), invalid_value);
  MEMSIM_RETURN_IF(check_stream(stream));
  {
    std::lock_guard<std::mutex> hold(advised_lock);
    advised()[found.address].prefetched = device;
  }
  return submit(stream_of(stream), Nothing{});
}
CU cuMemPrefetchAsync_v2(uint64_t address, size_t bytes, Location location, unsigned, void* stream) {
  return cuMemPrefetchAsync(address, bytes, device_of(location), stream);
}
CU cuMemPrefetchBatchAsync(uint64_t*, size_t*, size_t, Location*, size_t*, size_t, uint64_t, void* stream) {
  return check_stream(stream);
}
CU cuMemDiscardBatchAsync(uint64_t*, size_t*, size_t, uint64_t, void* stream) { return check_stream(stream); }
CU cuMemDiscardAndPrefetchBatchAsync(uint64_t*, size_t*, size_t, Location*, size_t*, size_t, uint64_t, void* stream) {
  return check_stream(stream);
}
// Managed memory is visible to host and device alike.
CU cuStreamAttachMemAsync(void* stream, uint64_t address, size_t, unsigned flags) {
  MEMSIM_RETURN_IF(check_stream(stream));
  Allocation found;
  bool known = find_allocation(address, &found) && found.kind == AllocationKind::managed;
  return known && (flags == 1 || flags == 2 || flags == 4) ? ready() : Status(status::invalid_value);
}
CU cuMemRangeGetAttribute(void* data, size_t data_bytes, int attribute, uint64_t address, size_t bytes) {
  Allocation found;
  MEMSIM_REQUIRE(data && data_bytes >= sizeof(int) && find_managed(address, bytes, &found), invalid_value);
  std::lock_guard<std::mutex> hold(advised_lock);
  const Advised& one = advised()[found.address];
  auto* out = static_cast<int*>(data);
  switch (attribute) {
    case read_mostly: *out = one.read_mostly; break;
    case preferred_location: case preferred_id: *out = one.preferred; break;
    case accessed_by:
      for (size_t i = 0; i < data_bytes / sizeof(int); ++i) out[i] = i ? no_device : one.accessed_by;
      break;
    case last_prefetch: case prefetch_id: *out = one.prefetched; break;
    case preferred_type: *out = location_type(one.preferred); break;
    case prefetch_type: *out = location_type(one.prefetched); break;
    default: return status::invalid_value;
  }
  return status::success;
}
CU cuMemRangeGetAttributes(void** data, size_t* sizes, int* attributes, size_t n, uint64_t address, size_t bytes) {
  MEMSIM_REQUIRE(data && sizes && attributes && n, invalid_value);
  for (size_t i = 0; i < n; ++i)
    MEMSIM_RETURN_IF(cuMemRangeGetAttribute(data[i], sizes[i], attributes[i], address, bytes));
  return status::success;
}
