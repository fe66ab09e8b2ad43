// cudaHostRegister: the pages of the program's own memory are moved into the arena, under their old addresses.

#include <sys/mman.h>

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {


void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

// Registrations that share pages must lie at one distance from the arena's memory: the range becomes the union.
void include_shared_pages(State& s, uint64_t& begin, uint64_t& end, std::vector<uint64_t>& joined) {
  for (const auto& [first, pages] : s.registered_pages)
    if (pages.begin < end && begin < pages.end) {
      begin = std::min(begin, pages.begin);
      end = std::max(end, pages.end);
      joined.push_back(first);
    }
}

// Tells where the allocations within [begin, end) lie now.
void move_offsets(State& s, uint64_t begin, uint64_t end, uint64_t arena_address) {
  for (auto it = s.allocations.lower_bound(begin); it != s.allocations.end() && it->first < end; ++it) {
    if (!it->second.registered) continue;
    s.offsets[it->first] = arena_address + (it->first - begin);
    if (s.added.insert(it->first).second) s.removed[it->first] = {};
  }
}

Status move_pages(State& s, uint64_t begin, uint64_t end) {
  std::vector<uint64_t> joined;
  include_shared_pages(s, begin, end, joined);
  if (joined.size() == 1) {
    const RegisteredPages& pages = s.registered_pages[joined[0]];
    if (pages.begin == begin && pages.end == end) {
      move_offsets(s, begin, end, pages.arena_address);
      return status::success;
    }
  }
  // Pages of the device's memory that kernels may reach behind an allocation hold none of the host's.
  uint64_t moved = s.ranges.take(end - begin, device_page_bytes);
  if (!moved) return status::out_of_memory;
  memcpy(pointer(moved), pointer(begin), end - begin);
  Arena& memory = arena();
  if (mmap(pointer(begin), end - begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
           memory.descriptor, off_t(moved - memory.base)) == MAP_FAILED) {
    s.ranges.give_back(moved);
    return status::invalid_value;
  }
  for (uint64_t first : joined) {
    s.ranges.give_back(s.registered_pages[first].arena_address);
    s.registered_pages.erase(first);
  }
  s.registered_pages[begin] = {begin, end, moved};
  move_offsets(s, begin, end, moved);
  return status::success;
}

// Gives a range private pages again, with what they hold.
void make_private(uint64_t begin, uint64_t end) {
  void* copy = mmap(nullptr, end - begin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return;
  memcpy(copy, pointer(begin), end - begin);
  mremap(copy, end - begin, end - begin, MREMAP_MAYMOVE | MREMAP_FIXED, pointer(begin));
}

bool overlaps_registered(State& s, uint64_t address, uint64_t bytes) {
  auto after = s.allocations.lower_bound(address + bytes);
  if (after == s.allocations.begin()) return false;
  const Allocation& before = std::prev(after)->second;
  return before.registered && before.address + before.bytes > address;
}

}  // namespace

Status register_host(uint64_t address, uint64_t bytes, uint32_t flags) {
  if (Status failed = ready()) return failed;
  if (!address || !bytes) return status::invalid_value;
  State& s = state();
  Lock hold(s.lock);
  if (overlaps_registered(s, address, bytes)) return status::host_memory_already_registered;
  bool in_arena = arena().holds(address);
  if (in_arena && s.allocations.count(address)) return status::invalid_value;  // not the program's own memory
  Allocation allocation;
  allocation.address = address;
  allocation.bytes = bytes;
  allocation.kind = AllocationKind::pinned;
  allocation.flags = flags;
  allocation.registered = true;
  allocation.sequence = arena().sequence++;
  s.allocations[address] = allocation;
  s.offsets[address] = address;
  s.added.insert(address);
  if (in_arena) return status::success;  // a preloaded malloc's block
  uint64_t first = address / page_bytes * page_bytes;
  uint64_t last = (address + bytes + page_bytes - 1) / page_bytes * page_bytes;
  if (Status failed = move_pages(s, first, last)) {
    s.allocations.erase(address);
    s.added.erase(address);
    s.offsets.erase(address);
    return failed;
  }
  return status::success;
}

Status unregister_host(uint64_t address) {
  if (Status failed = ready()) return failed;
  State& s = state();
  Lock hold(s.lock);
  auto found = s.allocations.find(address);
  if (found == s.allocations.end() || !found->second.registered) return status::host_memory_not_registered;
  if (!s.added.erase(address)) s.removed[address] = {};
  s.allocations.erase(found);
  s.offsets.erase(address);
  auto after = s.registered_pages.upper_bound(address);
  if (after == s.registered_pages.begin()) return status::success;
  const RegisteredPages pages = std::prev(after)->second;
  if (address >= pages.end) return status::success;
  auto other = s.allocations.lower_bound(pages.begin);
  if (other != s.allocations.end() && other->first < pages.end) return status::success;  // still in use
  make_private(pages.begin, pages.end);
  s.ranges.give_back(pages.arena_address);
  s.registered_pages.erase(pages.begin);
  return status::success;
}

// In the child of a fork: its memory must not be the parent's.
void forget_host_registrations() {
  State& s = state();
  for (const auto& [first, pages] : s.registered_pages) make_private(pages.begin, pages.end);
  s.registered_pages.clear();
}

}  // namespace memsim
