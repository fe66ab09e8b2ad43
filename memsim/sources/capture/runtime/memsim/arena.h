// Device memory: arrays in one reserved range, each on pages of its own. Programs that read a little beyond an array
// run on a GPU, which maps memory in large pages, so each array has a margin of mapped memory; beyond that an access
// faults. Lowest free place first: the same program gets the same addresses every time.
#pragma once

#include "arrays.h"
#include "lock.h"
#include "names.h"

namespace memsim_probe {

class Arena {
  public:
    static constexpr size_t capacity = size_t{16} << 30;  // bytes in use at a time
    // Before and after an array; no power of two, lest all arrays begin in the same sets of a cache.
    static constexpr size_t margin = 65 * page_bytes;

    // Null if the device's memory is used up.
    void* allocate(size_t bytes, const char* name, size_t element_bytes) {
        Alone alone;
        size_t pages = round_up(bytes ? bytes : 1, page_bytes);
        if (pages > capacity - used) return nullptr;
        if (!base) base = reserve_up_to(array_region, region, os::no_access);
        size_t index = 0, offset = gap;
        while (index < count && offset + pages + gap > ranges[index].offset) {
            offset = ranges[index].offset + ranges[index].bytes + gap;
            ++index;
        }
        if (offset + pages + gap > region) return nullptr;
        insert(index, {offset, pages, 0, false, true});
        used += pages;
        protect(base + offset - margin, pages + 2 * margin, os::read_write);
        arrays.add(name, global_, base + offset, bytes ? bytes : 1, element_bytes);
        return base + offset;
    }

    // False: nothing was allocated there.
    bool release(const void* address) {
        Alone alone;
        Range* range = find(address);
        if (!range || !range->in_use) return false;
        range->in_use = false;
        if (!range->graphs) give_back(range);
        return true;
    }

    // What graphs allocate stays when it is released, for they may be launched again, until they are destroyed.
    void hold(const void* address) {
        if (Range* range = find(address)) ++range->graphs;
    }
    void drop(const void* address) {
        Alone alone;
        Range* range = find(address);
        if (range && range->graphs && !--range->graphs && !(range->launched && range->in_use)) give_back(range);
    }
    // By a graph's launch, which allocates and frees graphs' own memory alone.
    void launched(const void* address, bool in_use) {
        Range* range = find(address);
        if (range && range->graphs) range->launched = true, range->in_use = in_use;
    }

    bool holds(const void* address) const {
        return base && static_cast<size_t>(static_cast<const char*>(address) - base) < region;
    }
    size_t free_bytes() const { return capacity - used; }

  private:
    static constexpr size_t gap = 2 * margin + 16 * page_bytes;  // from one array to the next
    struct Range {
        size_t offset, bytes;
        unsigned graphs;  // that allocate it
        bool launched;    // one of them was
        bool in_use;
    };

    Range* find(const void* address) {
        for (size_t i = 0; i < count; ++i)
            if (base + ranges[i].offset == address) return ranges + i;
        return nullptr;
    }

    void give_back(Range* range) {
        char* start = base + range->offset;
        protect(start - margin, range->bytes + 2 * margin, os::no_access);
        os::memsim_madvise(start - margin, range->bytes + 2 * margin, os::give_back);
        used -= range->bytes;
        memmove(range, range + 1, (ranges + --count - range) * sizeof *ranges);
        arrays.remove(start);
    }

    void insert(size_t index, Range range) {
        if (count == room) ranges = static_cast<Range*>(realloc(ranges, (room = 2 * room + 64) * sizeof *ranges));
        memmove(ranges + index + 1, ranges + index, (count++ - index) * sizeof *ranges);
        ranges[index] = range;
    }

    char* base = nullptr;
    size_t region = size_t{1} << 40;  // bytes of address space
    Range* ranges = nullptr;          // by offset
    size_t count = 0, room = 0, used = 0;
};

inline Arena arena;

}  // namespace memsim_probe
