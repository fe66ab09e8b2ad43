// Functions and kernels: attributes and parameters, and occupancy (CUDA Driver API, "Execution Control", "Occupancy").
#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

int get_attribute(int* value, int attribute, Function* function) {
  MEMSIM_REQUIRE(value, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return function_attribute(*function, attribute, value) ? status::success : status::invalid_value;
}
int set_attribute(Function* function, int attribute, int value) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return set_function_attribute(*function, attribute, value);
}
int parameter_info(Function* function, size_t index, size_t* offset, size_t* bytes) {
  MEMSIM_REQUIRE(offset, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  MEMSIM_REQUIRE(index < function->parameters.size(), invalid_value);
  *offset = function->parameters[index].offset;
  if (bytes) *bytes = function->parameters[index].bytes;
  return status::success;
}
int get_name(const char** name, Function* function) {
  MEMSIM_REQUIRE(name, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  *name = function->name.c_str();
  return status::success;
}
int get_module(Module** module, Function* function) {
  MEMSIM_REQUIRE(module, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  *module = function->module;
  return status::success;
}
int set_cache(Function* function, int config) {
  MEMSIM_REQUIRE(config >= 0 && config <= 3, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  function->cache_config = config;
  return status::success;
}
int active_blocks(int* blocks, Function* function, int block, size_t shared) {
  MEMSIM_REQUIRE(blocks, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return max_active_blocks(*function, block, shared, blocks);
}
int potential_block(int* grid, int* block, Function* function, size_t (*shared_for)(int), size_t shared, int limit) {
  MEMSIM_REQUIRE(grid && block, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return max_potential_block_size(*function, shared_for, shared, limit, grid, block);
}
// The launch of a configuration without arguments, as occupancy of clusters is asked for.
Launch launch_of(Function* function, const LaunchConfiguration& configuration) {
  Launch launch;
  launch.function = function;
  launch.grid = {configuration.grid[0], configuration.grid[1], configuration.grid[2]};
  launch.block = {configuration.block[0], configuration.block[1], configuration.block[2]};
  launch.cluster = function->cluster;
  launch.shared_bytes = configuration.shared_bytes;
  for (unsigned i = 0; i < configuration.attribute_count; ++i) apply_attribute(launch, configuration.attributes[i]);
  return launch;
}

}  // namespace

CU cuFuncGetAttribute(int* value, int attribute, Function* f) { return get_attribute(value, attribute, f); }
CU cuFuncSetAttribute(Function* f, int attribute, int value) { return set_attribute(f, attribute, value); }
CU cuFuncSetCacheConfig(Function* f, int config) { return set_cache(f, config); }
CU cuFuncSetSharedMemConfig(Function*, int config) {
  return config >= 0 && config <= 2 ? status::success : status::invalid_value;
}
CU cuFuncGetModule(Module** module, Function* f) { return get_module(module, f); }
CU cuFuncGetName(const char** name, Function* f) { return get_name(name, f); }
CU cuFuncGetParamInfo(Function* f, size_t index, size_t* offset, size_t* bytes) {
  return parameter_info(f, index, offset, bytes);
}
CU cuFuncIsLoaded(int* state, Function* f) {
  MEMSIM_REQUIRE(state, invalid_value);
  MEMSIM_REQUIRE(is_function(f), invalid_handle);
  *state = 1;
  return status::success;
}
CU cuFuncLoad(Function* f) { return is_function(f) ? status::success : status::invalid_handle; }

CU cuKernelGetFunction(Function** function, Function* kernel) {
  MEMSIM_REQUIRE(function, invalid_value);
  MEMSIM_REQUIRE(is_function(kernel), invalid_handle);
  *function = kernel;
  return status::success;
}
CU cuKernelGetLibrary(Module** library, Function* kernel) { return get_module(library, kernel); }
CU cuKernelGetAttribute(int* value, int attribute, Function* kernel, int) {
  return get_attribute(value, attribute, kernel);
}
CU cuKernelSetAttribute(int attribute, int value, Function* kernel, int) {
  return set_attribute(kernel, attribute, value);
}
CU cuKernelSetCacheConfig(Function* kernel, int config, int) { return set_cache(kernel, config); }
CU cuKernelGetName(const char** name, Function* kernel) { return get_name(name, kernel); }
CU cuKernelGetParamInfo(Function* kernel, size_t index, size_t* offset, size_t* bytes) {
  return parameter_info(kernel, index, offset, bytes);
}

CU cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* f, int block, size_t shared) {
  return active_blocks(blocks, f, block, shared);
}
CU cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Function* f, int block, size_t shared,
                                                         unsigned flags) {
  MEMSIM_REQUIRE(flags <= 1, invalid_value);
  return active_blocks(blocks, f, block, shared);
}
CU cuOccupancyMaxPotentialBlockSize(int* grid, int* block, Function* f, size_t (*shared_for)(int), size_t shared,
                                    int limit) {
  return potential_block(grid, block, f, shared_for, shared, limit);
}
CU cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, Function* f, size_t (*shared_for)(int),
                                             size_t shared, int limit, unsigned) {
  return potential_block(grid, block, f, shared_for, shared, limit);
}
CU cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, Function* f, int blocks, int block) {
  MEMSIM_REQUIRE(bytes, invalid_value);
  MEMSIM_REQUIRE(is_function(f), invalid_handle);
  return available_dynamic_shared(*f, blocks, block, bytes);
}
CU cuOccupancyMaxPotentialClusterSize(int* size, Function* f, const LaunchConfiguration* configuration) {
  MEMSIM_REQUIRE(size && configuration, invalid_value);
  MEMSIM_REQUIRE(is_function(f), invalid_handle);
  return max_cluster_size(*f, launch_of(f, *configuration), size);
}
CU cuOccupancyMaxActiveClusters(int* clusters, Function* f, const LaunchConfiguration* configuration) {
  MEMSIM_REQUIRE(clusters && configuration, invalid_value);
  MEMSIM_REQUIRE(is_function(f), invalid_handle);
  return max_active_clusters(*f, launch_of(f, *configuration), clusters);
}
