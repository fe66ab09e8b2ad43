// How CUB's functions of blocks and warps compute here: one thread sees what all have brought, and changes it for all.
// What threads bring lies outside shared memory, as what a library does is in no trace of the source.
#pragma once

#include <string.h>

#include "sync.h"
#include "warp.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace memsim_probe {

// Storage is handed on by reference: with no copies of it, a template's front end knows that nothing reads it.
struct Storage {
    Storage() = default;
    Storage(const Storage&) = delete;
};

// Of one thread.
template <class T, int N>
struct Items {
    T item[N];
};

template <class T>
struct Brought {
    static inline T of[1024];
};

// `change(values)` gets what the block's threads bring, by thread, and leaves there what each is to have. However often
// the threads meet here, the trace has one barrier, which every such function of CUB's has at least (scans and sorts more).
template <class T, class Change>
void in_block(T& mine, Change change) {
    T* values = Brought<T>::of;
    values[block.thread()] = mine;
    log_word(barrier_mark);
    block.barrier(0, "a function of CUB");
    if (block.thread() == 0) change(values);
    block.barrier(0, "a function of CUB");
    mine = values[block.thread()];
    block.barrier(0, "a function of CUB");
}

// The same among `threads` lanes side by side.
template <int threads, class T, class Change>
void in_warp(T& mine, Change change) {
    unsigned first = block.thread() & ~(threads - 1);
    uint32_t mask = threads == 32 ? ~0u : ((1u << threads % 32) - 1) << (first & 31);
    T* values = Brought<T>::of;
    values[block.thread()] = mine;
    vote(mask, 0, true, "a function of CUB");
    if (block.thread() == first) change(values + first);
    vote(mask, 0, true, "a function of CUB");
    mine = values[block.thread()];
    vote(mask, 0, true, "a function of CUB");
}

// Replaces each of `count` values by those up to it, joined; the last of them.
template <class T, class Join>
T scan(T* values, int count, Join join) {
    for (int i = 1; i < count; ++i) values[i] = join(values[i - 1], values[i]);
    return values[count - 1];
}

// Replaces each by those before it, joined to `before`, which becomes all of them.
template <class T, class Join>
void scan_before(T* values, int count, T& before, Join join) {
    for (int i = 0; i < count; ++i) {
        T value = values[i];
        values[i] = before;
        before = join(before, value);
    }
}

template <class T, class Join>
T fold(const T* values, int count, Join join) {
    T result = values[0];
    for (int i = 1; i < count; ++i) result = join(result, values[i]);
    return result;
}

}  // namespace memsim_probe

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
