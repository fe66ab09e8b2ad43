// Memory pools (stream-ordered allocation): statistics over the arena's allocations.

#include <algorithm>

#include "state.h"

namespace memsim {

Pool* default_pool() {
  State& s = state();
  Lock hold(s.lock);
  if (!s.default_pool) {
    s.default_pool = new Pool;
    s.pools.insert(s.default_pool);
  }
  return s.default_pool;
}

Pool* current_pool() {
  Lock hold(state().lock);
  return state().current_pool ? state().current_pool : default_pool();
}

void set_current_pool(Pool* pool) {
  Lock hold(state().lock);
  state().current_pool = pool;
}

Pool* create_pool() {
  Lock hold(state().lock);
  auto* pool = new Pool;
  state().pools.insert(pool);
  return pool;
}

bool is_pool(const Pool* pool) {
  Lock hold(state().lock);
  return state().pools.count(const_cast<Pool*>(pool)) != 0;
}

Status destroy_pool(Pool* pool) {
  State& s = state();
  Lock hold(s.lock);
  if (pool == s.default_pool || !s.pools.erase(pool)) return status::invalid_value;
  if (s.current_pool == pool) s.current_pool = nullptr;
  delete pool;
  return status::success;
}

// In a captured stream the allocation gets its address now and a node that stands for it.
Status allocate_from_pool(Pool* pool, uint64_t bytes, Stream* stream, uint64_t* address) {
  if (!is_pool(pool)) return status::invalid_value;
  if (!stream) return status::invalid_handle;
  Lock hold(state().lock);
  if (Status failed = allocate(AllocationKind::device, bytes, address)) return failed;
  if (!*address) return status::success;
  set_allocation_pool(*address, reinterpret_cast<uint64_t>(pool));
  pool->used += bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
  pool->reserved_high = std::max(pool->reserved_high, pool->used);
  return submit(stream, AllocateMemory{*address, bytes, reinterpret_cast<uint64_t>(pool)});
}

// A free that is captured keeps the memory: the graph may be launched again.
Status free_in_stream(uint64_t address, Stream* stream) {
  State& s = state();
  if (!stream) return status::invalid_handle;
  Lock hold(s.lock);
  if (!address) return status::success;
  auto found = s.allocations.find(address);
  if (found == s.allocations.end() || found->second.registered) return status::invalid_value;
  if (stream->capture) return submit(stream, FreeMemory{address});
  auto* pool = reinterpret_cast<Pool*>(found->second.pool);
  if (s.pools.count(pool)) pool->used -= std::min(pool->used, found->second.bytes);
  if (Status failed = ready()) return failed;
  return release(address);
}

}  // namespace memsim
