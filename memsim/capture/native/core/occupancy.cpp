// Occupancy: how many blocks of a kernel an SM holds.
//
// The rules are those of the CUDA C++ Best Practices Guide, "Calculating Occupancy": warps, blocks, registers (given to
// warps in units of 256 per warp, to four partitions) and shared memory (in units of 128 bytes plus what the system
// reserves per block).

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

constexpr int register_unit = 256, shared_unit = 128, partitions = 4;

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

int blocks_by_registers(const DeviceProperties& p, const Function& f, int warps) {
  if (!f.registers) return p.max_blocks_per_sm;
  int per_warp = round_up(f.registers * p.warp_size, register_unit);
  int warps_that_fit = p.registers_per_sm / partitions / per_warp * partitions;
  return warps_that_fit / warps;
}

int blocks_by_shared(const DeviceProperties& p, const Function& f, size_t dynamic_shared) {
  int64_t bytes = f.static_shared + int64_t(dynamic_shared) + p.reserved_shared_per_block;
  if (bytes <= 0) return p.max_blocks_per_sm;
  return int(p.shared_per_sm / ((bytes + shared_unit - 1) / shared_unit * shared_unit));
}

}  // namespace

Status max_active_blocks(const Function& f, int block_threads, size_t dynamic_shared, int* blocks) {
  const DeviceProperties& p = device_properties();
  assemble(const_cast<Function&>(f));
  if (block_threads <= 0) return status::invalid_value;
  *blocks = 0;
  if (block_threads > f.max_threads || block_threads > p.max_threads_per_block) return status::success;
  if (int64_t(dynamic_shared) + f.static_shared > p.shared_per_block_optin) return status::success;
  int warps = round_up(block_threads, p.warp_size) / p.warp_size;
  *blocks = std::min({p.max_blocks_per_sm, p.max_threads_per_sm / (warps * p.warp_size),
                      blocks_by_registers(p, f, warps), blocks_by_shared(p, f, dynamic_shared)});
  return status::success;
}

Status max_potential_block_size(const Function& f, size_t (*shared_for)(int), size_t dynamic_shared, int block_limit,
                                int* min_grid, int* block) {
  const DeviceProperties& p = device_properties();
  int most = std::min(f.max_threads, p.max_threads_per_block);
  if (block_limit > 0) most = std::min(most, block_limit);
  int best_threads = 0, best_blocks = 0, best_size = 0;
  for (int size = round_up(most, p.warp_size); size > 0; size -= p.warp_size) {
    int threads = std::min(size, most), blocks = 0;
    max_active_blocks(f, threads, shared_for ? shared_for(threads) : dynamic_shared, &blocks);
    if (blocks * threads <= best_threads) continue;
    best_threads = blocks * threads;
    best_blocks = blocks;
    best_size = threads;
    if (best_threads >= p.max_threads_per_sm) break;
  }
  *block = best_size;
  *min_grid = best_blocks * p.sms;
  return status::success;
}

Status available_dynamic_shared(const Function& f, int blocks, int block_threads, size_t* bytes) {
  const DeviceProperties& p = device_properties();
  if (blocks <= 0 || block_threads <= 0) return status::invalid_value;
  int fit = 0;
  max_active_blocks(f, block_threads, 0, &fit);
  if (fit < blocks) return status::invalid_value;
  int64_t per_block = p.shared_per_sm / blocks / shared_unit * shared_unit - p.reserved_shared_per_block;
  int64_t limit = f.max_dynamic_shared ? f.max_dynamic_shared + f.static_shared : p.shared_per_block;
  *bytes = size_t(std::max<int64_t>(std::min(per_block, limit) - f.static_shared, 0));
  return status::success;
}

Status max_cluster_size(const Function& f, const Launch&, int* size) {
  if (!device_properties().has_clusters) return status::not_supported;
  *size = f.nonportable_cluster ? 16 : 8;
  return status::success;
}

Status max_active_clusters(const Function& f, const Launch& launch, int* clusters) {
  const DeviceProperties& p = device_properties();
  if (!p.has_clusters) return status::not_supported;
  int blocks = 0;
  if (Status failed = max_active_blocks(f, int(launch.block.volume()), launch.shared_bytes, &blocks)) return failed;
  const Extent3& cluster = launch.cluster.volume() ? launch.cluster : f.cluster;
  uint64_t size = std::max<uint64_t>(cluster.volume(), 1);
  *clusters = int(uint64_t(blocks) * uint64_t(p.sms) / size);
  return status::success;
}

}  // namespace memsim
