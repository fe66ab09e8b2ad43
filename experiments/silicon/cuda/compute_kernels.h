// Kernels that compute, wait or branch in one way each, and chains of loads whose latency is seen.
#pragma once
#include "common.h"

__global__ void empty() {}

// ---- arithmetic: CHAINS independent chains per thread ----
#define ARITHMETIC(NAME, TYPE, FIRST, STEP)                                             \
    template <int CHAINS> __global__ void NAME(TYPE* out, TYPE y, int rounds) {         \
        TYPE x[CHAINS];                                                                 \
        for (int c = 0; c < CHAINS; ++c) x[c] = TYPE(FIRST);                            \
        for (int r = 0; r < rounds; ++r) {                                              \
            _Pragma("unroll") for (int u = 0; u < 8; ++u)                               \
                _Pragma("unroll") for (int c = 0; c < CHAINS; ++c) STEP;                \
        }                                                                               \
        TYPE sum = x[0];                                                                \
        for (int c = 1; c < CHAINS; ++c) sum = sum + x[c];                              \
        if (threadIdx.x > 100000) out[0] = sum;                                         \
        if (sum == TYPE(77)) out[1] = sum;                                              \
    }
ARITHMETIC(op_ffma, float, threadIdx.x + c, asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[c]) : "f"(y)))
ARITHMETIC(op_fadd, float, threadIdx.x + c, asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x[c]) : "f"(y)))
ARITHMETIC(op_iadd, int, threadIdx.x + c, asm volatile("add.s32 %0, %0, %1;" : "+r"(x[c]) : "r"(y)))
ARITHMETIC(op_imad, int, threadIdx.x + c, asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(x[c]) : "r"(y)))
ARITHMETIC(op_logic, int, threadIdx.x + c, asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(x[c]) : "r"(y)))
ARITHMETIC(op_shift, int, threadIdx.x + c, asm volatile("shf.l.wrap.b32 %0, %0, %0, %1;" : "+r"(x[c]) : "r"(y)))
ARITHMETIC(op_min, int, threadIdx.x + c, asm volatile("min.s32 %0, %0, %1;" : "+r"(x[c]) : "r"(y)))
ARITHMETIC(op_popc, int, threadIdx.x + c, asm volatile("popc.b32 %0, %0;" : "+r"(x[c])))
ARITHMETIC(op_ex2, float, threadIdx.x + c, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[c])))
ARITHMETIC(op_rsqrt, float, threadIdx.x + c, asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x[c])))
ARITHMETIC(op_convert, float, threadIdx.x + c,
           asm volatile("{.reg .s32 t; cvt.rzi.s32.f32 t, %0; cvt.rn.f32.s32 %0, t;}" : "+f"(x[c])))
ARITHMETIC(op_dfma, double, threadIdx.x + c, asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x[c]) : "d"(y)))
ARITHMETIC(op_hfma2, unsigned, threadIdx.x + c, asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x[c]) : "r"(y)))
ARITHMETIC(op_shuffle, int, threadIdx.x + c,
           asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 31, -1;" : "+r"(x[c]) : "r"(y)))
ARITHMETIC(op_vote, unsigned, threadIdx.x + c,
           asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 5; vote.sync.ballot.b32 %0, p, -1;}" : "+r"(x[c])))
ARITHMETIC(op_compare, int, threadIdx.x + c,
           asm volatile("{.reg .pred p; setp.lt.s32 p, %0, %1; selp.s32 %0, %0, %1, p;}" : "+r"(x[c]) : "r"(y)))
ARITHMETIC(op_divide, int, threadIdx.x + c + 1000, x[c] = x[c] / y + 1000)
ARITHMETIC(op_fdivide, float, threadIdx.x + c + 1000, x[c] = x[c] / y + 1000)

__global__ void barriers(float* out, int rounds) {
    for (int r = 0; r < rounds; ++r) __syncthreads();
    if (rounds < 0) out[0] = 1;
}
// Straight code of KIB thousand bytes (16 bytes an instruction), run again and again.
template <int KIB> __global__ void long_code(float* out, float y, int rounds) {
    float x[4] = {1, 2, 3, 4};
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int k = 0; k < KIB * 16; ++k)
#pragma unroll
            for (int c = 0; c < 4; ++c) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[c]) : "f"(y));
    }
    if (x[0] + x[1] + x[2] + x[3] == 77) out[0] = 1;
}
// Tensor cores, CHAINS chains of mma.sync per warp.
template <int CHAINS> __global__ void op_mma(float* out, int rounds) {
    unsigned a[4] = {1, 2, 3, 4}, b[2] = {5, 6};
    float d[CHAINS][4] = {};
    for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int u = 0; u < 8; ++u)
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(d[c][0]), "+f"(d[c][1]), "+f"(d[c][2]), "+f"(d[c][3])
                             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    float sum = 0;
    for (int c = 0; c < CHAINS; ++c) sum += d[c][0] + d[c][1] + d[c][2] + d[c][3];
    if (sum == 77) out[0] = sum;
}
// Each block lasts so many cycles.
__global__ void lasting(float* out, int cycles) {
    long long begin = clock64();
    while (clock64() - begin < cycles) {}
    if (cycles < 0) out[0] = 1;
}
__global__ void with_shared(float* out) {
    extern __shared__ float room[];
    if (blockIdx.x == 1000000) out[0] = room[threadIdx.x];
}
__global__ void shared_atomics(float* out, int stride, int rounds) {
    extern __shared__ float room[];
    int* words = reinterpret_cast<int*>(room);
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = 0;
    __syncthreads();
    for (int r = 0; r < rounds; ++r) atomicAdd(words + (threadIdx.x % 32) * stride % 8192, r);
    __syncthreads();
    if (words[threadIdx.x] == 12345) out[0] = 1;
}
// Latency: one warp, each address needs the value before.
__global__ void l1_latency(const int* in, int* out, int rounds) {
    int at = threadIdx.x;
    for (int r = 0; r < rounds; ++r) at = in[at] + threadIdx.x;
    if (at == -1) out[0] = at;
}
__global__ void l2_latency(const int* in, int* out, int rounds, int step) {
    int at = threadIdx.x;
    for (int r = 0; r < rounds; ++r) at = __ldcg(in + at) + threadIdx.x + r * step % (1 << 20);
    if (at == -1) out[0] = at;
}
__global__ void shared_latency(int* out, int rounds) {
    extern __shared__ float room[];
    int* words = reinterpret_cast<int*>(room);
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = 0;
    __syncthreads();
    int at = threadIdx.x;
    for (int r = 0; r < rounds; ++r) at = words[at] + threadIdx.x;
    if (at == -1) out[0] = at;
}
// Two sides of a branch, each of so many dependent additions.
__global__ void diverging(float* out, float y, int rounds) {
    float x = threadIdx.x;
    for (int r = 0; r < rounds; ++r) {
        if ((threadIdx.x + r) & 1) {
            for (int k = 0; k < 16; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
        } else {
            for (int k = 0; k < 16; ++k) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
        }
    }
    if (x == 77) out[0] = x;
}
