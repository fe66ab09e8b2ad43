// Memory of the device and of the host (CUDA Driver API, "Memory Management").
#include <cstring>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

constexpr size_t pitch_alignment = 512;

int allocate_at(AllocationKind kind, size_t bytes, uint64_t* address, unsigned flags = 0) {
  MEMSIM_REQUIRE(address && bytes, invalid_value);
  return allocate(kind, bytes, address, flags);
}
int allocate_host(void** pointer, size_t bytes, unsigned flags) {
  uint64_t address = 0;
  MEMSIM_RETURN_IF(allocate_at(AllocationKind::pinned, bytes, &address, flags));
  return give(pointer, reinterpret_cast<void*>(address));
}
bool is_host(const Allocation& a) {
  return a.kind == AllocationKind::pinned || a.kind == AllocationKind::host || a.registered;
}

}  // namespace

CU cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  MEMSIM_RETURN_IF(ready());
  uint64_t available = 0, total = 0;
  memory_info(&available, &total);
  if (free_bytes) *free_bytes = available;
  if (total_bytes) *total_bytes = total;
  return status::success;
}
CU cuMemAlloc_v2(uint64_t* address, size_t bytes) { return allocate_at(AllocationKind::device, bytes, address); }
CU cuMemAllocPitch_v2(uint64_t* address, size_t* pitch, size_t width, size_t height, unsigned) {
  MEMSIM_REQUIRE(pitch && width && height, invalid_value);
  *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  return allocate_at(AllocationKind::device, *pitch * height, address);
}
CU cuMemAllocManaged(uint64_t* address, size_t bytes, unsigned flags) {
  return allocate_at(AllocationKind::managed, bytes, address, flags);
}
CU cuMemFree_v2(uint64_t address) {
  MEMSIM_RETURN_IF(synchronize_device());
  return release(address);
}
CU cuMemAllocHost_v2(void** pointer, size_t bytes) { return allocate_host(pointer, bytes, 0); }
CU cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) { return allocate_host(pointer, bytes, flags); }
CU cuMemFreeHost(void* pointer) { return release(address_of(pointer)); }
CU cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  MEMSIM_REQUIRE(pointer && bytes, invalid_value);
  return register_host(address_of(pointer), bytes, flags);
}
CU cuMemHostUnregister(void* pointer) { return unregister_host(address_of(pointer)); }
CU cuMemHostGetDevicePointer_v2(uint64_t* device, void* host, unsigned) {
  Allocation found;
  MEMSIM_REQUIRE(find_allocation(address_of(host), &found), invalid_value);
  return give(device, address_of(host));
}
CU cuMemHostGetFlags(unsigned* flags, void* host) {
  Allocation found;
  MEMSIM_REQUIRE(find_allocation(address_of(host), &found) && is_host(found), invalid_value);
  // Every pinned allocation is mapped (2), as unified addressing has it.
  return give(flags, found.flags | 2);
}
CU cuMemGetAddressRange_v2(uint64_t* base, size_t* bytes, uint64_t address) {
  Allocation found;
  MEMSIM_REQUIRE(find_allocation(address, &found), not_found);
  if (base) *base = found.address;
  if (bytes) *bytes = found.bytes;
  return status::success;
}

// -- memory of other processes: there are none ------------------------------------------------------------------------------------

// A handle holds the address and the process, so that a process can open what it exported itself.
struct IpcHandle {
  char bytes[64];
};
CU cuIpcGetMemHandle(IpcHandle* handle, uint64_t address) {
  MEMSIM_REQUIRE(handle, invalid_value);
  Allocation found;
  MEMSIM_REQUIRE(find_allocation(address, &found), invalid_value);
  memset(handle, 0, sizeof *handle);
  memcpy(handle->bytes, &found.address, sizeof found.address);
  return status::success;
}
CU cuIpcOpenMemHandle_v2(uint64_t* address, IpcHandle handle, unsigned) {
  MEMSIM_REQUIRE(address, invalid_value);
  Allocation found;
  memcpy(address, handle.bytes, sizeof *address);
  return find_allocation(*address, &found) ? status::success : status::invalid_value;
}
