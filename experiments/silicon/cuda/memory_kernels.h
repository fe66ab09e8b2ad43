// Kernels that move data in one way each: streams, L2, stores, atomics, L1, shared memory, main memory.
#pragma once
#include "common.h"

// ---- streams ----
template <class T> __device__ float total(T v);
template <> __device__ float total(float v) { return v; }
template <> __device__ float total(float4 v) { return v.x + v.y + v.z + v.w; }

template <class T, int EACH> __global__ void stream_read(const T* in, float* out) {
    size_t i = size_t(blockIdx.x) * blockDim.x * EACH + threadIdx.x;
    T v[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) v[k] = in[i + size_t(k) * blockDim.x];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; ++k) sum += total(v[k]);
    if (sum == 12345.678f) out[0] = sum;
}
template <class T, int EACH> __global__ void stream_write(T* out, T v) {
    size_t i = size_t(blockIdx.x) * blockDim.x * EACH + threadIdx.x;
#pragma unroll
    for (int k = 0; k < EACH; ++k) out[i + size_t(k) * blockDim.x] = v;
}
template <class T, int EACH> __global__ void stream_copy(const T* in, T* out) {
    size_t i = size_t(blockIdx.x) * blockDim.x * EACH + threadIdx.x;
    T v[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) v[k] = in[i + size_t(k) * blockDim.x];
#pragma unroll
    for (int k = 0; k < EACH; ++k) out[i + size_t(k) * blockDim.x] = v[k];
}
// As many warps per SM as the launch has; each thread keeps EACH loads outstanding.
template <int EACH> __global__ void persistent_read(const float* in, float* out, size_t n) {
    float sum = 0;
    size_t step = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i + (EACH - 1) * step < n; i += EACH * step) {
        float v[EACH];
#pragma unroll
        for (int k = 0; k < EACH; ++k) v[k] = in[i + k * step];
#pragma unroll
        for (int k = 0; k < EACH; ++k) sum += v[k];
    }
    if (sum == 12345.678f) out[0] = sum;
}

// ---- L2: every block reads the whole range, or all blocks together read it so many times ----
__global__ void read_again(const float4* in, float* out, size_t n, int rounds) {
    float sum = 0;
    size_t step = size_t(gridDim.x) * blockDim.x;
    for (int r = 0; r < rounds; ++r) {
        // another SM reads a sector in each round
        size_t first = (size_t(blockIdx.x + r * 37) % gridDim.x) * blockDim.x + threadIdx.x;
        for (size_t i = first; i < n; i += step) sum += total(__ldcg(in + i));
    }
    if (sum == 12345.678f) out[0] = sum;
}

// ---- stores smaller than a sector ----
struct alignas(16) Four { float v[4]; };
__global__ void store_parts(float* out, int parts) {  // a structure of 16 bytes by its parts, one store each
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    volatile float* mine = out + 4 * i;
    if (parts > 0) mine[0] = 1;
    if (parts > 1) mine[1] = 2;
    if (parts > 2) mine[2] = 3;
    if (parts > 3) mine[3] = 4;
}
__global__ void store_bytes(char* out, int stride) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    out[i * stride] = 1;
}
__global__ void store_half_sectors(float4* out) {  // each lane the first half of a sector
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    out[2 * i] = make_float4(1, 2, 3, 4);
}
__global__ void store_same(volatile int* out, int targets, int stride, int rounds) {  // one lane per warp
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0)
        for (int r = 0; r < rounds; ++r) out[size_t((warp + r) % targets) * stride] = r;
}
__global__ void store_same_lanes(volatile int* out, int rounds) {  // all lanes one word
    for (int r = 0; r < rounds; ++r) out[0] = r;
}

// ---- atomics ----
__global__ void reduce_to(int* out, int targets, int stride, int rounds, int lanes) {
    size_t t = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 < lanes)
        for (int r = 0; r < rounds; ++r) atomicAdd(out + (t + size_t(r) * 7919) % targets * stride, 1);
}
__global__ void fetch_add(int* out, int targets, int stride, int rounds, int lanes, int* sink) {
    size_t t = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    int sum = 0;
    if (threadIdx.x % 32 < lanes)
        for (int r = 0; r < rounds; ++r) sum += atomicAdd(out + (t + size_t(r) * 7919) % targets * stride, 1);
    if (sum == -1) *sink = sum;
}
__global__ void reduce_float(float* out, int targets, int rounds) {
    size_t t = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; ++r) atomicAdd(out + (t + size_t(r) * 7919) % targets, 1.0f);
}

