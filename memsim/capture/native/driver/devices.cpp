// Initialization and devices: there is one, the chosen GPU (CUDA Driver API, "Initialization", "Device Management").
#include <algorithm>
#include <cstring>
#include <string>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

const char bus_id[] = "0000:01:00.0";

void copy_text(const std::string& text, char* to, int length) {
  if (length <= 0) return;
  size_t n = std::min(text.size(), size_t(length - 1));
  memcpy(to, text.data(), n);
  to[n] = 0;
}

// CUdevprop, the properties of CUDA's first version.
struct OldProperties {
  int max_threads, max_block[3], max_grid[3], shared_per_block, constant_bytes, warp_size, pitch, registers, clock_khz,
      texture_alignment;
};

}  // namespace

CU cuInit(unsigned flags) {
  MEMSIM_REQUIRE(!flags, invalid_value);
  return has_device() ? status::success : status::no_device;
}
CU cuDriverGetVersion(int* version) { return give(version, driver_version); }
CU cuDeviceGetCount(int* count) { return give(count, has_device() ? 1 : 0); }
CU cuDeviceGet(int* device, int ordinal) {
  MEMSIM_RETURN_IF(check_device(ordinal));
  return give(device, ordinal);
}
CU cuDeviceGetName(char* name, int length, int device) {
  MEMSIM_REQUIRE(name && length > 0, invalid_value);
  MEMSIM_RETURN_IF(check_device(device));
  copy_text(device_properties().name, name, length);
  return status::success;
}
CU cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  MEMSIM_REQUIRE(uuid, invalid_value);
  MEMSIM_RETURN_IF(check_device(device));
  device_uuid(uuid);
  return status::success;
}
CU cuDeviceTotalMem_v2(size_t* bytes, int device) {
  MEMSIM_RETURN_IF(check_device(device));
  return give(bytes, device_properties().memory_bytes);
}
CU cuDeviceGetAttribute(int* value, int attribute, int device) {
  MEMSIM_REQUIRE(value, invalid_value);
  MEMSIM_RETURN_IF(check_device(device));
  return device_attribute(attribute, value) ? status::success : status::invalid_value;
}
CU cuDeviceComputeCapability(int* major, int* minor, int device) {
  MEMSIM_RETURN_IF(check_device(device));
  *major = device_properties().compute_capability_major;
  *minor = device_properties().compute_capability_minor;
  return status::success;
}
CU cuDeviceGetProperties(OldProperties* p, int device) {
  MEMSIM_REQUIRE(p, invalid_value);
  MEMSIM_RETURN_IF(check_device(device));
  const DeviceProperties& d = device_properties();
  *p = {d.max_threads_per_block, {1024, 1024, 64}, {0x7fffffff, 65535, 65535}, d.shared_per_block, 65536, d.warp_size,
        0x7fffffff, d.registers_per_block, d.clock_khz, 512};
  return status::success;
}
CU cuDeviceGetPCIBusId(char* text, int length, int device) {
  MEMSIM_REQUIRE(text && length >= int(sizeof bus_id), invalid_value);
  MEMSIM_RETURN_IF(check_device(device));
  copy_text(bus_id, text, length);
  return status::success;
}
CU cuDeviceGetByPCIBusId(int* device, const char* text) {
  MEMSIM_REQUIRE(device && text, invalid_value);
  // The domain may be left out, or be written with eight digits.
  const char* bus = strstr(text, "01:00");
  MEMSIM_REQUIRE(bus, invalid_device);
  *device = first_device;
  return ready();
}
CU cuDeviceGetTexture1DLinearMaxWidth(size_t* width, int, unsigned, int device) {
  MEMSIM_RETURN_IF(check_device(device));
  return give(width, size_t(1) << 28);
}
CU cuDeviceGetExecAffinitySupport(int* supported, int, int device) {
  MEMSIM_RETURN_IF(check_device(device));
  *supported = 0;
  return status::success;
}
// A device that is its own peer: CUDA says no.
CU cuDeviceCanAccessPeer(int* can, int device, int peer) {
  MEMSIM_REQUIRE(can, invalid_value);
  *can = 0;
  MEMSIM_RETURN_IF(check_device(device));
  return check_device(peer);
}
CU cuDeviceGetP2PAttribute(int* value, int, int, int) {
  MEMSIM_REQUIRE(value, invalid_value);
  *value = 0;
  return status::invalid_device;
}

// Tables of undocumented functions: there are none.
CU cuGetExportTable(const void** table, const void*) {
  if (table) *table = nullptr;
  return status::not_found;
}
