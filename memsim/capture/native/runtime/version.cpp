// What differs between libcudart.so.12 and .13: compiled twice, with MEMSIM_CUDART 12 and 13.

#include <algorithm>
#include <cstring>

#include "graph_nodes.h"
#include "same.h"

#ifndef MEMSIM_CUDART
#error "MEMSIM_CUDART is 12 or 13"
#endif

namespace memsim::runtime {

namespace {
#include "device_properties.inc"
}

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaRuntimeGetVersion(int* version) {
  if (!version) return done(error_invalid_value);
  *version = MEMSIM_CUDART == 12 ? 12080 : 13000;
  return success;
}
MEMSIM_CUDA Error cudaDriverGetVersion(int* version) {
  if (!version) return done(error_invalid_value);
  *version = driver_version;
  return success;
}

#if MEMSIM_CUDART == 12
MEMSIM_CUDA Error cudaGetDeviceProperties_v2(DeviceProp* properties, int device) {
#else
MEMSIM_CUDA Error cudaGetDeviceProperties(DeviceProp* properties, int device) {
#endif
  if (!properties) return done(error_invalid_value);
  if (!has_device()) return done(error_no_device);
  if (device != 0) return done(error_invalid_device);
  *properties = fill_properties();
  return success;
}

#if MEMSIM_CUDART == 12
// The structure of CUDA 11, which ends before hostRegisterSupported.
MEMSIM_CUDA Error cudaGetDeviceProperties(void* properties, int device) {
  DeviceProp all;
  Error failed = cudaGetDeviceProperties_v2(&all, device);
  if (!failed) memcpy(properties, &all, offsetof(DeviceProp, hostRegisterSupported));
  return failed;
}
#endif

#include "version_graphs.inc"
#include "version_memory.inc"
