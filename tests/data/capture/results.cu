// Kernels whose results the host knows by other means. Each check prints its name and `ok` or `WRONG`.
#include <cstdio>
#include <cstring>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;
#define CONFIG(...) __VA_ARGS__
#define RUN(kernel, config, ...) (kernel<<<CONFIG config>>>(__VA_ARGS__), cudaDeviceSynchronize())

static int wrong_results = 0;
static void check(const char* name, bool good) {
    printf("%s %s\n", name, good ? "ok" : "WRONG");
    wrong_results += !good;
}

template <class T>
T* device(size_t count) {
    T* pointer = nullptr;
    cudaMallocManaged(&pointer, count * sizeof(T));
    return pointer;
}

// Barriers: a tree sum through shared memory, with threads that have left, in three dimensions.
__global__ void tree_sum(const int* in, int* out) {
    extern __shared__ int s[];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned n = blockDim.x * blockDim.y * blockDim.z;
    s[t] = in[blockIdx.x * n + t];
    for (unsigned half = n / 2; half; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void early_exit(int* out, int n) {
    __shared__ int s[256];
    if (threadIdx.x >= n) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}

__global__ void counted(int* out) {
    int odd = threadIdx.x & 1;
    int count = __syncthreads_count(odd), any = __syncthreads_or(threadIdx.x == 77),
        all = __syncthreads_and(threadIdx.x < 99);
    out[threadIdx.x] = count * 100 + any * 10 + all;
}

static void barriers() {
    const int n = 8 * 4 * 16, blocks = 5;
    int *in = device<int>(n * blocks), *out = device<int>(1024), sum[blocks] = {};
    for (int i = 0; i < n * blocks; ++i) sum[i / n] += in[i] = i * 7 % 13;
    RUN(tree_sum, (blocks, dim3(8, 4, 16), n * sizeof(int)), in, out);
    check("tree_sum", !memcmp(sum, out, sizeof sum));
    RUN(early_exit, (1, 256), out, 100);
    bool good = true;
    for (int i = 0; i < 100; ++i) good &= out[i] == 99 - i;
    check("early_exit", good);
    RUN(counted, (1, 100), out);
    check("counted", out[0] == 50 * 100 + 10 + 0 && out[99] == out[0]);
}

// Shuffles, votes and matches against plain arithmetic on lane numbers.
__global__ void shuffles(int* wrong) {
    int lane = threadIdx.x % 32;
    auto expect = [&](bool good) {
        if (!good) ++*wrong;
    };
    expect(__shfl_sync(~0u, lane * 3, 5) == 15);
    expect(__shfl_sync(~0u, lane, 9, 8) == lane / 8 * 8 + 1);
    expect(__shfl_up_sync(~0u, lane, 3) == (lane < 3 ? lane : lane - 3));
    expect(__shfl_down_sync(~0u, lane, 3, 16) == (lane % 16 < 13 ? lane + 3 : lane));
    expect(__shfl_xor_sync(~0u, lane * 1.5, 17) == (lane ^ 17) * 1.5);
    expect(__shfl_sync(~0u, 1ull << lane, 31) == 1ull << 31);
    expect(__ballot_sync(~0u, lane % 3 == 0) == 0x49249249);
    expect(__any_sync(~0u, lane == 31) && !__any_sync(~0u, lane == 32));
    expect(__all_sync(~0u, lane < 32) && !__all_sync(~0u, lane < 31));
    expect(__match_any_sync(~0u, lane / 16) == (lane < 16 ? 0xFFFFu : 0xFFFF0000u));
    int same;
    expect(__match_all_sync(~0u, 7, &same) == ~0u && same);
    expect(__match_all_sync(~0u, lane == 4, &same) == 0 && !same);
    expect(__reduce_add_sync(~0u, lane) == 496 && __reduce_max_sync(~0u, lane) == 31);
    unsigned mine = lane % 2 ? 0xAAAAAAAA : 0x55555555;  // two halves, each among itself
    expect(__shfl_sync(mine, lane, lane % 2) == lane % 2);
    if (lane >= 24) {
        expect(__activemask() == 0xFF000000);
        expect(__ballot_sync(0xFF000000, lane == 30) == 1u << 30);
        expect(__shfl_sync(0xFF000000, lane, 25) == 25);
    } else {
        __syncwarp(0x00FFFFFF);
    }
    __syncwarp();
}

__global__ void last_warp_is_short(int* out) { out[threadIdx.x] = __ballot_sync(~0u, 1); }

// Warp-synchronous code of old: nothing but volatile keeps the lanes in step.
__global__ void in_step(int* out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = t;
    s[t + 32] = t + 32;
    for (int half = 32; half; half /= 2) s[t] += s[t + half];
    if (t == 0) *out = s[0];
}

// One lock for all, held across a warp-wide meeting.
__global__ void locked(int* lock, int* total) {
    for (bool done = false; !done;)
        if (atomicCAS(lock, 0, 1) == 0) {
            int seen = *total;
            __nanosleep(10);  // others run, and find the lock taken
            *total = seen + 1;
            atomicExch(lock, 0);
            done = true;
        }
}

static void warps() {
    int *a = device<int>(1024), *b = device<int>(1024);
    RUN(shuffles, (3, dim3(32, 4)), a);
    check("shuffles", a[0] == 0);
    RUN(last_warp_is_short, (1, 40), a);
    check("last_warp_is_short", a[0] == -1 && a[39] == 0xFF);
    RUN(in_step, (1, 32), a);
    check("in_step", a[0] == 63 * 64 / 2);
    *a = *b = 0;
    RUN(locked, (2, 128), a, b);
    check("locked", *b == 256);
}

__global__ void groups(int* wrong) {
    auto expect = [&](bool good) {
        if (!good) ++*wrong;
    };
    cg::thread_block block = cg::this_thread_block();
    int t = block.thread_rank();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    expect(eight.thread_rank() == t % 8 && eight.size() == 8 && eight.meta_group_rank() == t % 32 / 8);
    expect(cg::reduce(eight, t, cg::plus<int>()) == t / 8 * 64 + 28);
    expect(cg::inclusive_scan(warp, 1) == t % 32 + 1);
    expect(eight.shfl_down(t, 3) == (t % 8 < 5 ? t + 3 : t) && eight.shfl_xor(t, 5) == (t ^ 5));
    expect(eight.ballot(t % 8 == 6) == 64 && eight.any(t % 8 == 6) && !eight.all(t % 8 == 6));
    if (t % 4 == 1) {
        cg::coalesced_group some = cg::coalesced_threads();
        expect(some.size() == 8 && some.thread_rank() == t % 32 / 4 && some.shfl(t, 0) == t / 32 * 32 + 1);
    }
    cg::thread_group four = cg::tiled_partition(block, 4);
    four.sync();
    expect(four.thread_rank() == t % 4 && four.size() == 4);
    auto whole = cg::tiled_partition<64>(block);
    expect(whole.thread_rank() == t && whole.shfl(t, 40) == 40 && cg::reduce(whole, t, cg::greater<int>()) == 63);
    auto halves = cg::binary_partition(warp, t % 32 < 10);
    expect(halves.size() == (t % 32 < 10 ? 10 : 22));
    cg::sync(block);
}

__global__ void atomics(int* i, unsigned* u, float* f, double* d, unsigned long long* l) {
    int t = threadIdx.x;
    atomicAdd(i, 2), atomicSub(i + 1, 1), atomicMin(i + 2, 50 - t), atomicMax(i + 3, t),
        atomicAnd(i + 4, ~(1 << t % 20));
    atomicOr(i + 5, 1 << t % 20), atomicXor(i + 6, t), atomicInc(u, 9), atomicDec(u + 1, 6), atomicAdd(f, 0.5f),
        atomicAdd(d, 0.25);
    atomicAdd(l, 1ull << 40);
    if (atomicExch(u + 2, t + 1) == 0) atomicAdd(u + 3, 1);
    unsigned old = u[4], seen;
    do seen = old, old = atomicCAS(u + 4, seen, seen + 3);
    while (old != seen);
}

static void more_groups() {
    int* wrong = device<int>(8);
    RUN(groups, (2, 64), wrong);
    check("groups", *wrong == 0);
    int* i = device<int>(8);
    unsigned* u = device<unsigned>(8);
    float* f = device<float>(1);
    double* d = device<double>(1);
    auto* l = device<unsigned long long>(1);
    i[4] = -1;
    RUN(atomics, (1, 100), i, u, f, d, l);
    bool good = i[0] == 200 && i[1] == -100 && i[2] == -49 && i[3] == 99 && i[4] == -1 << 20 && i[5] == (1 << 20) - 1;
    int parity = 0;
    for (int t = 0; t < 100; ++t) parity ^= t;
    check("atomics", good && i[6] == parity && u[0] == 0 && u[1] == 5 && *f == 50 && *d == 25 && *l == 100ull << 40 &&
                         u[2] == 100 && u[3] == 1 && u[4] == 300);
}

__global__ void intrinsic_functions(bool* result) {
    bool good =
        __clz(1) == 31 && __clz(0) == 32 && __clzll(1) == 63 && __popc(0xF0F0) == 8 && __ffs(8) == 4 && __ffs(0) == 0;
    good &= __brev(1) == 0x80000000 && __brev(0x12345678) == 0x1E6A2C48 && __brevll(1) == 1ull << 63;
    good &= __mulhi(-1, 2) == -1 && __umulhi(1u << 31, 6) == 3 && __umul24(0x1000003, 5) == 15 && __mul24(-3, 7) == -21;
    good &= __byte_perm(0x33221100, 0x77665544, 0x7530) == 0x77553300 && __funnelshift_l(0x80000000, 1, 1) == 3;
    good &= __sad(-5, 3, 1) == 9 && __hadd(-3, 2) == -1 && __fns(0b10110, 0, 2) == 2;
    good &= __float_as_int(1.0f) == 0x3F800000 && __hiloint2double(0x40000000, 0) == 2.0 &&
            __double2hiint(2.0) == 0x40000000;
    good &= __float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_ru(2.1f) == 3 &&
            __float2int_rd(-2.1f) == -3;
    good &= min(3, 4u) == 3 && max(2.0f, 3.0) == 3.0 && rsqrtf(16) == 0.25f && __saturatef(-1) == 0 &&
            __fdividef(6, 3) == 2;
    good &= __vadd4(0xFF010203, 0x02030405) == 0x01040608 && __vaddus4(0xFF010203, 0x02030405) == 0xFF040608;
    good &= __vabsdiffs2(0x8000FFFF, 0x7FFF0001) == 0xFFFF0002 && __vcmpgts4(0x01FF7F80, 0x00000000) == 0xFF00FF00;
    good &= __vmaxs2(0x8000FFFF, 0x7FFF0001) == 0x7FFF0001 && __vavgu4(1, 2) == 2 && __vabs4(0xFF80017F) == 0x0180017F;
    good &= __vsadu4(0x01020304, 0x04030201) == 8 && __dp4a(0x010203FF, 0x01010101, 10) == 15;
    *result = good;
}

static void intrinsics() {
    bool* good = device<bool>(1);
    RUN(intrinsic_functions, (1, 1), good);
    check("intrinsics", *good);
}

__constant__ float coefficients[4];
__device__ int counter;
__global__ void uses_symbols(float* out) {
    out[threadIdx.x] = coefficients[threadIdx.x % 4] * 2;
    atomicAdd(&counter, 1);
}
static void memory() {
    float values[4] = {1, 2, 3, 4}, *out = device<float>(12);
    cudaMemcpyToSymbol(coefficients, values, sizeof values);
    RUN(uses_symbols, (2, 4), out);
    int count;
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    check("symbols", count == 8 && out[3] == 8);

    size_t pitch;
    char *rows, host[3][10], back[3][10] = {};
    memset(host, 'x', sizeof host);
    cudaMallocPitch((void**)&rows, &pitch, 10, 3);
    cudaMemcpy2D(rows, pitch, host, 10, 10, 3, cudaMemcpyHostToDevice);
    cudaMemset2D(rows + 2, pitch, 'y', 3, 2);
    cudaMemcpy2D(back, 10, rows, pitch, 10, 3, cudaMemcpyDeviceToHost);
    check("pitch", pitch % 512 == 0 && !memcmp(back, "xxyyyxxxxxxxyyyxxxxxxxxxxxxxxx", 30));

    void* huge = nullptr;
    bool failed = cudaMalloc(&huge, size_t{1} << 50) == cudaErrorMemoryAllocation &&
                  cudaGetLastError() == cudaErrorMemoryAllocation;
    check("out_of_memory", failed && cudaGetLastError() == cudaSuccess && cudaFree(values) == cudaErrorInvalidValue);
    cudaGetLastError();
}

// Launches: arguments once and by value, templates, errors, cudaLaunchKernel.
template <class T, int N = 0>
__global__ void adds(T* out, T value) {
    value += N;
    atomicAdd(out, value);
}
__global__ void where(uint3* out) {
    if (threadIdx.x == 1 && threadIdx.y == 1)
        out[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = blockIdx;
}

static void launches() {
    int* sum = device<int>(1);
    int evaluated = 0;
    adds<int, 5><<<3, 100>>>(sum, ++evaluated);
    cudaDeviceSynchronize();
    check("arguments", evaluated == 1 && *sum == 300 * 6);
    int value = 10;
    void* arguments[] = {&sum, &value};
    cudaLaunchKernel(adds<int, 0>, dim3(1), dim3(10), arguments, 0, nullptr);
    check("launch_kernel", *sum == 300 * 6 + 100);
    RUN(adds, (1, 2048), sum, 1);
    check("too_many_threads", cudaGetLastError() == cudaErrorInvalidConfiguration && *sum == 300 * 6 + 100);
    uint3* blocks = device<uint3>(24);
    RUN(where, (dim3(2, 3, 4), dim3(2, 2)), blocks);
    bool good = true;
    for (unsigned i = 0; i < 24; ++i) good &= blocks[i].x == i % 2 && blocks[i].y == i / 2 % 3 && blocks[i].z == i / 6;
    check("blocks", good);
    cudaEvent_t start, stop;
    cudaEventCreate(&start), cudaEventCreate(&stop);
    cudaEventRecord(start), cudaEventRecord(stop);
    float ms = -1;
    cudaEventElapsedTime(&ms, start, stop);
    check("events", ms >= 0);
}

int main() {
    barriers(), warps(), more_groups(), intrinsics(), memory(), launches();
    return wrong_results;
}