// ---- L1 ----
// Loads of data that L1 has. The address needs the value loaded before (zero), so that no compiler keeps it in a register.
template <class T> __global__ void l1_strided(const char* in, float* out, int stride, int warp_bytes, int rounds) {
    const char* mine = in + (threadIdx.x % 32) * stride + (threadIdx.x / 32) * warp_bytes;
    int a = 0, b = 0;
    for (int r = 0; r < rounds; ++r) {
        a = __float_as_int(total(*reinterpret_cast<const T*>(mine + a)));
        b = __float_as_int(total(*reinterpret_cast<const T*>(mine + b)));
    }
    if (a + b == 77) out[0] = 1;
}
// A store, then a load of the same word by another thread of the block: is it in L1?
__global__ void store_then_load(float* data, float* out, int stride) {
    size_t first = size_t(blockIdx.x) * blockDim.x;
    data[(first + threadIdx.x) * stride] = 1;
    __syncthreads();
    float v = data[(first + (threadIdx.x + 37) % blockDim.x) * stride];
    if (v == 12345.678f) out[0] = v;
}
// Loads, then stores to the same words, then loads again.
__global__ void load_store_load(float* data, float* out, int stride) {
    size_t first = size_t(blockIdx.x) * blockDim.x;
    float v = data[(first + threadIdx.x) * stride];
    __syncthreads();
    if (v != 12345.678f) data[(first + threadIdx.x) * stride] = 1;
    __syncthreads();
    v += data[(first + (threadIdx.x + 37) % blockDim.x) * stride];
    if (v == 12345.678f) out[0] = v;
}
// One warp per SM walks `lines` lines that are `stride` bytes apart, `rounds` times; each lane its own sector's word.
__global__ void l1_sets(const char* in, float* out, int lines, size_t stride, int rounds) {
    float sum = 0;
    for (int r = 0; r < rounds; ++r)
        for (int k = 0; k < lines; ++k) sum += *reinterpret_cast<const float*>(in + k * stride + threadIdx.x * 4);
    if (sum == 12345.678f) out[0] = sum;
}
// Random order of lines, so that neither sets nor prefetching decide: each of four warps walks a part.
__global__ void l1_capacity(const float* in, float* out, int lines, int rounds) {
    extern __shared__ float room[];
    float sum = 0;
    for (int r = 0; r < rounds; ++r)
        for (int k = threadIdx.x / 32; k < lines; k += blockDim.x / 32) sum += in[k * 32 + threadIdx.x % 32];
    if (sum == 12345.678f) out[0] = sum + room[0];
}

// ---- shared memory ----
template <int WIDTH> __global__ void shared_loads(float* out, int stride, int rounds) {
    extern __shared__ float room[];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) room[i] = i;
    __syncthreads();
    unsigned at = unsigned(__cvta_generic_to_shared(room + (threadIdx.x % 32) * stride * WIDTH % 8192));
    float sum = 0;
    for (int r = 0; r < rounds; ++r) {
        float a, b = 0, c = 0, d = 0;
        if (WIDTH == 1) asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(a) : "r"(at));
        if (WIDTH == 2) asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "r"(at));
        if (WIDTH == 4)
            asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "r"(at));
        sum += a + b + c + d;
    }
    if (sum == 12345.678f) out[0] = sum;
}
template <int WIDTH> __global__ void shared_stores(float* out, int stride, int rounds) {
    extern __shared__ float room[];
    unsigned at = unsigned(__cvta_generic_to_shared(room + (threadIdx.x % 32) * stride * WIDTH % 8192));
    float x = threadIdx.x;
    for (int r = 0; r < rounds; ++r) {
        if (WIDTH == 1) asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(x) : "memory");
        if (WIDTH == 2) asm volatile("st.shared.v2.f32 [%0], {%1, %1};" ::"r"(at), "f"(x) : "memory");
        if (WIDTH == 4) asm volatile("st.shared.v4.f32 [%0], {%1, %1, %1, %1};" ::"r"(at), "f"(x) : "memory");
        x += 1;
    }
    __syncthreads();
    if (room[threadIdx.x] == 12345.678f) out[0] = 1;
}

// ---- main memory ----
__device__ inline size_t scrambled(size_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
// `lanes` lanes in sequence share one piece at a random place.
__global__ void random_read(const float* in, float* out, size_t pieces, int lanes, int rounds) {
    size_t t = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rounds; ++r) {
        size_t piece = scrambled((t / lanes + 1) * 0x9E3779B97F4A7C15u + r) % pieces;
        sum += in[piece * lanes + t % lanes];
    }
    if (sum == 12345.678f) out[0] = sum;
}
__global__ void random_write(float* out, size_t pieces, int lanes) {
    size_t t = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    size_t piece = scrambled((t / lanes + 1) * 0x9E3779B97F4A7C15u) % pieces;
    out[piece * lanes + t % lanes] = t;
}
__global__ void strided_read(const float* in, float* out, size_t stride_words) {
    size_t t = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    float v = in[t * stride_words];
    if (v == 12345.678f) out[0] = v;
}
__global__ void strided_write(float* out, size_t stride_words) {
    size_t t = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    out[t * stride_words] = 1;
}
