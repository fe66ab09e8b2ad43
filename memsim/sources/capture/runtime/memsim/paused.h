// Blocks that wait for the rest of their grid. Their threads have the same stacks and the same shared memory as those of
// all others, in turn, so that each object keeps its address: what a block has there is copied away, and back.
#pragma once

#include "variables.h"

namespace memsim_probe {

class PausedBlock {
  public:
    PausedBlock() = default;
    PausedBlock(const PausedBlock&) = delete;
    PausedBlock& operator=(const PausedBlock&) = delete;
    ~PausedBlock() { free(bytes); }

    bool waits() const { return size; }

    void put_aside() {
        block.put_aside(*this);
        shared_arrays.put_aside(*this);
    }
    void take_up() {
        at = 0;
        block.take_up(*this);
        shared_arrays.take_up(*this);
        size = 0;
    }

    void keep(const void* from, size_t n) {
        if (size + n > room) bytes = static_cast<char*>(realloc(bytes, room = size + n + room / 2));
        if (!bytes) fail("no memory for the blocks that wait at the grid's barrier");
        memcpy(bytes + size, from, n);
        size += n;
    }
    void give_back(void* to, size_t n) {
        memcpy(to, bytes + at, n);
        at += n;
    }

  private:
    char* bytes = nullptr;
    size_t size = 0, room = 0, at = 0;
};

}  // namespace memsim_probe
