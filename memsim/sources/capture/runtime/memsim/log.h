// What the lanes of one block do, as 64-bit words: tag << 48 | address (or a mark). Threads take turns on one OS
// thread, so there is one cursor for all of them; each turn is a segment, and the segments are put in thread order when
// they are sent: at the block's end, and before it whenever so many words are there as a log holds.
#pragma once

#include "address_space.h"
#include "attributes.h"

namespace memsim_probe {

constexpr uint64_t tag_of(uint64_t tag) { return tag << 48; }
constexpr uint64_t latch_mark = tag_of(0xFF00), call_mark = tag_of(0xFF01), return_mark = tag_of(0xFF02);
constexpr uint64_t barrier_mark = tag_of(0xFF03);
constexpr unsigned max_threads = 1024;
#ifndef MEMSIM_LOG_BYTES
#define MEMSIM_LOG_BYTES (1 << 23)
#endif
constexpr size_t log_bytes = MEMSIM_LOG_BYTES;  // it starts at a multiple of that: a cursor at another is at its end

inline uint64_t* cursor = nullptr;  // where the next word goes; null while nothing is logged
inline void send_part();
inline bool is_shared(uintptr_t address);

MEMSIM_INLINE void log_word(uint64_t word) {
    uint64_t* at = cursor;
    if (__builtin_expect(at != nullptr, 1)) {
        *at++ = word;
        cursor = at;
        if (__builtin_expect(reinterpret_cast<uintptr_t>(at) % log_bytes == 0, 0)) send_part();
    }
}

class BlockLog {
  public:
    void begin(uint64_t number, unsigned n, bool to_send, bool to_count) {
        if (!words) map();
        sends = to_send;
        counts = to_count;
        block_number = number;
        n_threads = n;
        cursor = words;
        n_turns = 0;
    }

    // The words from here on are `thread`'s.
    void turn(unsigned thread) {
        if (!cursor || !sends) return;
        if (n_turns && turns[n_turns - 1].start == cursor) --n_turns;  // of a thread that only waited
        if (n_turns == room) turns = static_cast<Turn*>(realloc(turns, (room = 2 * room + 4096) * sizeof *turns));
        turns[n_turns++] = {cursor, thread, 0};
    }

    // The log is full in the middle of the block.
    __attribute__((noinline)) void send_part() {
        if (counts) count();
        if (!sends) return void(cursor = words);
        unsigned thread = turns[n_turns - 1].thread;
        send(Message::part);
        cursor = words;
        n_turns = 0;
        turn(thread);
    }

    // The block waits for others; it goes on with `begin`.
    void pause() {
        if (!cursor) return;
        if (counts) count();
        if (sends) send(Message::part);
        cursor = nullptr;
    }

    void end() {
        if (counts) count();
        if (sends) send(Message::block);
        cursor = nullptr;
    }

    // Accesses by threads of memory that is not the block's own or the thread's, in the blocks that were counted since
    // last asked.
    uint64_t take_count() {
        uint64_t counted = n_counted;
        n_counted = 0;
        return counted;
    }

  private:
    struct Turn {
        uint64_t* start;
        uint32_t thread, next;
    };
    static constexpr uint32_t no_turn = ~0u;

    void count() {
        for (const uint64_t* word = words; word != cursor; ++word) {
            uint64_t region = *word >> 40 & 0xFF;
            bool own = region == stack_region >> 40 || region == shared_region >> 40;
            if (*word < latch_mark && !own)
                n_counted += region == array_region >> 40 || !is_shared(*word & ~tag_of(0xFFFF));
        }
    }

    void map() {
        size_t bytes = 2 * log_bytes;  // elsewhere than asked for, its start is no multiple
        auto start = reinterpret_cast<uintptr_t>(reserve(log_region, bytes, os::read_write));
        words = reinterpret_cast<uint64_t*>(round_up(start, log_bytes));
    }

    // Thread after thread, each one's turns in their order. On a kernel's stack there may be little room.
    void send(Message type) {
        static uint64_t offsets[max_threads + 1];
        static uint32_t first[max_threads], last[max_threads];  // a chain of turns for each thread; no_turn: none
        const uint64_t* end = cursor;
        uint64_t head[2] = {block_number, n_threads};
        memset(offsets, 0, sizeof offsets);
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
        stream.begin(type, sizeof head + (n_threads + 1) * 8 + (end - words) * 8);
        stream.put(head, sizeof head);
        stream.put(offsets, (n_threads + 1) * 8);
        if (ordered) stream.put(words, (end - words) * 8);
        else put_by_thread(first, end);
    }

    void put_by_thread(const uint32_t* first, const uint64_t* end) const {
        for (unsigned t = 0; t < n_threads; ++t)
            for (uint32_t i = first[t]; i != no_turn; i = turns[i].next)
                stream.put(turns[i].start, words_of(i, end) * 8);
    }

    uint64_t words_of(uint32_t i, const uint64_t* end) const {
        return (i + 1 < n_turns ? turns[i + 1].start : end) - turns[i].start;
    }

    uint64_t* words = nullptr;
    Turn* turns = nullptr;
    size_t n_turns = 0, room = 0;
    uint64_t block_number = 0;
    unsigned n_threads = 0;
    bool sends = false, counts = false;
    uint64_t n_counted = 0;
};

inline BlockLog block_log;

inline void send_part() { block_log.send_part(); }

}  // namespace memsim_probe
