// Allocations in the arena, and the reports about them to the server.

#include <sys/mman.h>

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

// Nothing lies in the gap behind an allocation, so that an access one past its end is never another allocation's.
constexpr uint64_t gap = 256;
// Freed memory keeps its pages for later allocations, up to so many bytes: to get new pages takes the system longer than
// most operators need for their results. Beyond that, allocations of give_back_bytes and more lose them at once.
constexpr uint64_t most_kept_bytes = 1 << 30, give_back_bytes = 1 << 20;

bool counts_as_device(AllocationKind kind) {
  return kind == AllocationKind::device || kind == AllocationKind::managed || kind == AllocationKind::array ||
         kind == AllocationKind::variable;
}

void drop_pages(uint64_t address, uint64_t bytes) {
  uint64_t first = (address + page_bytes - 1) / page_bytes * page_bytes, last = (address + bytes) / page_bytes * page_bytes;
  if (bytes < give_back_bytes || first >= last) return;
  ++state().writes;  // the memory is zero again
  madvise(reinterpret_cast<void*>(first), last - first, MADV_REMOVE);
}

void record(State& s, Allocation allocation) {
  allocation.sequence = arena().sequence++;
  if (counts_as_device(allocation.kind)) s.device_bytes += allocation.bytes;
  if (allocation.kind != AllocationKind::device) ++s.writes;  // the host may write it, unseen
  s.added.insert(allocation.address);
  s.allocations[allocation.address] = std::move(allocation);
}

void forget(State& s, std::map<uint64_t, Allocation>::iterator found) {
  uint64_t address = found->first;
  if (counts_as_device(found->second.kind)) s.device_bytes -= found->second.bytes;
  if (!s.added.erase(address)) s.removed[address] = found->second;
  s.allocations.erase(found);
}

}  // namespace

Arena& arena() {
  State& s = state();
  Lock hold(s.lock);
  if (s.arena) return *s.arena;
  if (memsim_host_memory_arena) s.arena = memsim_host_memory_arena();
  if (!s.arena) {
    s.arena = new Arena;
    create_arena(*s.arena);
  }
  if (s.arena->base) s.ranges.add(s.arena->base + (uint64_t(1) << 20), s.arena->middle());
  return *s.arena;
}

Status allocate(AllocationKind kind, uint64_t bytes, uint64_t* address, uint32_t flags, uint64_t alignment,
                std::string name) {
  *address = 0;
  if (Status failed = ready()) return failed;
  if (bytes == 0) return status::success;
  State& s = state();
  Lock hold(s.lock);
  if (counts_as_device(kind) && bytes > s.properties.memory_bytes - std::min(s.device_bytes, s.properties.memory_bytes))
    return status::out_of_memory;
  arena();
  uint64_t taken = s.ranges.take(((bytes + 511) / 512) * 512 + gap, std::max<uint64_t>(alignment, 512));
  if (!taken) return status::out_of_memory;
  Allocation allocation;
  allocation.address = taken;
  allocation.bytes = bytes;
  allocation.kind = kind;
  allocation.flags = flags;
  allocation.name = std::move(name);
  record(s, std::move(allocation));
  *address = taken;
  return status::success;
}

Status release(uint64_t address) {
  State& s = state();
  Lock hold(s.lock);
  if (!address) return status::success;
  auto found = s.allocations.find(address);
  if (found == s.allocations.end() || found->second.registered) return status::invalid_value;
  uint64_t bytes = found->second.bytes;
  forget(s, found);
  forget_fills();
  if (!s.graph_memory.count(address)) s.ranges.give_back(address);
  if (s.ranges.holes() > most_kept_bytes) drop_pages(address, bytes);
  return status::success;
}

void keep_for_graph(uint64_t address) {
  State& s = state();
  Lock hold(s.lock);
  auto found = s.allocations.find(address);
  if (found != s.allocations.end()) s.graph_memory[address] = found->second;
}

void renew_for_graph(uint64_t address) {
  State& s = state();
  Lock hold(s.lock);
  auto kept = s.graph_memory.find(address);
  if (kept != s.graph_memory.end() && !s.allocations.count(address)) record(s, kept->second);
}

bool find_allocation(uint64_t address, Allocation* found) {
  State& s = state();
  Lock hold(s.lock);
  auto after = s.allocations.upper_bound(address);
  if (after != s.allocations.begin()) {
    const Allocation& one = std::prev(after)->second;
    if (address < one.address + one.bytes) {
      *found = one;
      return true;
    }
  }
  HostChange block;
  if (!memsim_host_memory_find || !memsim_host_memory_find(address, &block)) return false;
  *found = Allocation{};
  found->address = block.address;
  found->bytes = block.bytes;
  found->sequence = block.sequence;
  found->kind = AllocationKind::host;
  return true;
}

void set_allocation_pool(uint64_t address, uint64_t pool) {
  State& s = state();
  Lock hold(s.lock);
  auto found = s.allocations.find(address);
  if (found != s.allocations.end()) found->second.pool = pool;
}

void memory_info(uint64_t* free_bytes, uint64_t* total_bytes) {
  State& s = state();
  Lock hold(s.lock);
  *total_bytes = device_properties().memory_bytes;
  *free_bytes = *total_bytes - std::min(s.device_bytes, *total_bytes);
}

