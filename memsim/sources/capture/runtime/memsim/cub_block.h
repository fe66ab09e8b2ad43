// CUB's reductions and scans of a block's threads (CUB documentation, "Block-wide collective primitives"). Storage has
// the size that reductions of warps take.
#pragma once

#include "cub_operators.h"
#include "cub_threads.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
    BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int Threads>
struct BlockStorage : memsim_probe::Storage {
    alignas(T) char of_warps[(Threads + 31) / 32 + 1][sizeof(T)];
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce {
  public:
    typedef BlockStorage<T, X * Y * Z> TempStorage;
    BlockReduce() {}
    BlockReduce(TempStorage&) {}

    template <class Join>
    T Reduce(T value, Join join, int valid = X * Y * Z) {
        memsim_probe::in_block(value, [&](T* all) { all[0] = memsim_probe::fold(all, valid, join); });
        return value;
    }
    template <int N, class Join>
    T Reduce(T (&values)[N], Join join) {
        return Reduce(memsim_probe::fold(values, N, join), join);
    }
    T Sum(T value, int valid = X * Y * Z) { return Reduce(value, cub::Sum(), valid); }
    template <int N>
    T Sum(T (&values)[N]) {
        return Reduce(values, cub::Sum());
    }
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0>
class BlockScan {
    static constexpr int threads = X * Y * Z;
    template <int N>
    struct Mine {
        T item[N], sum;
    };

    // `scan(all)` gets what the threads have, and leaves the results there and the sum of all.
    template <int N, class Scan>
    static void in_order(T (&in)[N], T (&out)[N], T& sum, Scan scan) {
        Mine<N> mine;
        for (int i = 0; i < N; ++i) mine.item[i] = in[i];
        memsim_probe::in_block(mine, [&](Mine<N>* all) {
            T joined = scan(all);
            for (int k = 0; k < threads; ++k) all[k].sum = joined;
        });
        for (int i = 0; i < N; ++i) out[i] = mine.item[i];
        sum = mine.sum;
    }

  public:
    typedef BlockStorage<T, threads> TempStorage;
    BlockScan() {}
    BlockScan(TempStorage&) {}

    template <int N, class Join>
    void InclusiveScan(T (&in)[N], T (&out)[N], Join join, T& sum) {
        in_order(in, out, sum, [&](Mine<N>* all) {
            for (int k = 0; k < threads; ++k) {
                if (k) all[k].item[0] = join(all[k - 1].item[N - 1], all[k].item[0]);
                memsim_probe::scan(all[k].item, N, join);
            }
            return all[threads - 1].item[N - 1];
        });
    }
    // Without an initial value; the first result is not defined.
    template <int N, class Join>
    void ExclusiveScan(T (&in)[N], T (&out)[N], Join join, T& sum) {
        in_order(in, out, sum, [&](Mine<N>* all) {
            T joined = all[0].item[0];
            memsim_probe::scan_before(all[0].item + 1, N - 1, joined, join);
            for (int k = 1; k < threads; ++k) memsim_probe::scan_before(all[k].item, N, joined, join);
            return joined;
        });
    }
    // The sum is without the initial value.
    template <int N, class Join>
    void ExclusiveScan(T (&in)[N], T (&out)[N], T initial, Join join, T& sum) {
        T before[N];
        ExclusiveScan(in, before, join, sum);
        for (int i = 0; i < N; ++i)
            out[i] = memsim_probe::block.thread() || i ? join(initial, before[i]) : initial;
    }

    // One value a thread.
    template <class Join>
    void InclusiveScan(T in, T& out, Join join, T& sum) {
        T one[1] = {in};
        InclusiveScan(one, one, join, sum);
        out = one[0];
    }
    template <class Join>
    void ExclusiveScan(T in, T& out, Join join, T& sum) {
        T one[1] = {in};
        ExclusiveScan(one, one, join, sum);
        out = one[0];
    }
    template <class Join>
    void ExclusiveScan(T in, T& out, T initial, Join join, T& sum) {
        T one[1] = {in};
        ExclusiveScan(one, one, initial, join, sum);
        out = one[0];
    }

    // Of values or arrays, without the sum of all.
    template <class In, class Out, class Join>
    void InclusiveScan(In&& in, Out&& out, Join join) {
        T sum;
        InclusiveScan(in, out, join, sum);
    }
    template <class In, class Out, class Join>
    void ExclusiveScan(In&& in, Out&& out, Join join) {
        T sum;
        ExclusiveScan(in, out, join, sum);
    }
    template <class In, class Out, class Join>
    void ExclusiveScan(In&& in, Out&& out, T initial, Join join) {
        T sum;
        ExclusiveScan(in, out, initial, join, sum);
    }
    template <class In, class Out, class... Total>
    void InclusiveSum(In&& in, Out&& out, Total&... sum) {
        InclusiveScan(in, out, cub::Sum(), sum...);
    }
    template <class In, class Out, class... Total>
    void ExclusiveSum(In&& in, Out&& out, Total&... sum) {
        ExclusiveScan(in, out, T(0), cub::Sum(), sum...);
    }
};

}  // namespace cub

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
