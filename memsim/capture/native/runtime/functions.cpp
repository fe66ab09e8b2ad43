// Kernels' attributes and occupancy (CUDA Runtime API, "Execution Control" and "Occupancy").

#include <cstring>

#include "common.h"

namespace memsim::runtime {

namespace {

// Numbers of cudaFuncAttribute that programs may set; the core uses those of CUfunction_attribute, which agree.
constexpr int max_dynamic_shared_attribute = 8, last_attribute = 15;

int attribute_of(const Function& function, int attribute) {
  int value = 0;
  function_attribute(function, attribute, &value);
  return value;
}

Error with_function(const void* symbol, Function** function) {
  if (Status failed = ready()) return failed;
  return resolve_function(symbol, function);
}

Launch shape_of(const LaunchConfig& config) {
  Launch launch;
  launch.grid = extent(config.grid);
  launch.block = extent(config.block);
  launch.shared_bytes = uint32_t(config.dynamic_shared);
  for (unsigned i = 0; i < config.n_attributes; ++i)
    if (config.attributes[i].id == attribute_cluster_dimension)
      launch.cluster = extent(config.attributes[i].value.cluster);
  return launch;
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

MEMSIM_CUDA Error cudaFuncSetAttribute(const void* symbol, int attribute, int value) {
  Function* f = nullptr;
  if (Error failed = with_function(symbol, &f)) return done(failed);
  if (attribute < max_dynamic_shared_attribute || attribute > last_attribute) return done(error_invalid_value);
  return done(set_function_attribute(*f, attribute, value));
}
MEMSIM_CUDA Error cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int device) {
  if (device != 0) return done(error_invalid_device);
  return cudaFuncSetAttribute(kernel, attribute, value);
}

MEMSIM_CUDA Error cudaFuncSetCacheConfig(const void* symbol, int config) {
  Function* f = nullptr;
  if (Error failed = with_function(symbol, &f)) return done(failed);
  if (config < 0 || config > 3) return done(error_invalid_value);
  f->cache_config = config;
  return success;
}
MEMSIM_CUDA Error cudaFuncSetSharedMemConfig(const void* symbol, int config) {
  Function* f = nullptr;
  if (Error failed = with_function(symbol, &f)) return done(failed);
  return config < 0 || config > 2 ? done(error_invalid_value) : success;
}

MEMSIM_CUDA Error cudaFuncGetName(const char** name, const void* symbol) {
  Function* f = nullptr;
  if (!name) return done(error_invalid_value);
  if (Error failed = with_function(symbol, &f)) return done(failed);
  *name = f->name.c_str();
  return success;
}
MEMSIM_CUDA Error cudaFuncGetParamInfo(const void* symbol, size_t index, size_t* offset, size_t* bytes) {
  Function* f = nullptr;
  if (Error failed = with_function(symbol, &f)) return done(failed);
  if (!offset || index >= f->parameters.size()) return done(error_invalid_value);
  *offset = f->parameters[index].offset;
  if (bytes) *bytes = f->parameters[index].bytes;
  return success;
}
MEMSIM_CUDA Error cudaFuncGetParamCount(const void* symbol, size_t* count) {
  Function* f = nullptr;
  if (Error failed = with_function(symbol, &f)) return done(failed);
  if (!count) return done(error_invalid_value);
  *count = f->parameters.size();
  return success;
}

// -- occupancy

MEMSIM_CUDA Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* symbol, int threads,
                                                                         size_t shared, unsigned flags) {
  Function* f = nullptr;
  if (!blocks || flags > 1) return done(error_invalid_value);
  if (Error failed = with_function(symbol, &f)) return done(failed);
  return done(max_active_blocks(*f, threads, shared, blocks));
}
MEMSIM_CUDA Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* symbol, int threads,
                                                                size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, symbol, threads, shared, 0);
}
MEMSIM_CUDA Error cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* symbol, int blocks, int threads) {
  Function* f = nullptr;
  if (!bytes) return done(error_invalid_value);
  if (Error failed = with_function(symbol, &f)) return done(failed);
  return done(available_dynamic_shared(*f, blocks, threads, bytes));
}
MEMSIM_CUDA Error cudaOccupancyMaxPotentialClusterSize(int* size, const void* symbol, const LaunchConfig* config) {
  Function* f = nullptr;
  if (!size || !config) return done(error_invalid_value);
  if (Error failed = with_function(symbol, &f)) return done(failed);
  return done(max_cluster_size(*f, shape_of(*config), size));
}
MEMSIM_CUDA Error cudaOccupancyMaxActiveClusters(int* clusters, const void* symbol, const LaunchConfig* config) {
  Function* f = nullptr;
  if (!clusters || !config) return done(error_invalid_value);
  if (Error failed = with_function(symbol, &f)) return done(failed);
  return done(max_active_clusters(*f, shape_of(*config), clusters));
}
