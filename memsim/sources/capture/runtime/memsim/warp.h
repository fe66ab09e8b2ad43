// Shuffles, votes and matches (CUDA C++ Programming Guide, "Warp Vote Functions" to "Warp Shuffle Functions").
#pragma once

#include "block.h"

namespace memsim_probe {

template <class T>
struct Shuffle : Meeting {
    T value, result;
    unsigned source;  // lane

    static void done(Meeting* const* lanes, uint32_t present) {
        for (uint32_t left = present; left; left &= left - 1) {
            auto& each = *static_cast<Shuffle*>(lanes[__builtin_ctz(left)]);
            bool there = present >> each.source & 1;
            each.result = there ? static_cast<Shuffle*>(lanes[each.source])->value : each.value;
        }
    }
};

struct Ballot : Meeting {
    bool predicate;
    uint32_t votes, present;

    static void done(Meeting* const* lanes, uint32_t present) {
        uint32_t votes = 0;
        for (uint32_t left = present; left; left &= left - 1)
            if (static_cast<Ballot*>(lanes[__builtin_ctz(left)])->predicate) votes |= left & -left;
        for (uint32_t left = present; left; left &= left - 1) {
            auto& each = *static_cast<Ballot*>(lanes[__builtin_ctz(left)]);
            each.votes = votes;
            each.present = present;
        }
    }
};

template <class T>
struct Match : Meeting {
    T value;
    uint32_t equal, present;

    static void done(Meeting* const* lanes, uint32_t present) {
        for (uint32_t left = present; left; left &= left - 1) {
            auto& each = *static_cast<Match*>(lanes[__builtin_ctz(left)]);
            each.equal = 0;
            each.present = present;
            for (uint32_t others = present; others; others &= others - 1)
                if (!memcmp(&static_cast<Match*>(lanes[__builtin_ctz(others)])->value, &each.value, sizeof(T)))
                    each.equal |= others & -others;
        }
    }
};

template <class T>
T shuffle(uint32_t mask, uint64_t key, T value, unsigned source, const char* caller) {
    auto meeting = new_meeting<Shuffle<T>>(mask, key);
    meeting.value = value;
    meeting.source = source;
    block.meet(meeting, caller);
    return meeting.result;
}

inline Ballot vote(uint32_t mask, uint64_t key, bool predicate, const char* caller) {
    auto meeting = new_meeting<Ballot>(mask, key);
    meeting.predicate = predicate;
    block.meet(meeting, caller);
    return meeting;
}

template <class T>
Match<T> match(uint32_t mask, T value, const char* caller) {
    auto meeting = new_meeting<Match<T>>(mask, 0);
    meeting.value = value;
    block.meet(meeting, caller);
    return meeting;
}

// The source lane of each kind of shuffle; the own lane where that would leave the segment of `width` lanes.
inline unsigned shuffle_index(int source, int width) {
    unsigned segment = block.lane() & ~(width - 1);
    return segment | (source & (width - 1));
}
inline unsigned shuffle_up(unsigned delta, int width) {
    unsigned lane = block.lane(), offset = lane & (width - 1);
    return offset >= delta ? lane - delta : lane;
}
inline unsigned shuffle_down(unsigned delta, int width) {
    unsigned lane = block.lane(), offset = lane & (width - 1);
    return offset + delta < static_cast<unsigned>(width) ? lane + delta : lane;
}
inline unsigned shuffle_xor(int bits, int width) {
    // Lanes of earlier segments may be read, later ones not.
    unsigned lane = block.lane(), source = lane ^ bits;
    return source < (lane & ~(width - 1)) + width ? source & 31 : lane;
}

// Where a function without mask is called: diverged lanes meet at one call only.
#define MEMSIM_HERE reinterpret_cast<uint64_t>(__builtin_return_address(0))

}  // namespace memsim_probe

