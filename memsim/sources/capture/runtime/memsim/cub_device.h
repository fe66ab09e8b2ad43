// CUB's algorithms over whole arrays (CUB documentation, "Device-wide primitives"), one element after another on the host.
// As there, a first call without storage tells its size alone.
#pragma once

#include <iterator>
#include <limits>

#include "../cuda_runtime.h"
#include "cub_operators.h"
#include "cub_sort.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cub {

template <class In>
using Element = typename std::iterator_traits<In>::value_type;

// Whether a call is the one that asks how much storage there must be.
inline bool asks_for_storage(void* storage, size_t& bytes) {
    if (!storage) bytes = 1;
    return !storage;
}

template <class T>
struct DoubleBuffer {
    T* d_buffers[2];
    int selector;
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate}, selector(0) {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceReduce {
    template <class In, class Out, class Join, class T>
    static cudaError_t Reduce(
        void* storage, size_t& bytes, In in, Out out, long long count, Join join, T initial, cudaStream_t = 0) {
        if (asks_for_storage(storage, bytes)) return cudaSuccess;
        for (long long i = 0; i < count; ++i) initial = join(initial, in[i]);
        *out = initial;
        return cudaSuccess;
    }
    template <class In, class Out>
    static cudaError_t Sum(void* storage, size_t& bytes, In in, Out out, long long count, cudaStream_t = 0) {
        return Reduce(storage, bytes, in, out, count, cub::Sum(), Element<In>(0));
    }
    // Both begin with the first element: there is no greatest or least of every type.
    template <class In, class Out>
    static cudaError_t Max(void* storage, size_t& bytes, In in, Out out, long long count, cudaStream_t = 0) {
        Element<In> first = storage && count > 0 ? in[0] : std::numeric_limits<Element<In>>::lowest();
        return Reduce(storage, bytes, in, out, count, cub::Max(), first);
    }
    template <class In, class Out>
    static cudaError_t Min(void* storage, size_t& bytes, In in, Out out, long long count, cudaStream_t = 0) {
        Element<In> first = storage && count > 0 ? in[0] : std::numeric_limits<Element<In>>::max();
        return Reduce(storage, bytes, in, out, count, cub::Min(), first);
    }
    template <class In, class Out>
    static cudaError_t ArgMax(void* storage, size_t& bytes, In in, Out out, int count, cudaStream_t = 0) {
        return place(storage, bytes, in, out, count, cub::ArgMax(), std::numeric_limits<Element<In>>::lowest());
    }
    template <class In, class Out>
    static cudaError_t ArgMin(void* storage, size_t& bytes, In in, Out out, int count, cudaStream_t = 0) {
        return place(storage, bytes, in, out, count, cub::ArgMin(), std::numeric_limits<Element<In>>::max());
    }

  private:
    // Of no elements: `none`, at place 1 (CUB documentation, "DeviceReduce::ArgMax").
    template <class In, class Out, class Join>
    static cudaError_t place(
        void* storage, size_t& bytes, In in, Out out, int count, Join join, Element<In> none) {
        if (asks_for_storage(storage, bytes)) return cudaSuccess;
        KeyValuePair<int, Element<In>> best = {1, none};
        if (count > 0) best = {0, in[0]};
        for (int i = 1; i < count; ++i) best = join(best, KeyValuePair<int, Element<In>>{i, in[i]});
        *out = best;
        return cudaSuccess;
    }
};

struct DeviceScan {
    template <class In, class Out, class Join>
    static cudaError_t InclusiveScan(
        void* storage, size_t& bytes, In in, Out out, Join join, long long count, cudaStream_t = 0) {
        if (asks_for_storage(storage, bytes) || count == 0) return cudaSuccess;
        Element<In> sum = in[0];
        out[0] = sum;
        for (long long i = 1; i < count; ++i) out[i] = sum = join(sum, in[i]);
        return cudaSuccess;
    }
    template <class In, class Out, class Join, class T>
    static cudaError_t ExclusiveScan(
        void* storage, size_t& bytes, In in, Out out, Join join, T initial, long long count, cudaStream_t = 0) {
        if (asks_for_storage(storage, bytes)) return cudaSuccess;
        for (long long i = 0; i < count; ++i) {
            T next = join(initial, in[i]);
            out[i] = initial;
            initial = next;
        }
        return cudaSuccess;
    }
    template <class In, class Out>
    static cudaError_t InclusiveSum(void* storage, size_t& bytes, In in, Out out, long long count, cudaStream_t = 0) {
        return InclusiveScan(storage, bytes, in, out, cub::Sum(), count);
    }
    template <class In, class Out>
    static cudaError_t ExclusiveSum(void* storage, size_t& bytes, In in, Out out, long long count, cudaStream_t = 0) {
        return ExclusiveScan(storage, bytes, in, out, cub::Sum(), Element<In>(0), count);
    }
};

struct DeviceRadixSort {
    template <class Key>
    static cudaError_t SortKeys(
        void* storage, size_t& bytes, const Key* in, Key* out, long long count, int first = 0,
        int last = 8 * sizeof(Key), cudaStream_t = 0) {
        return sort<Key, char>(storage, bytes, in, out, nullptr, nullptr, count, false, first, last);
    }
    template <class Key>
    static cudaError_t SortKeysDescending(
        void* storage, size_t& bytes, const Key* in, Key* out, long long count, int first = 0,
        int last = 8 * sizeof(Key), cudaStream_t = 0) {
        return sort<Key, char>(storage, bytes, in, out, nullptr, nullptr, count, true, first, last);
    }
    template <class Key, class Value>
    static cudaError_t SortPairs(
        void* storage, size_t& bytes, const Key* in, Key* out, const Value* values, Value* sorted, long long count,
        int first = 0, int last = 8 * sizeof(Key), cudaStream_t = 0) {
        return sort(storage, bytes, in, out, values, sorted, count, false, first, last);
    }
    template <class Key, class Value>
    static cudaError_t SortPairsDescending(
        void* storage, size_t& bytes, const Key* in, Key* out, const Value* values, Value* sorted, long long count,
        int first = 0, int last = 8 * sizeof(Key), cudaStream_t = 0) {
        return sort(storage, bytes, in, out, values, sorted, count, true, first, last);
    }
    template <class Key>
    static cudaError_t SortKeys(
        void* storage, size_t& bytes, DoubleBuffer<Key>& keys, long long count, int first = 0,
        int last = 8 * sizeof(Key), cudaStream_t = 0) {
        return sort<Key, char>(
            storage, bytes, keys.Current(), keys.Current(), nullptr, nullptr, count, false, first, last);
    }
    template <class Key>
    static cudaError_t SortKeysDescending(
        void* storage, size_t& bytes, DoubleBuffer<Key>& keys, long long count, int first = 0,
        int last = 8 * sizeof(Key), cudaStream_t = 0) {
        return sort<Key, char>(
            storage, bytes, keys.Current(), keys.Current(), nullptr, nullptr, count, true, first, last);
    }
    template <class Key, class Value>
    static cudaError_t SortPairsDescending(
        void* storage, size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, long long count,
        int first = 0, int last = 8 * sizeof(Key), cudaStream_t = 0) {
        return sort(
            storage, bytes, keys.Current(), keys.Current(), values.Current(), values.Current(), count, true, first,
            last);
    }
    template <class Key, class Value>
    static cudaError_t SortPairs(
        void* storage, size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, long long count,
        int first = 0, int last = 8 * sizeof(Key), cudaStream_t = 0) {
        return sort(
            storage, bytes, keys.Current(), keys.Current(), values.Current(), values.Current(), count, false, first,
            last);
    }

  private:
    template <class Key, class Value>
    static cudaError_t sort(
        void* storage, size_t& bytes, const Key* in, Key* out, const Value* values, Value* sorted, long long count,
        bool descending, int first, int last) {
        if (asks_for_storage(storage, bytes)) return cudaSuccess;
        std::vector<Key> keys(in, in + count);
        std::vector<Value> old(values, values ? values + count : values);
        std::vector<size_t> order = memsim_probe::sorted_order(keys.data(), keys.size(), descending, first, last);
        for (size_t i = 0; i < order.size(); ++i) {
            out[i] = keys[order[i]];
            if (values) sorted[i] = old[order[i]];
        }
        return cudaSuccess;
    }
};

struct DeviceSelect {
    template <class In, class Out, class Count, class Wanted>
    static cudaError_t If(
        void* storage, size_t& bytes, In in, Out out, Count selected, long long count, Wanted wanted,
        cudaStream_t = 0) {
        return select(storage, bytes, in, out, selected, count, [&](long long i) { return wanted(in[i]); });
    }
    template <class In, class Flags, class Out, class Count>
    static cudaError_t Flagged(
        void* storage, size_t& bytes, In in, Flags flags, Out out, Count selected, long long count, cudaStream_t = 0) {
        return select(storage, bytes, in, out, selected, count, [&](long long i) { return bool(flags[i]); });
    }
    template <class In, class Out, class Count>
    static cudaError_t Unique(
        void* storage, size_t& bytes, In in, Out out, Count selected, long long count, cudaStream_t = 0) {
        return select(
            storage, bytes, in, out, selected, count, [&](long long i) { return i == 0 || !(in[i] == in[i - 1]); });
    }

  private:
    template <class In, class Out, class Count, class Wanted>
    static cudaError_t select(
        void* storage, size_t& bytes, In in, Out out, Count selected, long long count, Wanted wanted) {
        if (asks_for_storage(storage, bytes)) return cudaSuccess;
        long long found = 0;
        for (long long i = 0; i < count; ++i)
            if (wanted(i)) out[found++] = in[i];
        *selected = found;
        return cudaSuccess;
    }
};

}  // namespace cub

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
