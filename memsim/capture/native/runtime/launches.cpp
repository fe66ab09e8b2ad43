// Kernel launches (CUDA Runtime API, "Execution Control").

#include <dlfcn.h>

#include <cstdio>

#include "common.h"

namespace memsim::runtime {

namespace {

struct CallConfiguration {
  Dim3 grid, block;
  size_t shared;
  StreamHandle stream;
  const void* return_address;
};
// `f<<<...>>>(g<<<...>>>)` cannot nest launches, but arguments may launch: a stack.
thread_local std::vector<CallConfiguration> configurations;
thread_local const void* configured_at = nullptr;  // where the launch that is under way was written

Error submit_launch(Launch launch, StreamHandle stream) {
  return done(submit(stream_of(stream), std::move(launch)));
}

void apply(const LaunchAttribute& attribute, Launch* launch) {
  switch (attribute.id) {
    case attribute_cooperative: launch->cooperative = attribute.value.number != 0; break;
    case attribute_cluster_dimension: launch->cluster = extent(attribute.value.cluster); break;
    case attribute_priority: launch->priority = attribute.value.number; break;
    default: break;  // programmatic launch, policies: they change when a kernel starts, not what it computes
  }
}

// Events that a launch records (programmatic and completion events) are recorded behind it.
void record_events(const LaunchConfig& config) {
  for (unsigned i = 0; i < config.n_attributes; ++i) {
    const LaunchAttribute& one = config.attributes[i];
    if (one.id == attribute_programmatic_event || one.id == attribute_completion_event)
      record_event(one.value.event.event, stream_of(config.stream));
  }
}

}  // namespace

// "file+0xoffset" of the code that launched, for addr2line.
std::string call_site(const void* return_address) {
  Dl_info info;
  if (!return_address || !dladdr(return_address, &info) || !info.dli_fname) return {};
  char offset[32];
  uint64_t inside = address_of(return_address) - address_of(info.dli_fbase);
  snprintf(offset, sizeof offset, "+0x%lx", static_cast<unsigned long>(inside));
  return info.dli_fname + std::string(offset);
}

Error make_launch(const void* symbol, Dim3 grid, Dim3 block, void* const* arguments, size_t shared, Launch* launch) {
  Function* function = nullptr;
  if (Error failed = resolve_function(symbol, &function)) return failed;
  if (shared > UINT32_MAX) return error_invalid_value;
  launch->function = function;
  launch->grid = extent(grid);
  launch->block = extent(block);
  launch->shared_bytes = uint32_t(shared);
  launch->parameters = pack_parameters(*function, arguments);
  return success;
}

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, StreamHandle stream) {
  configurations.push_back({grid, block, shared, stream, __builtin_return_address(0)});
  return 0;
}

MEMSIM_CUDA Error __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared, void* stream) {
  if (configurations.empty()) return done(error_missing_configuration);
  const CallConfiguration& top = configurations.back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<StreamHandle*>(stream) = top.stream;
  configured_at = top.return_address;
  configurations.pop_back();
  return success;
}

MEMSIM_CUDA Error cudaLaunchKernel(const void* symbol, Dim3 grid, Dim3 block, void** arguments, size_t shared,
                                   StreamHandle stream) {
  Launch launch;
  const void* where = configured_at ? configured_at : __builtin_return_address(0);
  configured_at = nullptr;
  if (Error failed = make_launch(symbol, grid, block, arguments, shared, &launch)) return done(failed);
  launch.where = call_site(where);
  return submit_launch(std::move(launch), stream);
}

MEMSIM_CUDA Error __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments, size_t shared,
                                     StreamHandle stream) {
  if (!configured_at) configured_at = __builtin_return_address(0);
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

MEMSIM_CUDA Error cudaLaunchCooperativeKernel(const void* symbol, Dim3 grid, Dim3 block, void** arguments,
                                              size_t shared, StreamHandle stream) {
  Launch launch;
  if (Error failed = make_launch(symbol, grid, block, arguments, shared, &launch)) return done(failed);
  launch.where = call_site(__builtin_return_address(0));
  launch.cooperative = true;
  return submit_launch(std::move(launch), stream);
}

MEMSIM_CUDA Error cudaLaunchKernelExC(const LaunchConfig* config, const void* symbol, void** arguments) {
  if (!config) return done(error_invalid_configuration);
  Launch launch;
  if (Error failed = make_launch(symbol, config->grid, config->block, arguments, config->dynamic_shared, &launch))
    return done(failed);
  launch.where = call_site(__builtin_return_address(0));
  for (unsigned i = 0; i < config->n_attributes; ++i) apply(config->attributes[i], &launch);
  Error failed = submit_launch(std::move(launch), config->stream);
  if (!failed) record_events(*config);
  return failed;
}