#define MEMSIM_SHUFFLE(name, type, which)                                                                              \
    template <class T>                                                                                                 \
    MEMSIM_CUDA_TEMPLATE T name##_sync(unsigned mask, T value, type source, int width = 32) {                          \
        return memsim_probe::shuffle(mask, 0, value, memsim_probe::which(source, width), #name "_sync()");             \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    __attribute__((noinline)) __host__ __device__ T name(T value, type source, int width = 32) {                       \
        return memsim_probe::shuffle(0, MEMSIM_HERE, value, memsim_probe::which(source, width), #name "()");           \
    }
MEMSIM_SHUFFLE(__shfl, int, shuffle_index)
MEMSIM_SHUFFLE(__shfl_up, unsigned, shuffle_up)
MEMSIM_SHUFFLE(__shfl_down, unsigned, shuffle_down)
MEMSIM_SHUFFLE(__shfl_xor, int, shuffle_xor)
#undef MEMSIM_SHUFFLE

MEMSIM_CUDA void __syncwarp(unsigned mask = 0xffffffff) { memsim_probe::vote(mask, 0, false, "__syncwarp()"); }
MEMSIM_CUDA unsigned __ballot_sync(unsigned mask, int predicate) {
    return memsim_probe::vote(mask, 0, predicate, "__ballot_sync()").votes;
}
MEMSIM_CUDA int __any_sync(unsigned mask, int predicate) {
    return memsim_probe::vote(mask, 0, predicate, "__any_sync()").votes != 0;
}
MEMSIM_CUDA int __all_sync(unsigned mask, int predicate) {
    memsim_probe::Ballot result = memsim_probe::vote(mask, 0, predicate, "__all_sync()");
    return result.votes == result.present;
}

#define MEMSIM_HERE_ONLY static __attribute__((noinline, unused)) __host__ __device__
MEMSIM_HERE_ONLY unsigned __ballot(int predicate) {
    return memsim_probe::vote(0, MEMSIM_HERE, predicate, "__ballot()").votes;
}
MEMSIM_HERE_ONLY int __any(int predicate) {
    return memsim_probe::vote(0, MEMSIM_HERE, predicate, "__any()").votes != 0;
}
MEMSIM_HERE_ONLY int __all(int predicate) {
    memsim_probe::Ballot result = memsim_probe::vote(0, MEMSIM_HERE, predicate, "__all()");
    return result.votes == result.present;
}
MEMSIM_HERE_ONLY unsigned __activemask() { return memsim_probe::vote(0, MEMSIM_HERE, true, "__activemask()").present; }
#undef MEMSIM_HERE_ONLY

template <class T>
MEMSIM_CUDA_TEMPLATE unsigned __match_any_sync(unsigned mask, T value) {
    return memsim_probe::match(mask, value, "__match_any_sync()").equal;
}
template <class T>
MEMSIM_CUDA_TEMPLATE unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
    auto result = memsim_probe::match(mask, value, "__match_all_sync()");
    *predicate = result.equal == result.present;
    return *predicate ? result.present : 0;
}

#define MEMSIM_REDUCE(name, expression)                                                                                \
    template <class T>                                                                                                 \
    MEMSIM_CUDA_TEMPLATE T __reduce_##name##_sync(unsigned mask, T value) {                                            \
        T a = 0;                                                                                                       \
        bool first = true;                                                                                             \
        for (unsigned lane = 0; lane < 32; ++lane) {                                                                   \
            if (!(mask & memsim_probe::block.alive_lanes() & 1u << lane)) continue;                                    \
            T b = memsim_probe::shuffle(mask, 0, value, lane, "__reduce_" #name "_sync()");                            \
            a = first ? b : static_cast<T>(expression);                                                                \
            first = false;                                                                                             \
        }                                                                                                              \
        return a;                                                                                                      \
    }
MEMSIM_REDUCE(add, a + b)
MEMSIM_REDUCE(min, a < b ? a : b)
MEMSIM_REDUCE(max, a < b ? b : a)
MEMSIM_REDUCE(and, a& b)
MEMSIM_REDUCE(or, a | b)
MEMSIM_REDUCE(xor, a ^ b)
#undef MEMSIM_REDUCE
