// Whether the program has read what copies brought to the host. Launches that repeat each other stay a row across a
// copy whose result nobody reads: benchmarks often copy a result back after each repetition and check the last one.
//
// Linux marks referenced pages (/proc/self/clear_refs, "Referenced" in /proc/self/smaps), whoever reads them: the
// program's own instructions or a system call. Clearing the marks leaves the TLB as it is, and a read through a TLB
// entry sets no mark; a change of the pages' protection and back removes these entries.

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "state.h"

namespace memsim {

namespace {

constexpr uint64_t least_bytes = 1 << 20;  // a program may decide by less, and reads it at once
constexpr size_t most_results = 64;
constexpr ptrdiff_t most_reads = 3;  // of a result, after which it is not watched any longer: that costs time

bool overlap(const PageRange& a, const PageRange& b) { return a.begin < b.end && b.begin < a.end; }

PageRange pages_of(uint64_t address, uint64_t bytes) {
  return {address / page_bytes * page_bytes, (address + bytes + page_bytes - 1) / page_bytes * page_bytes};
}

// Removes the marks of pages that can be read and written and lie in a mapping of their own, which the advice makes.
bool clear_marks(const PageRange& pages) {
  void* begin = reinterpret_cast<void*>(pages.begin);
  size_t bytes = pages.end - pages.begin;
  if (madvise(begin, bytes, MADV_DONTDUMP)) return false;
  int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  bool cleared = file >= 0 && write(file, "1", 1) == 1;
  if (file >= 0) close(file);
  // Another thread may write there meanwhile, so that right stays; the other change is not used.
  return cleared && !mprotect(begin, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) &&
         !mprotect(begin, bytes, PROT_READ | PROT_WRITE);
}

// The ranges with a mark; all of them if marks cannot be read.
std::vector<PageRange> marked(const std::vector<PageRange>& ranges) {
  FILE* maps = fopen("/proc/self/smaps", "re");
  if (!maps) return ranges;
  std::vector<PageRange> found;
  char line[512];
  unsigned long begin = 0, end = 0, kilobytes = 0;
  while (fgets(line, sizeof line, maps)) {
    unsigned long first, last;
    if (sscanf(line, "%lx-%lx ", &first, &last) == 2) {
      begin = first, end = last;
    } else if (sscanf(line, "Referenced: %lu", &kilobytes) == 1 && kilobytes) {
      for (const PageRange& one : ranges)
        if (overlap(one, {begin, end})) found.push_back(one);
    }
  }
  fclose(maps);
  return found;
}

// Whether this system marks a read, and only a read.
bool marks_work() {
  constexpr size_t pages = 16;
  void* memory = mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  memset(memory, 1, pages * page_bytes);
  std::vector<PageRange> range{pages_of(reinterpret_cast<uint64_t>(memory), pages * page_bytes)};
  bool works = clear_marks(range[0]) && marked(range).empty();
  (void)static_cast<volatile uint8_t*>(memory)[5 * page_bytes];
  works = works && !marked(range).empty();
  munmap(memory, pages * page_bytes);
  return works;
}

}  // namespace

bool watch_result(const Copy& copy) {
  State& s = state();
  if (copy.height != 1 || copy.depth != 1 || copy.width_bytes < least_bytes) return false;
  if (activity_of(copy) != protocol::Activity::to_host || s.unread.size() == most_results) return false;
  PageRange pages = pages_of(copy.destination.first_byte(), copy.width_bytes);
  auto covers = [&](const PageRange& one) { return overlap(one, pages); };
  if (std::count_if(s.were_read.begin(), s.were_read.end(), covers) >= most_reads) return false;
  static const bool works = marks_work();
  if (!works || !clear_marks(pages)) return false;
  s.unread.erase(std::remove_if(s.unread.begin(), s.unread.end(), [&](const PageRange& one) { return overlap(one, pages); }),
                 s.unread.end());
  s.unread.push_back(pages);
  return true;
}

bool results_were_read() {
  State& s = state();
  if (s.unread.empty()) return false;
  std::vector<PageRange> found = marked(s.unread);
  if (found.empty()) return false;
  s.were_read.insert(s.were_read.end(), found.begin(), found.end());
  s.unread.clear();
  return true;
}

}  // namespace memsim
