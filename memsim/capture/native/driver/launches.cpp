// Kernel launches (CUDA Driver API, "Execution Control").
#include <cstring>
#include <map>
#include <mutex>

#include "driver.h"

namespace {

// Keys in `extra`: the arguments as one buffer.
const void* const end_of_extra = nullptr;
void* const buffer_key = reinterpret_cast<void*>(1);
void* const buffer_size_key = reinterpret_cast<void*>(2);

enum LaunchAttributeId { cooperative = 2, cluster_dimension = 4, priority = 8 };

}  // namespace

namespace memsim::driver {

Status make_launch(Function* function, const unsigned grid[3], const unsigned block[3], unsigned shared_bytes,
                   void** arguments, void** extra, Launch* launch) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  launch->function = function;
  launch->grid = {grid[0], grid[1], grid[2]};
  launch->block = {block[0], block[1], block[2]};
  launch->shared_bytes = shared_bytes;
  if (arguments || !extra) {
    MEMSIM_REQUIRE(arguments || function->parameters.empty(), invalid_value);
    launch->parameters = pack_parameters(*function, arguments);
    return status::success;
  }
  const uint8_t* buffer = nullptr;
  size_t bytes = 0;
  for (void** entry = extra; *entry != end_of_extra; entry += 2) {
    if (*entry == buffer_key) buffer = static_cast<uint8_t*>(entry[1]);
    else if (*entry == buffer_size_key) bytes = *static_cast<size_t*>(entry[1]);
    else return status::invalid_value;
  }
  MEMSIM_REQUIRE(buffer || function->parameters.empty(), invalid_value);
  launch->parameters.assign(buffer, buffer + bytes);
  // A buffer may end with the last argument; the parameter space may be padded.
  if (launch->parameters.size() < function->parameter_bytes()) launch->parameters.resize(function->parameter_bytes());
  return status::success;
}

void apply_attribute(Launch& launch, const LaunchAttribute& attribute) {
  switch (attribute.id) {
    case cooperative: launch.cooperative = attribute.value.number != 0; break;
    case cluster_dimension:
      launch.cluster = {attribute.value.dimensions[0], attribute.value.dimensions[1], attribute.value.dimensions[2]};
      break;
    case priority: launch.priority = attribute.value.number; break;
    default: break;  // hints, which change when a launch may begin
  }
}

}  // namespace memsim::driver

using namespace memsim;
using namespace memsim::driver;

CU cuLaunchKernelEx(const LaunchConfiguration* configuration, Function* function, void** arguments, void** extra) {
  MEMSIM_REQUIRE(configuration, invalid_value);
  Stream* stream = stream_of(configuration->stream);
  MEMSIM_REQUIRE(stream, invalid_handle);
  Launch launch;
  MEMSIM_RETURN_IF(make_launch(function, configuration->grid, configuration->block, configuration->shared_bytes,
                               arguments, extra, &launch));
  for (unsigned i = 0; i < configuration->attribute_count; ++i) apply_attribute(launch, configuration->attributes[i]);
  return driver_status(submit(stream, std::move(launch)));
}
CU cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                  unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** arguments,
                  void** extra) {
  LaunchConfiguration configuration{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, nullptr, 0};
  return cuLaunchKernelEx(&configuration, function, arguments, extra);
}
CU cuLaunchCooperativeKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** arguments) {
  LaunchAttribute attribute{};
  attribute.id = cooperative;
  attribute.value.number = 1;
  LaunchConfiguration configuration{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, &attribute, 1};
  return cuLaunchKernelEx(&configuration, function, arguments, nullptr);
}
CU cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  MEMSIM_REQUIRE(function, invalid_value);
  Stream* found = stream_of(stream);
  MEMSIM_REQUIRE(found, invalid_handle);
  HostCall call;
  call.function = function;
  call.data = data;
  return submit(found, std::move(call));
}

// -- launches of CUDA's first version: the arguments and the block are set one by one ----------------------------------------

namespace {

struct PendingLaunch {
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  std::vector<uint8_t> parameters;
};
std::mutex pending_lock;
PendingLaunch& pending(Function* function) {
  static auto* launches = new std::map<Function*, PendingLaunch>;
  return (*launches)[function];
}
int set_parameter(Function* function, int offset, const void* value, unsigned bytes) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  MEMSIM_REQUIRE(offset >= 0 && value, invalid_value);
  std::lock_guard<std::mutex> hold(pending_lock);
  auto& parameters = pending(function).parameters;
  if (parameters.size() < size_t(offset) + bytes) parameters.resize(size_t(offset) + bytes);
  memcpy(parameters.data() + offset, value, bytes);
  return status::success;
}
int launch_pending(Function* function, unsigned width, unsigned height, void* stream) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  std::unique_lock<std::mutex> hold(pending_lock);
  PendingLaunch launch = pending(function);
  hold.unlock();
  size_t bytes = launch.parameters.size();
  void* extra[] = {buffer_key, launch.parameters.data(), buffer_size_key, &bytes, nullptr};
  return cuLaunchKernel(function, width, height, 1, launch.block[0], launch.block[1], launch.block[2],
                        launch.shared_bytes, stream, nullptr, extra);
}

}  // namespace

CU cuFuncSetBlockShape(Function* function, int x, int y, int z) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  std::lock_guard<std::mutex> hold(pending_lock);
  unsigned* block = pending(function).block;
  block[0] = unsigned(x), block[1] = unsigned(y), block[2] = unsigned(z);
  return status::success;
}
CU cuFuncSetSharedSize(Function* function, unsigned bytes) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  std::lock_guard<std::mutex> hold(pending_lock);
  pending(function).shared_bytes = bytes;
  return status::success;
}
CU cuParamSetSize(Function* function, unsigned bytes) {
  MEMSIM_REQUIRE(is_function(function), invalid_handle);
  std::lock_guard<std::mutex> hold(pending_lock);
  pending(function).parameters.resize(bytes);
  return status::success;
}
CU cuParamSeti(Function* function, int offset, unsigned value) { return set_parameter(function, offset, &value, 4); }
CU cuParamSetf(Function* function, int offset, float value) { return set_parameter(function, offset, &value, 4); }
CU cuParamSetv(Function* function, int offset, void* value, unsigned bytes) {
  return set_parameter(function, offset, value, bytes);
}
CU cuLaunch(Function* function) { return launch_pending(function, 1, 1, nullptr); }
CU cuLaunchGrid(Function* function, int width, int height) {
  return launch_pending(function, unsigned(width), unsigned(height), nullptr);
}
CU cuLaunchGridAsync(Function* function, int width, int height, void* stream) {
  return launch_pending(function, unsigned(width), unsigned(height), stream);
}
