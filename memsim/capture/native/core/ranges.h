// Address ranges of the device half of the arena: first fit, neighbours are joined when they are freed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace memsim {

class Ranges {
 public:
  void add(uint64_t begin, uint64_t end) {
    free_[begin] = end;
    bottom_ = top_ = begin;
  }

  // Free bytes between those that were ever taken.
  uint64_t holes() const { return top_ - bottom_ - taken_bytes_; }

  // 0: no room.
  uint64_t take(uint64_t bytes, uint64_t alignment) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      uint64_t begin = it->first, end = it->second;
      uint64_t first = (begin + alignment - 1) / alignment * alignment;
      if (first >= end || end - first < bytes) continue;
      free_.erase(it);
      if (begin < first) free_[begin] = first;
      if (first + bytes < end) free_[first + bytes] = end;
      taken_[first] = bytes;
      taken_bytes_ += bytes;
      top_ = std::max(top_, first + bytes);
      return first;
    }
    return 0;
  }

  // The bytes that were taken at the address; 0: nothing was.
  uint64_t give_back(uint64_t begin) {
    auto taken = taken_.find(begin);
    if (taken == taken_.end()) return 0;
    uint64_t bytes = taken->second, end = begin + bytes;
    taken_.erase(taken);
    taken_bytes_ -= bytes;
    auto next = free_.lower_bound(begin);
    if (next != free_.end() && next->first == end) {
      end = next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->second == begin) {
        before->second = end;
        return bytes;
      }
    }
    free_[begin] = end;
    return bytes;
  }

 private:
  std::map<uint64_t, uint64_t> free_;   // begin -> end
  std::map<uint64_t, uint64_t> taken_;  // begin -> bytes
  uint64_t bottom_ = 0, top_ = 0, taken_bytes_ = 0;
};

}  // namespace memsim
