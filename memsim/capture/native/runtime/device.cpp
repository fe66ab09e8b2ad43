// The device (CUDA Runtime API, "Device Management"): there is one, number 0.

#include "common.h"

namespace memsim::runtime {

namespace {

thread_local unsigned device_flags = 0;
constexpr unsigned known_device_flags = 0x1f;
int cache_config = 0, shared_config = 0;

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaGetDeviceCount(int* count) {
  if (!count) return done(error_invalid_value);
  *count = has_device() ? 1 : 0;
  return *count ? success : done(error_no_device);
}

MEMSIM_CUDA Error cudaSetDevice(int device) {
  if (Error failed = check_device(device)) return done(failed);
  return done(ready());
}

MEMSIM_CUDA Error cudaInitDevice(int device, unsigned, unsigned) { return done(check_device(device)); }

MEMSIM_CUDA Error cudaGetDevice(int* device) {
  if (!device) return done(error_invalid_value);
  if (!has_device()) return done(error_no_device);
  *device = 0;
  return success;
}

MEMSIM_CUDA Error cudaSetValidDevices(int* devices, int n) {
  if (n && !devices) return done(error_invalid_value);
  for (int i = 0; i < n; ++i)
    if (devices[i] != 0) return done(error_invalid_device);
  return done(check_device(0));
}

MEMSIM_CUDA Error cudaChooseDevice(int* device, const void* properties) {
  if (!device || !properties) return done(error_invalid_value);
  return cudaGetDevice(device);
}

MEMSIM_CUDA Error cudaDeviceReset() {
  if (!has_device()) return done(error_no_device);
  reset_device();
  return success;
}

MEMSIM_CUDA Error cudaDeviceGetCacheConfig(int* config) {
  if (config) *config = cache_config;
  return done(config ? ready() : Status(error_invalid_value));
}
MEMSIM_CUDA Error cudaDeviceSetCacheConfig(int config) {
  cache_config = config;
  return done(config < 0 || config > 3 ? Status(error_invalid_value) : ready());
}
MEMSIM_CUDA Error cudaDeviceGetSharedMemConfig(int* config) {
  if (config) *config = shared_config ? shared_config : 1;  // banks of 4 bytes
  return done(config ? ready() : Status(error_invalid_value));
}
MEMSIM_CUDA Error cudaDeviceSetSharedMemConfig(int config) {
  shared_config = config;
  return done(config < 0 || config > 2 ? Status(error_invalid_value) : ready());
}

MEMSIM_CUDA Error cudaSetDeviceFlags(unsigned flags) {
  if (flags & ~known_device_flags) return done(error_invalid_value);
  device_flags = flags;
  return success;
}
MEMSIM_CUDA Error cudaGetDeviceFlags(unsigned* flags) {
  constexpr unsigned map_host = 8;
  if (!flags) return done(error_invalid_value);
  *flags = device_flags | map_host;
  return done(ready());
}

// -- peers: there are none

MEMSIM_CUDA Error cudaDeviceEnablePeerAccess(int, unsigned) { return done(error_invalid_device); }
MEMSIM_CUDA Error cudaDeviceDisablePeerAccess(int) { return done(error_invalid_device); }

MEMSIM_CUDA Error cudaDeviceGetTexture1DLinearMaxWidth(size_t* width, const ChannelFormat* format, int device) {
  if (!width || !format) return done(error_invalid_value);
  int most = 0;
  device_attribute(69, &most);
  *width = size_t(most);
  return done(check_device(device));
}

// -- names that CUDA 12 still has

MEMSIM_CUDA Error cudaSetDoubleForDevice(double*) { return success; }
MEMSIM_CUDA Error cudaSetDoubleForHost(double*) { return success; }
