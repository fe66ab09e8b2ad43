// A CUDA program on the host as simple as can be: one context a thread, nothing of memsim's. Where arrays lie decides the
// space of an access; the compiler (-fsanitize=thread) reports each to a hook in hooks.cpp.
#pragma once
#include <cstddef>
#include <cstring>
#include <functional>

#define __global__ static
#define __device__
#define __shared__ static __attribute__((section("oracle_shared")))
#define __constant__ __attribute__((section("oracle_constant")))

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(16) float4 {
    float x, y, z, w;
};
enum { cudaMemcpyHostToDevice };

// Each thread's own, but on no stack, so that the hooks know that they are not the program's memory.
extern dim3 oracle_thread, oracle_block, oracle_block_dim, oracle_grid_dim;
#define threadIdx oracle_thread
#define blockIdx oracle_block
#define blockDim oracle_block_dim
#define gridDim oracle_grid_dim

namespace oracle {
struct Shape {
    dim3 grid, block;
    size_t shared;
};
inline Shape shape(dim3 grid, dim3 block, size_t shared = 0) { return {grid, block, shared}; }
void launch(const char* kernel, Shape shape, std::function<void()> thread);
extern char dynamic_shared[];
void atomic(void* address, size_t bytes);  // counts
void* allocate(size_t bytes);
void barrier();
}  // namespace oracle

#define NOT_SEEN __attribute__((no_sanitize("thread")))
template <class T>
NOT_SEEN T read_modify_write(T* p, T value) {
    oracle::atomic(p, sizeof(T));
    T old = *p;
    *p = value;
    return old;
}
template <class T> NOT_SEEN T atomicAdd(T* p, T by) { return read_modify_write(p, T(*p + by)); }
template <class T> NOT_SEEN T atomicMax(T* p, T other) { return read_modify_write(p, *p < other ? other : *p); }
template <class T> NOT_SEEN T atomicExch(T* p, T value) { return read_modify_write(p, value); }
template <class T> NOT_SEEN T atomicCAS(T* p, T expected, T value) { return read_modify_write(p, *p == expected ? value : *p); }

template <class T> void cudaMalloc(T** p, size_t bytes) { *p = static_cast<T*>(oracle::allocate(bytes)); }
inline void cudaMemcpy(void* to, const void* from, size_t bytes, int) { memcpy(to, from, bytes); }
template <class T> void cudaMemcpyToSymbol(T& to, const void* from, size_t bytes) { memcpy((void*)&to, from, bytes); }
inline void cudaDeviceSynchronize() {}
inline void __syncthreads() { oracle::barrier(); }
