// CUB's reductions and scans of a warp's lanes (CUB documentation, "Warp-wide collective primitives").
#pragma once

#include "cub_operators.h"
#include "cub_threads.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cub {

template <class T, int Threads = 32, int = 0>
class WarpReduce {
  public:
    struct TempStorage : memsim_probe::Storage {};  // shuffles do it
    WarpReduce(TempStorage&) {}

    template <class Join>
    T Reduce(T value, Join join, int valid = Threads) {
        memsim_probe::in_warp<Threads>(value, [&](T* all) { all[0] = memsim_probe::fold(all, valid, join); });
        return value;
    }
    T Sum(T value, int valid = Threads) { return Reduce(value, cub::Sum(), valid); }
};

template <class T, int Threads = 32, int = 0>
class WarpScan {
  public:
    struct TempStorage : memsim_probe::Storage {};
    WarpScan(TempStorage&) {}

    template <class Join>
    void InclusiveScan(T in, T& out, Join join, T& sum) {
        T value = in;
        memsim_probe::in_warp<Threads>(value, [&](T* all) { memsim_probe::scan(all, Threads, join); });
        out = value;
        sum = Broadcast(value, Threads - 1);
    }
    template <class Join>
    void InclusiveScan(T in, T& out, Join join) {
        T sum;
        InclusiveScan(in, out, join, sum);
    }
    template <class Join>
    void ExclusiveScan(T in, T& out, T before, Join join, T& sum) {
        T value = in, all_joined = in;
        memsim_probe::in_warp<Threads>(all_joined, [&](T* all) {
            T joined = memsim_probe::fold(all, Threads, join);
            for (int i = 0; i < Threads; ++i) all[i] = joined;
        });
        memsim_probe::in_warp<Threads>(
            value, [&](T* all) { memsim_probe::scan_before(all, Threads, before, join); });
        out = value;
        sum = all_joined;
    }
    // Without an initial value; the first result is not defined.
    template <class Join>
    void ExclusiveScan(T in, T& out, Join join, T& sum) {
        T value;
        InclusiveScan(in, value, join, sum);
        memsim_probe::in_warp<Threads>(value, [](T* all) {
            for (int i = Threads - 1; i > 0; --i) all[i] = all[i - 1];
        });
        out = value;
    }
    template <class Join>
    void ExclusiveScan(T in, T& out, Join join) {
        T sum;
        ExclusiveScan(in, out, join, sum);
    }
    template <class Join>
    void ExclusiveScan(T in, T& out, T before, Join join) {
        T sum;
        ExclusiveScan(in, out, before, join, sum);
    }
    void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
    void InclusiveSum(T in, T& out, T& sum) { InclusiveScan(in, out, cub::Sum(), sum); }
    void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(0), cub::Sum()); }
    void ExclusiveSum(T in, T& out, T& sum) { ExclusiveScan(in, out, T(0), cub::Sum(), sum); }
    T Broadcast(T value, unsigned lane) {
        memsim_probe::in_warp<Threads>(value, [&](T* all) {
            for (int i = 0; i < Threads; ++i)
                if (i != static_cast<int>(lane)) all[i] = all[lane];
        });
        return value;
    }
};

}  // namespace cub

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
