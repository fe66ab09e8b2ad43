// Virtual memory management (CUDA Driver API, "Virtual Memory Management"). Memory is its place in the arena: a handle
// that is mapped makes that part of the reserved range an allocation. Its data is copied when it is unmapped and mapped
// somewhere else; one handle mapped at two addresses at once would need aliases and is not supported.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

// CUmemAllocationProp.
struct AllocationProperties {
  int type, handle_types;
  Location location;
  void* handle_data;
  unsigned char flags[8];
};
constexpr size_t granularity = size_t(2) << 20;

struct Handle {
  size_t bytes;
  AllocationProperties properties;
  int references = 1;
  uint64_t address = 0;  // where it is mapped, or 0
  std::vector<char> data;  // while it is not mapped after it was
};
struct Mapping {
  Handle* handle;
  size_t bytes;
};
struct Maps {
  std::mutex lock;
  std::map<uint64_t, Handle*> handles;
  std::map<uint64_t, Mapping> mappings;  // by address
  uint64_t next = 1;
};
Maps& maps() {
  static auto* all = new Maps;
  return *all;
}
Handle* handle_of(uint64_t number) {
  auto found = maps().handles.find(number);
  return found == maps().handles.end() ? nullptr : found->second;
}
void forget_if_unused(Handle* handle) {
  if (handle->references > 0 || handle->address) return;
  auto& handles = maps().handles;
  for (auto one = handles.begin(); one != handles.end(); ++one)
    if (one->second == handle) {
      handles.erase(one);
      break;
    }
  delete handle;
}
using Hold = std::lock_guard<std::mutex>;

}  // namespace

CU cuMemGetAllocationGranularity(size_t* bytes, const AllocationProperties*, int) {
  MEMSIM_REQUIRE(bytes, invalid_value);
  *bytes = granularity;
  return ready();
}
CU cuMemAddressReserve(uint64_t* address, size_t bytes, size_t alignment, uint64_t, uint64_t) {
  MEMSIM_REQUIRE(address && bytes && bytes % granularity == 0, invalid_value);
  return reserve_range(bytes, std::max(alignment, granularity), address);
}
CU cuMemAddressFree(uint64_t address, size_t) { return free_range(address); }
CU cuMemCreate(uint64_t* handle, size_t bytes, const AllocationProperties* properties, uint64_t) {
  MEMSIM_REQUIRE(handle && properties && bytes && bytes % granularity == 0, invalid_value);
  MEMSIM_RETURN_IF(ready());
  Hold hold(maps().lock);
  *handle = maps().next++;
  maps().handles[*handle] = new Handle{bytes, *properties, 1, 0, {}};
  return status::success;
}
CU cuMemRelease(uint64_t number) {
  Hold hold(maps().lock);
  Handle* handle = handle_of(number);
  MEMSIM_REQUIRE(handle && handle->references > 0, invalid_value);
  --handle->references;
  forget_if_unused(handle);
  return status::success;
}
CU cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t number, uint64_t) {
  Hold hold(maps().lock);
  Handle* handle = handle_of(number);
  MEMSIM_REQUIRE(handle && !offset && bytes == handle->bytes, invalid_value);
  if (handle->address) return unsupported("cuMemMap of one handle at two addresses");
  MEMSIM_RETURN_IF(place_allocation(address, bytes, AllocationKind::device));
  if (!handle->data.empty()) {
    memcpy(reinterpret_cast<void*>(address), handle->data.data(), handle->data.size());
    handle->data.clear();
  }
  handle->address = address;
  maps().mappings[address] = {handle, bytes};
  return status::success;
}
CU cuMemUnmap(uint64_t address, size_t bytes) {
  Hold hold(maps().lock);
  auto& mappings = maps().mappings;
  auto one = mappings.lower_bound(address);
  MEMSIM_REQUIRE(one != mappings.end() && one->first == address, invalid_value);
  while (one != mappings.end() && one->first < address + bytes) {
    Handle* handle = one->second.handle;
    auto* first = reinterpret_cast<const char*>(one->first);
    if (handle->references > 0) handle->data.assign(first, first + one->second.bytes);
    handle->address = 0;
    MEMSIM_RETURN_IF(remove_placed(one->first));
    one = mappings.erase(one);
    forget_if_unused(handle);
  }
  return status::success;
}
CU cuMemSetAccess(uint64_t, size_t, const AccessDescription* access, size_t) {
  MEMSIM_REQUIRE(access, invalid_value);
  return ready();
}
CU cuMemGetAccess(uint64_t* flags, const Location*, uint64_t) {
  MEMSIM_REQUIRE(flags, invalid_value);
  *flags = 3;
  return ready();
}
CU cuMemRetainAllocationHandle(uint64_t* number, void* address) {
  MEMSIM_REQUIRE(number, invalid_value);
  Hold hold(maps().lock);
  auto& mappings = maps().mappings;
  auto next = mappings.upper_bound(address_of(address));
  MEMSIM_REQUIRE(next != mappings.begin(), invalid_value);
  const auto& [first, mapping] = *--next;
  MEMSIM_REQUIRE(address_of(address) < first + mapping.bytes, invalid_value);
  for (auto& [key, handle] : maps().handles)
    if (handle == mapping.handle) *number = key;
  ++mapping.handle->references;
  return status::success;
}
CU cuMemGetAllocationPropertiesFromHandle(AllocationProperties* properties, uint64_t number) {
  Hold hold(maps().lock);
  Handle* handle = handle_of(number);
  MEMSIM_REQUIRE(handle, invalid_value);
  return give(properties, handle->properties);
}
