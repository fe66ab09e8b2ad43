// Whether the program has read what copies brought it. A benchmark copies a result after each launch and looks at the last
// one only; a program that decides by a result reads it before its next launch.
//
// Linux marks every page that a process, or a call of the system for it, touches (/proc/self/clear_refs removes the marks,
// /proc/self/smaps counts those of each mapping; see proc(5)). A watched range gets a mapping of its own, because a mapping
// that is left out of core dumps is not merged with its neighbours (madvise(2), MADV_DONTDUMP).

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

constexpr uint64_t least_watched = 1 << 20;  // bytes of a copy; programs decide by smaller ones, and walking pages takes time

// Calls f(begin, end, referenced KiB) for each mapping; false if Linux does not count.
template <typename F>
bool for_each_mapping(F f) {
  FILE* maps = fopen("/proc/self/smaps", "re");
  if (!maps) return false;
  char line[512];
  unsigned long long begin = 0, end = 0, low, high, kib;
  bool counts = false, starts_line = true;
  while (fgets(line, sizeof line, maps)) {
    bool starts = starts_line;
    starts_line = strchr(line, '\n') != nullptr;  // the rest of a long path comes in the next part
    if (!starts) continue;
    if (sscanf(line, "Referenced: %llu", &kib) == 1) {
      counts = true;
      f(begin, end, kib);
    } else if (sscanf(line, "%llx-%llx ", &low, &high) == 2) {
      begin = low;
      end = high;
    }
  }
  fclose(maps);
  return counts;
}

bool remove_marks() {
  int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool done = write(file, "1", 1) == 1;
  close(file);
  return done;
}

bool is_read(const std::vector<WatchedPages>& watched) {
  bool found = false;
  bool counts = for_each_mapping([&](uint64_t begin, uint64_t end, uint64_t kib) {
    found = found || (kib && std::any_of(watched.begin(), watched.end(), [&](const WatchedPages& one) {
                        return one.begin < end && begin < one.end;
                      }));
  });
  return found || !counts;
}

}  // namespace

void look_for_host_reads() {
  State& s = state();
  if (s.is_undisturbed && !s.watched.empty() && is_read(s.watched)) s.is_undisturbed = false;
  if (!s.is_undisturbed) s.watched.clear();
}

bool can_be_watched(const Copy& copy) {
  return state().repeats_kernel && copy.height == 1 && copy.depth == 1 && copy.width_bytes >= least_watched &&
         activity_of(copy) == protocol::Activity::to_host;
}

void watch(const Copy& copy) {
  State& s = state();
  uint64_t first = copy.destination.first_byte();
  WatchedPages pages{first / page_bytes * page_bytes, (first + copy.width_bytes + page_bytes - 1) / page_bytes * page_bytes};
  bool separate = !madvise(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, MADV_DONTDUMP);
  if (!separate || !remove_marks()) {
    s.is_undisturbed = false;
    return;
  }
  auto same = [&](const WatchedPages& one) { return one.begin == pages.begin && one.end == pages.end; };
  if (std::none_of(s.watched.begin(), s.watched.end(), same)) s.watched.push_back(pages);
}

}  // namespace memsim
