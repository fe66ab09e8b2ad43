// The probes on a GPU. The active lanes of a warp write one record together: their leader reserves the room with one
// atomic addition in a buffer of fixed size; what does not fit is counted and left out.
//
// A record is u32 {block, warp | site << 16, mask, space | width << 8} and a u64 address for each lane of the mask,
// lowest lane first. Where the site is a mark (0xFF00 and above), the last word of the header is the site it stands for
// and no addresses follow.
#pragma once

#include <stdint.h>

#include <type_traits>

#include "operand.h"

namespace memsim_probe {

struct Recorder {
    unsigned long long *used, *dropped;  // u32 words reserved; records that found no room
    uint32_t* words;
    unsigned long long capacity;  // in words
    unsigned first, last;         // blocks recorded: first <= block < last
};
static __device__ Recorder recorder;  // one a file: device code of several files is not linked

constexpr unsigned gpu_latch = 0xFF00, gpu_barrier = 0xFF03, header_words = 4;
enum GpuSpace : unsigned { gpu_global, gpu_constant, gpu_shared, gpu_local };

__device__ inline unsigned linear_block() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
__device__ inline unsigned linear_thread() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ inline unsigned space_of(const volatile void* address) {
    const void* p = const_cast<const void*>(address);
    return __isShared(p) ? gpu_shared : __isLocal(p) ? gpu_local : __isConstant(p) ? gpu_constant : gpu_global;
}

// Shared and local memory have addresses of their own, from 0.
__device__ inline unsigned long long address_within(const volatile void* address, unsigned space) {
    const void* p = const_cast<const void*>(address);
    if (space == gpu_shared) return __cvta_generic_to_shared(p);
    if (space == gpu_local) return __cvta_generic_to_local(p);
    return reinterpret_cast<unsigned long long>(p);
}

// Room for one record of the lanes in `mask`, and its header; null if there is none. All of them call it.
__device__ inline uint32_t* reserve_record(unsigned mask, unsigned site, unsigned last_word, unsigned words) {
    unsigned thread = linear_thread(), leader = __ffs(mask) - 1;
    unsigned long long at = 0;
    if (thread % 32 == leader) at = atomicAdd(recorder.used, static_cast<unsigned long long>(words));
    at = __shfl_sync(mask, at, leader);
    bool fits = at + words <= recorder.capacity;
    if (thread % 32 == leader) {
        if (fits) {
            uint32_t* header = recorder.words + at;
            header[0] = linear_block(), header[1] = thread / 32 | site << 16, header[2] = mask, header[3] = last_word;
        } else {
            atomicAdd(recorder.dropped, 1ull);
        }
    }
    return fits ? recorder.words + at : nullptr;
}

__device__ inline bool recorded() { return linear_block() - recorder.first < recorder.last - recorder.first; }

__device__ inline void record_access(unsigned site, unsigned width, const volatile void* address) {
    if (!recorded()) return;
    unsigned space = space_of(address);
    unsigned mask = __match_any_sync(__activemask(), space);
    unsigned words = header_words + 2 * __popc(mask);
    uint32_t* record = reserve_record(mask, site, space | width << 8, words);
    if (!record) return;
    unsigned rank = __popc(mask & ((1u << linear_thread() % 32) - 1));
    unsigned long long within = address_within(address, space);
    record[header_words + 2 * rank] = static_cast<uint32_t>(within);
    record[header_words + 2 * rank + 1] = static_cast<uint32_t>(within >> 32);
}

// A whole object, as the compiler moves it: in pieces as wide as its alignment allows, 16 bytes at most.
template <class T>
__device__ __forceinline__ void record_object(unsigned site, T* address) {
    constexpr unsigned width = alignof(T) < 16 ? alignof(T) : 16;
    auto start = reinterpret_cast<const volatile char*>(address);
    for (unsigned offset = 0; offset < sizeof(T); offset += width) record_access(site, width, start + offset);
}

__device__ inline void record_mark(unsigned mark, unsigned site) {
    if (recorded()) reserve_record(__activemask(), mark, site, header_words);
}

// What host code evaluates, in functions for both, is not recorded.
#ifdef __CUDA_ARCH__
#define MEMSIM_ON_DEVICE(...) __VA_ARGS__
#else
#define MEMSIM_ON_DEVICE(...)
#endif
#define MEMSIM_BOTH __host__ __device__ __forceinline__

template <class T>
using Rvalue = std::enable_if_t<!std::is_lvalue_reference<T>::value>;

template <uint32_t Site, class T>
MEMSIM_BOTH T& access(T& value) {
    MEMSIM_ON_DEVICE(
        record_object(Site, reinterpret_cast<T*>(&const_cast<char&>(reinterpret_cast<const volatile char&>(value))));)
    return value;
}
template <uint32_t Load, uint32_t Store, class T>
MEMSIM_BOTH T& update(T& value) {
    return access<Store>(access<Load>(value));
}
template <uint32_t Site, class T>
MEMSIM_BOTH T& memory(T& value) {
    MEMSIM_ON_DEVICE(
        if (__isLocal(const_cast<const char*>(&reinterpret_cast<const volatile char&>(value)))) return value;)
    return access<Site>(value);
}
template <uint32_t Load, uint32_t Store, class T>
MEMSIM_BOTH T& memory_update(T& value) {
    return memory<Store>(memory<Load>(value));
}
template <uint32_t Site, class T, class = Rvalue<T>>
MEMSIM_BOTH T access(T&& value) {
    return static_cast<T&&>(value);
}
template <uint32_t Site, class T, class = Rvalue<T>>
MEMSIM_BOTH T memory(T&& value) {
    return static_cast<T&&>(value);
}
template <uint32_t Load, uint32_t Store, class T, class = Rvalue<T>>
MEMSIM_BOTH T update(T&& value) {
    return static_cast<T&&>(value);
}
template <uint32_t Load, uint32_t Store, class T, class = Rvalue<T>>
MEMSIM_BOTH T memory_update(T&& value) {
    return static_cast<T&&>(value);
}

template <uint32_t Site, class T>
MEMSIM_BOTH T* pointer(T* address) {
    MEMSIM_ON_DEVICE(record_object(Site, address);)
    return address;
}
template <uint32_t Site, class T>
MEMSIM_BOTH T fetch(T value) {
    return value;
}  // a texture's address is not known here

template <uint32_t Site>
MEMSIM_BOTH void latch() {
    MEMSIM_ON_DEVICE(record_mark(gpu_latch, Site);)
}
template <uint32_t Site>
struct Latch {
    MEMSIM_BOTH ~Latch() { latch<Site>(); }
};
template <uint32_t Site>
MEMSIM_BOTH bool latched(bool condition) {
    latch<Site>();
    return condition;
}
#pragma nv_exec_check_disable
template <uint32_t Site, class F>
MEMSIM_BOTH decltype(auto) call(F&& function) {
    return function();
}
#pragma nv_exec_check_disable
template <uint32_t Site, class Operand, class F>
MEMSIM_BOTH decltype(auto) call_of(F&& function) {
    return function();
}
template <uint32_t Site>
MEMSIM_BOTH void enter() {}
MEMSIM_BOTH void leave() {}

__device__ inline void mark_barrier() { record_mark(gpu_barrier, 0); }

}  // namespace memsim_probe

#define __syncthreads() (memsim_probe::mark_barrier(), __syncthreads())
#define __syncthreads_count(predicate) (memsim_probe::mark_barrier(), __syncthreads_count(predicate))
#define __syncthreads_and(predicate) (memsim_probe::mark_barrier(), __syncthreads_and(predicate))
#define __syncthreads_or(predicate) (memsim_probe::mark_barrier(), __syncthreads_or(predicate))
