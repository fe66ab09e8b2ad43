// CUB's sorts (CUB documentation, "BlockRadixSort", "DeviceRadixSort"): stable, by the bits of a key that are asked for.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "cub_threads.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace memsim_probe {

// A number's bits, so that they are ordered as the numbers are; zeros of both signs are equal.
template <class Key>
uint64_t ordered_bits(Key key) {
    constexpr uint64_t top = uint64_t{1} << (8 * sizeof(Key) - 1);
    uint64_t bits = 0;
    memcpy(&bits, &key, sizeof key);
    if (std::is_integral<Key>::value) return std::is_signed<Key>::value ? bits ^ top : bits;
    if (bits == top) bits = 0;
    return bits & top ? ~bits & (top | (top - 1)) : bits | top;
}

// The order of `count` keys, by their bits from `first` up to `last`.
template <class Keys>
std::vector<size_t> sorted_order(Keys keys, size_t count, bool descending, int first, int last) {
    uint64_t mask = (last - first < 64 ? uint64_t{1} << (last - first) : 0) - 1;
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        uint64_t of_a = ordered_bits(keys[a]) >> first & mask, of_b = ordered_bits(keys[b]) >> first & mask;
        return descending ? of_b < of_a : of_a < of_b;
    });
    return order;
}

}  // namespace memsim_probe

namespace cub {

struct NullType {};

template <class Key, int X, int N, class Value = NullType>
class BlockRadixSort {
    struct Mine {
        Key key[N];
        Value value[N];
    };
    template <bool striped>
    static void sort(Key (&keys)[N], Value* values, bool descending, int first, int last) {
        Mine mine;
        for (int i = 0; i < N; ++i) mine.key[i] = keys[i];
        for (int i = 0; values && i < N; ++i) mine.value[i] = values[i];
        memsim_probe::in_block(mine, [&](Mine* all) {
            std::vector<Mine> old(all, all + X);
            std::vector<Key> flat;
            for (const Mine& one : old) flat.insert(flat.end(), one.key, one.key + N);
            std::vector<size_t> order = memsim_probe::sorted_order(flat.data(), flat.size(), descending, first, last);
            for (size_t k = 0; k < order.size(); ++k) {
                size_t thread = striped ? k % X : k / N, i = striped ? k / X : k % N;
                all[thread].key[i] = flat[order[k]];
                all[thread].value[i] = old[order[k] / N].value[order[k] % N];
            }
        });
        for (int i = 0; i < N; ++i) keys[i] = mine.key[i];
        for (int i = 0; values && i < N; ++i) values[i] = mine.value[i];
    }
    static constexpr int bits = 8 * sizeof(Key);

  public:
    struct TempStorage : memsim_probe::Storage {
        alignas(Key) alignas(Value) char items[X * N * (sizeof(Key) + sizeof(Value))];
    };
    BlockRadixSort() {}
    BlockRadixSort(TempStorage&) {}
    void Sort(Key (&keys)[N], int first = 0, int last = bits) { sort<false>(keys, nullptr, false, first, last); }
    void Sort(Key (&keys)[N], Value (&values)[N], int first = 0, int last = bits) {
        sort<false>(keys, values, false, first, last);
    }
    void SortDescending(Key (&keys)[N], int first = 0, int last = bits) {
        sort<false>(keys, nullptr, true, first, last);
    }
    void SortDescending(Key (&keys)[N], Value (&values)[N], int first = 0, int last = bits) {
        sort<false>(keys, values, true, first, last);
    }
    void SortBlockedToStriped(Key (&keys)[N], int first = 0, int last = bits) {
        sort<true>(keys, nullptr, false, first, last);
    }
    void SortBlockedToStriped(Key (&keys)[N], Value (&values)[N], int first = 0, int last = bits) {
        sort<true>(keys, values, false, first, last);
    }
    void SortDescendingBlockedToStriped(Key (&keys)[N], int first = 0, int last = bits) {
        sort<true>(keys, nullptr, true, first, last);
    }
    void SortDescendingBlockedToStriped(Key (&keys)[N], Value (&values)[N], int first = 0, int last = bits) {
        sort<true>(keys, values, true, first, last);
    }
};

}  // namespace cub

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
