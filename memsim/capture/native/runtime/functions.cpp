// Kernels' attributes (CUDA Runtime API, "Execution Control"); names/same.txt lists the functions that are the driver's.

#include <cstring>

#include "common.h"

namespace memsim::runtime {

namespace {

// cudaFuncAttributeMaxDynamicSharedMemorySize; the numbers of CUfunction_attribute agree.
constexpr int max_dynamic_shared_attribute = 8;

int attribute_of(const Function& function, int attribute) {
  int value = 0;
  function_attribute(function, attribute, &value);
  return value;
}

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* symbol) {
  Function* f = nullptr;
  if (!attributes) return done(error_invalid_value);
  if (Error failed = with_function(symbol, &f)) return done(failed);
  memset(attributes, 0, sizeof *attributes);
  attributes->shared_bytes = size_t(f->static_shared);
  attributes->const_bytes = size_t(f->const_bytes);
  attributes->local_bytes = size_t(f->local_bytes);
  attributes->max_threads = f->max_threads;
  attributes->registers = f->registers;
  attributes->ptx_version = f->ptx_version;
  attributes->binary_version = f->binary_version;
  attributes->max_dynamic_shared = attribute_of(*f, max_dynamic_shared_attribute);
  attributes->preferred_carveout = f->preferred_carveout;
  attributes->cluster_must_be_set = attribute_of(*f, 10);
  attributes->cluster_width = int(f->cluster.x);
  attributes->cluster_height = int(f->cluster.y);
  attributes->cluster_depth = int(f->cluster.z);
  attributes->cluster_policy = attribute_of(*f, 15);
  attributes->nonportable_cluster = f->nonportable_cluster;
  return success;
}

MEMSIM_CUDA Error cudaFuncSetAttribute(const void* symbol, int attribute, int value);
MEMSIM_CUDA Error cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int device) {
  if (device != 0) return done(error_invalid_device);
  return cudaFuncSetAttribute(kernel, attribute, value);
}

MEMSIM_CUDA Error cudaFuncGetParamCount(const void* symbol, size_t* count) {
  Function* f = nullptr;
  if (Error failed = with_function(symbol, &f)) return done(failed);
  if (!count) return done(error_invalid_value);
  *count = f->parameters.size();
  return success;
}
