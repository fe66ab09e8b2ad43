// Attributes of addresses (CUDA Driver API, "Unified Addressing").
#include <cstring>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

enum PointerAttribute {
  context = 1, memory_type = 2, device_pointer = 3, host_pointer = 4, p2p_tokens = 5, sync_memops = 6, buffer_id = 7,
  is_managed = 8, device_ordinal = 9, is_ipc_capable = 10, range_start = 11, range_size = 12, mapped = 13,
  allowed_handle_types = 14, is_rdma_capable = 15, access_flags = 16, pool_handle = 17, mapping_size = 18,
  mapping_base = 19, memory_block_id = 20, is_decompress_capable = 21
};
constexpr unsigned type_host = 1, type_device = 2;

bool is_on_host(const Allocation& a) {
  return a.kind == AllocationKind::pinned || a.kind == AllocationKind::host || a.registered;
}
template <class T>
int store(void* data, T value) {
  memcpy(data, &value, sizeof value);
  return status::success;
}
// An ordinary malloc's block of a Python program lies in device memory too, but CUDA does not know it.
bool find(uint64_t address, Allocation* found) {
  return find_allocation(address, found) && (found->kind != AllocationKind::host || found->registered);
}

int get(void* data, int attribute, uint64_t address, const Allocation& a) {
  switch (attribute) {
    case context: return store(data, current_context() ? current_context() : primary_context());
    case memory_type: return store(data, is_on_host(a) ? type_host : type_device);
    case device_pointer: return store(data, address);
    case host_pointer:
      if (!is_on_host(a) && a.kind != AllocationKind::managed) return status::invalid_value;
      return store(data, address);
    case sync_memops: return store(data, 0u);
    case buffer_id: return store(data, a.sequence + 1);
    case is_managed: return store(data, unsigned(a.kind == AllocationKind::managed));
    case device_ordinal: return store(data, first_device);
    case is_ipc_capable: return store(data, unsigned(a.kind == AllocationKind::device && !a.pool));
    case range_start: case mapping_base: return store(data, a.address);
    case range_size: case mapping_size: return store(data, size_t(a.bytes));
    case mapped: return store(data, 1u);
    case allowed_handle_types: return store(data, uint64_t(0));
    case is_rdma_capable: case is_decompress_capable: return store(data, 0u);
    case access_flags: return store(data, 3u);
    case pool_handle: return store(data, a.pool);
    case memory_block_id: return store(data, a.sequence + 1);
    default: return status::invalid_value;
  }
}

}  // namespace

CU cuPointerGetAttribute(void* data, int attribute, uint64_t address) {
  MEMSIM_REQUIRE(data, invalid_value);
  Allocation found;
  MEMSIM_REQUIRE(find(address, &found), invalid_value);
  return get(data, attribute, address, found);
}
// Zero for every attribute of an address that CUDA does not know.
CU cuPointerGetAttributes(unsigned n, int* attributes, void** data, uint64_t address) {
  MEMSIM_REQUIRE(attributes && data, invalid_value);
  Allocation found;
  bool known = find(address, &found);
  for (unsigned i = 0; i < n; ++i) {
    bool wide = attributes[i] == context || attributes[i] == device_pointer || attributes[i] == host_pointer ||
                attributes[i] == range_start || attributes[i] == range_size || attributes[i] == buffer_id ||
                attributes[i] == pool_handle || attributes[i] == allowed_handle_types;
    if (known && get(data[i], attributes[i], address, found) == status::success) continue;
    if (wide) store(data[i], uint64_t(0));
    else store(data[i], attributes[i] == device_ordinal ? -2 : 0);
  }
  return status::success;
}
CU cuPointerSetAttribute(const void*, int attribute, uint64_t address) {
  Allocation found;
  MEMSIM_REQUIRE(attribute == sync_memops && find(address, &found), invalid_value);
  return status::success;
}
