// Launches: what CUDA would refuse is refused, the rest goes to the server.

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "state.h"

namespace memsim {

namespace {

constexpr Status invalid_configuration = 9;  // cudaErrorInvalidConfiguration; the driver API says invalid_value

// Errors after which a context is unusable (CUDA Runtime API, "CUDA Error types").
bool is_sticky(Status code) {
  switch (code) {
    case status::illegal_address:
    case status::launch_timeout:
    case status::assert_failed:
    case status::hardware_stack_error:
    case status::illegal_instruction:
    case status::misaligned_address:
    case status::invalid_address_space:
    case status::invalid_pc:
    case status::launch_failed:
    case status::unknown:
      return true;
    default:
      return false;
  }
}

bool dimensions_fit(const Launch& launch) {
  const Extent3 &grid = launch.grid, &block = launch.block;
  return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= 2147483647u && grid.y <= 65535 &&
         grid.z <= 65535 && block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
         block.volume() <= uint64_t(device_properties().max_threads_per_block);
}

bool cluster_fits(const Launch& launch, const Extent3& cluster) {
  const DeviceProperties& p = device_properties();
  if (!p.has_clusters) return cluster.volume() == 1;
  uint64_t most = launch.function->nonportable_cluster ? 16 : 8;
  return cluster.volume() <= most && launch.grid.x % cluster.x == 0 && launch.grid.y % cluster.y == 0 &&
         launch.grid.z % cluster.z == 0;
}

Status check_shared(const Launch& launch) {
  const Function& f = *launch.function;
  int dynamic_limit = std::max(f.max_dynamic_shared, device_properties().shared_per_block - f.static_shared);
  if (int64_t(launch.shared_bytes) > dynamic_limit) return status::invalid_value;
  if (int64_t(launch.shared_bytes) + f.static_shared > device_properties().shared_per_block_optin)
    return status::invalid_value;
  return status::success;
}

Status check_cooperative(const Launch& launch) {
  int blocks = 0;
  Status failed = max_active_blocks(*launch.function, int(launch.block.volume()), launch.shared_bytes, &blocks);
  if (failed) return failed;
  uint64_t resident = uint64_t(blocks) * uint64_t(device_properties().sms);
  return launch.grid.volume() <= resident ? status::success : status::cooperative_launch_too_large;
}

Extent3 effective_cluster(const Launch& launch) {
  if (launch.cluster.volume()) return launch.cluster;
  return launch.function->cluster.volume() ? launch.function->cluster : Extent3{};
}

void write_extent(Writer& out, const Extent3& extent) { out.u32(extent.x).u32(extent.y).u32(extent.z); }

Writer launch_request(const Stream& stream, const Launch& launch) {
  Writer out;
  out.u64(launch.function->module->id).u32(launch.function->index);
  write_extent(out, launch.grid);
  write_extent(out, launch.block);
  write_extent(out, effective_cluster(launch));
  uint32_t flags = launch.cooperative ? protocol::launch_cooperative : 0;
  if (state().is_undisturbed) flags |= protocol::launch_undisturbed;
  if (launches_are_observed()) flags |= protocol::launch_observed;
  size_t stack = 0;
  get_limit(limit_stack, &stack);
  out.u32(launch.shared_bytes).u32(flags).u32(uint32_t(std::min(stack, most_local_bytes))).u64(stream.id);
  out.text(launch.where).u32(uint32_t(launch.parameters.size()));
  out.raw(launch.parameters.data(), launch.parameters.size());
  return out;
}

Status end_launch(const Reply& reply, uint64_t* ns) {
  Reader fields(reply.payload);
  *ns = fields.u64();
  std::string printed = fields.text();
  if (!printed.empty()) fwrite(printed.data(), 1, printed.size(), stdout);
  if (!reply.status) return status::success;
  if (!is_sticky(reply.status)) return reply.status;
  state().fault = reply.status;  // asynchronous in CUDA: the launch itself succeeds, the next call reports it
  return status::success;
}

}  // namespace

Status check_launch(const Launch& launch) {
  if (!launch.function || !is_function(launch.function)) return status::invalid_handle;
  const Function& f = *launch.function;
  if (!dimensions_fit(launch)) return invalid_configuration;
  if (launch.block.volume() > uint64_t(f.max_threads)) return status::invalid_value;  // __launch_bounds__
  if (f.required_block.volume() && (f.required_block.x != launch.block.x || f.required_block.y != launch.block.y ||
                                    f.required_block.z != launch.block.z))
    return status::invalid_value;  // .reqntid
  if (uint64_t(f.registers) * launch.block.volume() > uint64_t(device_properties().registers_per_block))
    return status::launch_out_of_resources;
  if (Status failed = check_shared(launch)) return failed;
  if (!cluster_fits(launch, effective_cluster(launch))) return 912;  // cudaErrorInvalidClusterSize
  return launch.cooperative ? check_cooperative(launch) : status::success;
}

Status run_launch(Stream& stream, const Launch& launch, uint64_t* ns) {
  finish_launch();
  send_allocations();
  Reply reply = request(protocol::launch, launch_request(stream, launch));
  state().is_undisturbed = true;
  if (reply.status == protocol::repeated) {
    reply.status = status::success;
    return end_launch(reply, ns);
  }
  forget_fills();
  state().writes_sent = ++state().writes;
  if (reply.status == protocol::running) {
    state().is_running = true;
    return status::success;
  }
  return end_launch(reply, ns);
}

void finish_launch() {
  State& s = state();
  Lock hold(s.lock);
  if (!s.is_running) return;
  s.is_running = false;
  uint64_t ns = 0;
  Status failed = end_launch(request(protocol::finish, Writer()), &ns);
  if (failed) s.fault = failed;
  s.host_ns += ns;
}

}  // namespace memsim