Status check_memory(uint64_t address, uint64_t bytes, bool host_too) {
  Allocation found;
  if (find_allocation(address, &found))
    return address + bytes <= found.address + found.bytes ? status::success : status::invalid_value;
  return host_too && address && !arena().holds(address) ? status::success : status::invalid_value;
}

// -- virtual memory management

Status reserve_range(uint64_t bytes, uint64_t alignment, uint64_t* address) {
  if (Status failed = ready()) return failed;
  State& s = state();
  Lock hold(s.lock);
  arena();
  *address = s.ranges.take(bytes, std::max<uint64_t>(alignment, 2 << 20));
  return *address ? status::success : status::out_of_memory;
}

Status free_range(uint64_t address) {
  State& s = state();
  Lock hold(s.lock);
  uint64_t bytes = s.ranges.give_back(address);
  if (!bytes) return status::invalid_value;
  drop_pages(address, bytes);
  return status::success;
}

Status place_allocation(uint64_t address, uint64_t bytes, AllocationKind kind) {
  State& s = state();
  Lock hold(s.lock);
  if (!arena().holds(address)) return status::invalid_value;
  Allocation allocation;
  allocation.address = address;
  allocation.bytes = bytes;
  allocation.kind = kind;
  record(s, std::move(allocation));
  return status::success;
}

Status remove_placed(uint64_t address) {
  State& s = state();
  Lock hold(s.lock);
  auto found = s.allocations.find(address);
  if (found == s.allocations.end()) return status::invalid_value;
  forget(s, found);
  return status::success;
}

// -- the server's view

namespace {

void write_allocation(Writer& out, const Allocation& one, uint64_t offset) {
  out.u64(one.address).u64(one.bytes).u64(one.sequence).u64(offset).u32(uint32_t(one.kind)).text(one.name);
}

// Blocks of the preloaded malloc that came (bytes > 0) and went (bytes 0) since the last launch.
struct HostChanges {
  std::map<uint64_t, HostChange> added;
  std::set<uint64_t> removed;
};

HostChanges list_all_host_blocks(State& s) {
  HostChanges changes;
  std::vector<HostChange> blocks(1024);
  size_t n;
  while ((n = memsim_host_memory_blocks(&s.host_position, blocks.data(), blocks.size())) > blocks.size())
    blocks.resize(n + 1024);  // more than there was room for
  changes.removed = s.sent_host_blocks;
  for (size_t i = 0; i < n; ++i) changes.added[blocks[i].address] = blocks[i];
  return changes;
}

HostChanges host_changes(State& s) {
  HostChanges changes;
  if (!memsim_host_memory_changes || !memsim_host_memory_arena()) return changes;
  if (!s.host_listed) {
    s.host_listed = true;
    return list_all_host_blocks(s);
  }
  std::vector<HostChange> batch(4096);
  while (size_t n = memsim_host_memory_changes(&s.host_position, batch.data(), batch.size())) {
    if (n == SIZE_MAX) return list_all_host_blocks(s);
    for (size_t i = 0; i < n; ++i) {
      const HostChange& one = batch[i];
      changes.added.erase(one.address);
      if (one.bytes) changes.added[one.address] = one;
      if (s.sent_host_blocks.count(one.address)) changes.removed.insert(one.address);
    }
  }
  return changes;
}

}  // namespace

// Memory that was freed and allocated again, with nothing written in between, is as before: a loop that allocates its
// result in each iteration launches the same kernel on the same memory.
static void forget_renewed(State& s) {
  if (s.writes != s.writes_sent) return;
  for (auto one = s.removed.begin(); one != s.removed.end();) {
    auto again = s.allocations.find(one->first);
    bool same = s.added.count(one->first) && again->second.bytes == one->second.bytes &&
                again->second.kind == one->second.kind && again->second.name == one->second.name;
    if (same) s.added.erase(one->first);
    one = same ? s.removed.erase(one) : std::next(one);
  }
}

void send_allocations() {
  State& s = state();
  Lock hold(s.lock);
  forget_renewed(s);
  s.writes_sent = s.writes;
  HostChanges host = host_changes(s);
  if (s.removed.empty() && s.added.empty() && host.added.empty() && host.removed.empty()) return;
  Writer out;
  out.u32(uint32_t(s.removed.size() + host.removed.size()));
  for (const auto& [address, one] : s.removed) out.u64(address);
  for (uint64_t address : host.removed) {
    out.u64(address);
    s.sent_host_blocks.erase(address);
  }
  out.u32(uint32_t(s.added.size() + host.added.size()));
  uint64_t base = arena().base;
  for (uint64_t address : s.added) {
    auto moved = s.offsets.find(address);
    write_allocation(out, s.allocations.at(address), (moved == s.offsets.end() ? address : moved->second) - base);
  }
  for (const auto& [address, one] : host.added) {
    Allocation block;
    block.address = address;
    block.bytes = one.bytes;
    block.sequence = one.sequence;
    block.kind = AllocationKind::host;
    write_allocation(out, block, address - base);
    s.sent_host_blocks.insert(address);
  }
  s.removed.clear();
  s.added.clear();
  send_only(protocol::allocations, out);
}

}  // namespace memsim
