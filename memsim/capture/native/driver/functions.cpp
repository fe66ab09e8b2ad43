// Functions and kernels: attributes and parameters, and occupancy (CUDA Driver API, "Execution Control", "Occupancy").
#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

int set_attribute(Function* function, int attribute, int value) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return set_function_attribute(*function, attribute, value);
}
int active_blocks(int* blocks, Function* function, int block, size_t shared) {
  MEMSIM_REQUIRE(blocks, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return max_active_blocks(*function, block, shared, blocks);
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

CU cuFuncGetAttribute(int* value, int attribute, Function* function) {
  MEMSIM_REQUIRE(value, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return function_attribute(*function, attribute, value) ? status::success : status::invalid_value;
}
CU cuFuncSetAttribute(Function* f, int attribute, int value) { return set_attribute(f, attribute, value); }
CU cuFuncSetCacheConfig(Function* function, int config) {
  MEMSIM_REQUIRE(config >= 0 && config <= 3, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  function->cache_config = config;
  return status::success;
}
CU cuFuncSetSharedMemConfig(Function*, int config) {
  return config >= 0 && config <= 2 ? status::success : status::invalid_value;
}
CU cuFuncGetModule(Module** module, Function* function) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return give(module, function->module);
}
CU cuFuncGetName(const char** name, Function* function) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return give(name, function->name.c_str());
}
CU cuFuncGetParamInfo(Function* function, size_t index, size_t* offset, size_t* bytes) {
  MEMSIM_REQUIRE(offset, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  MEMSIM_REQUIRE(index < function->parameters.size(), invalid_value);
  *offset = function->parameters[index].offset;
  if (bytes) *bytes = function->parameters[index].bytes;
  return status::success;
}
CU cuFuncIsLoaded(int* state, Function* f) {
  MEMSIM_REQUIRE(is_function(f), invalid_handle);
  return give(state, 1);
}
CU cuFuncLoad(Function* f) { return is_function(f) ? status::success : status::invalid_handle; }

CU cuKernelGetFunction(Function** function, Function* kernel) {
  MEMSIM_REQUIRE(is_function(kernel), invalid_handle);
  return give(function, kernel);
}
CU cuKernelSetAttribute(int attribute, int value, Function* kernel, int) {
  return set_attribute(kernel, attribute, value);
}

CU cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* f, int block, size_t shared) {
  return active_blocks(blocks, f, block, shared);
}
CU cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Function* f, int block, size_t shared,
                                                         unsigned flags) {
  MEMSIM_REQUIRE(flags <= 1, invalid_value);
  return active_blocks(blocks, f, block, shared);
}
CU cuOccupancyMaxPotentialBlockSize(int* grid, int* block, Function* function, size_t (*shared_for)(int), size_t shared,
                                    int limit) {
  MEMSIM_REQUIRE(grid && block, invalid_value);
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  return max_potential_block_size(*function, shared_for, shared, limit, grid, block);
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
