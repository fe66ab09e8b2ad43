// CUB's loads, stores and exchanges of a block (CUB documentation, "Block-wide data movement"). In a blocked
// arrangement a thread's items follow one another, in a striped one they lie a block apart.
#pragma once

#include <vector>

#include "cub_threads.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cub {

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int N, class From>
void LoadDirectBlocked(int thread, From from, T (&items)[N]) {
    for (int i = 0; i < N; ++i) items[i] = from[thread * N + i];
}
template <class T, int N, class To>
void StoreDirectBlocked(int thread, To to, T (&items)[N]) {
    for (int i = 0; i < N; ++i) to[thread * N + i] = items[i];
}
template <int Threads, class T, int N, class From>
void LoadDirectStriped(int thread, From from, T (&items)[N]) {
    for (int i = 0; i < N; ++i) items[i] = from[thread + i * Threads];
}
template <int Threads, class T, int N, class To>
void StoreDirectStriped(int thread, To to, T (&items)[N]) {
    for (int i = 0; i < N; ++i) to[thread + i * Threads] = items[i];
}

template <class T, int X, int N, BlockLoadAlgorithm Way = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockLoad {
    static int at(int i) {
        int thread = memsim_probe::block.thread();
        return Way == BLOCK_LOAD_STRIPED ? thread + i * X * Y * Z : thread * N + i;
    }

  public:
    struct TempStorage : memsim_probe::Storage {
        alignas(T) char items[Way >= BLOCK_LOAD_TRANSPOSE ? X * Y * Z * N * sizeof(T) : 1];
    };
    BlockLoad() {}
    BlockLoad(TempStorage&) {}
    template <class From>
    void Load(From from, T (&items)[N]) {
        for (int i = 0; i < N; ++i) items[i] = from[at(i)];
    }
    template <class From>
    void Load(From from, T (&items)[N], int valid) {
        for (int i = 0; i < N; ++i)
            if (at(i) < valid) items[i] = from[at(i)];
    }
    template <class From>
    void Load(From from, T (&items)[N], int valid, T otherwise) {
        for (int i = 0; i < N; ++i) items[i] = at(i) < valid ? static_cast<T>(from[at(i)]) : otherwise;
    }
};

template <class T, int X, int N, BlockStoreAlgorithm Way = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockStore {
  public:
    struct TempStorage : memsim_probe::Storage {
        alignas(T) char items[Way >= BLOCK_STORE_TRANSPOSE ? X * Y * Z * N * sizeof(T) : 1];
    };
    BlockStore() {}
    BlockStore(TempStorage&) {}
    template <class To>
    void Store(To to, T (&items)[N], int valid = X * Y * Z * N) {
        int thread = memsim_probe::block.thread();
        for (int i = 0; i < N; ++i) {
            int at = Way == BLOCK_STORE_STRIPED ? thread + i * X * Y * Z : thread * N + i;
            if (at < valid) to[at] = items[i];
        }
    }
};

template <class T, int X, int N, bool = false, int Y = 1, int Z = 1, int = 0>
class BlockExchange {
    static constexpr int threads = X * Y * Z;
    typedef memsim_probe::Items<T, N> Mine;

    // A thread's item `i` goes from place `from(thread, i)` to the thread and item with that place by `to`.
    template <class From, class To>
    void move(T (&in)[N], T (&out)[N], From from, To to) {
        Mine mine;
        for (int i = 0; i < N; ++i) mine.item[i] = in[i];
        memsim_probe::in_block(mine, [&](Mine* all) {
            std::vector<T> placed(threads * N);
            for (int k = 0; k < threads * N; ++k) placed[from(k / N, k % N)] = all[k / N].item[k % N];
            for (int k = 0; k < threads * N; ++k) all[k / N].item[k % N] = placed[to(k / N, k % N)];
        });
        for (int i = 0; i < N; ++i) out[i] = mine.item[i];
    }
    static int blocked(int thread, int i) { return thread * N + i; }
    static int striped(int thread, int i) { return thread + i * threads; }

  public:
    struct TempStorage : memsim_probe::Storage {
        alignas(T) char items[threads * N * sizeof(T)];
    };
    BlockExchange() {}
    BlockExchange(TempStorage&) {}
    void StripedToBlocked(T (&in)[N], T (&out)[N]) { move(in, out, striped, blocked); }
    void BlockedToStriped(T (&in)[N], T (&out)[N]) { move(in, out, blocked, striped); }
    void StripedToBlocked(T (&items)[N]) { StripedToBlocked(items, items); }
    void BlockedToStriped(T (&items)[N]) { BlockedToStriped(items, items); }
};

}  // namespace cub

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
