// What the lanes of one block do, as 64-bit words: tag << 48 | address (or a mark). Threads take turns on one OS
// thread, so there is one cursor for all of them; each turn is a segment, and the segments are put in thread order at
// the end.
#pragma once

#include "address_space.h"
#include "attributes.h"

namespace memsim_probe {

constexpr uint64_t tag_of(uint64_t tag) { return tag << 48; }
constexpr uint64_t latch_mark = tag_of(0xFF00), call_mark = tag_of(0xFF01), return_mark = tag_of(0xFF02);
constexpr uint64_t barrier_mark = tag_of(0xFF03);
constexpr unsigned max_threads = 1024;
constexpr size_t kept_bytes = size_t{1} << 26;  // what stays mapped for the next block

inline uint64_t* cursor = nullptr;  // where the next word goes; null while nothing is logged

MEMSIM_INLINE void log_word(uint64_t word) {
    uint64_t* at = cursor;
    if (__builtin_expect(at != nullptr, 1)) {
        *at = word;
        cursor = at + 1;
    }
}

class BlockLog {
  public:
    void begin() {
        if (!words) map();
        cursor = words;
        n_turns = 0;
    }

    // The words from here on are `thread`'s.
    void turn(unsigned thread) {
        if (!cursor) return;
        if (n_turns == room) turns = static_cast<Turn*>(realloc(turns, (room = 2 * room + 4096) * sizeof *turns));
        turns[n_turns++] = {cursor, thread, 0};
    }

    // Sends the block's message: thread after thread, each one's turns in their order.
    void send(uint64_t block, unsigned n_threads) {
        uint64_t* end = cursor;
        cursor = nullptr;
        uint64_t head[2] = {block, n_threads};
        uint64_t offsets[max_threads + 1] = {};
        uint32_t first[max_threads], last[max_threads];  // a chain of turns for each thread; no_turn: none
        memset(first, 0xFF, sizeof first);
        bool ordered = true;
        for (uint32_t i = 0; i < n_turns; ++i) {
            Turn& turn = turns[i];
            ordered &= !i || turns[i - 1].thread <= turn.thread;
            offsets[turn.thread + 1] += words_of(i, end);
            if (first[turn.thread] == no_turn) first[turn.thread] = i;
            else turns[last[turn.thread]].next = i;
            last[turn.thread] = i;
            turn.next = no_turn;
        }
        for (unsigned t = 0; t < n_threads; ++t) offsets[t + 1] += offsets[t];
        stream.begin(Message::block, sizeof head + (n_threads + 1) * 8 + (end - words) * 8);
        stream.put(head, sizeof head);
        stream.put(offsets, (n_threads + 1) * 8);
        if (ordered) stream.put(words, (end - words) * 8);
        else put_by_thread(n_threads, first, end);
        release(end);
    }

    bool overrun(uintptr_t address) const {
        uintptr_t end = reinterpret_cast<uintptr_t>(words) + bytes;
        return words && address >= end - page_bytes && address < end;
    }

  private:
    struct Turn {
        uint64_t* start;
        uint32_t thread, next;
    };
    static constexpr uint32_t no_turn = ~0u;

    // The last page is never mapped: a block that fills the log faults, and the handler says so.
    void map() {
        char* start = reserve_up_to(log_region, bytes, os::read_write);
        protect(start + bytes - page_bytes, page_bytes, os::no_access);
        words = reinterpret_cast<uint64_t*>(start);
    }

    void put_by_thread(unsigned n_threads, const uint32_t* first, uint64_t* end) const {
        for (unsigned t = 0; t < n_threads; ++t)
            for (uint32_t i = first[t]; i != no_turn; i = turns[i].next)
                stream.put(turns[i].start, words_of(i, end) * 8);
    }

    // A block that logs far more than others gives its memory back.
    void release(uint64_t* end) const {
        size_t used = (end - words) * 8;
        if (used > kept_bytes)
            os::memsim_madvise(reinterpret_cast<char*>(words) + kept_bytes, round_up(used - kept_bytes, page_bytes),
                               os::give_back);
    }

    uint64_t words_of(uint32_t i, uint64_t* end) const {
        return (i + 1 < n_turns ? turns[i + 1].start : end) - turns[i].start;
    }

    uint64_t* words = nullptr;
    size_t bytes = size_t{1} << 33;  // of one block's words
    Turn* turns = nullptr;
    size_t n_turns = 0, room = 0;
};

inline BlockLog block_log;

}  // namespace memsim_probe
