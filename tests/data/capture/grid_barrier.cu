// Blocks that wait for each other, twice: what each has in shared memory and on its threads' stacks must outlive the
// others' turns. With PLAIN, each block waits for itself alone: other sums at the same addresses; with ALONE, in a
// cooperative launch. With EARLY, one block has ended before the others wait; with SPLIT, one warp of each waits for its
// block, with SHORT, one thread has ended; with OWN, they wait for a counter. With LARGE, more blocks are tried at first.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

constexpr int n_blocks = 37, n_threads = 96;

__global__ void sums(const int* in, int* of_block, int* of_all, int* out, int n) {
    __shared__ int own[n_threads];
    extern __shared__ int number[];
    cg::grid_group grid = cg::this_grid();
    auto wait = [&] {
#if defined(PLAIN) || defined(ALONE)
        __syncthreads();
#elif defined(SPLIT)
        if (threadIdx.x < 32) __syncthreads();
        else grid.sync();
#elif defined(OWN)
        atomicAdd(out, 1);
        while (atomicCAS(out, 0, 0) < gridDim.x * blockDim.x) {}
#else
        grid.sync();
#endif
    };
#ifdef EARLY
    if (blockIdx.x == 3) return;
#elif defined(SHORT)
    if (threadIdx.x == 5) return;
#endif
    int on_stack[3] = {int(blockIdx.x), int(threadIdx.x), 0};
    int* seen = on_stack + (n > 0);
    own[threadIdx.x] = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) own[threadIdx.x] += in[i];
    number[threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int t = 0; t < n_threads; ++t) of_block[blockIdx.x] += own[t];
    wait();
    if (blockIdx.x == 0) __syncthreads();  // its threads come to the next barrier in another order
    if (threadIdx.x % 2)
        for (int b = 0; b < gridDim.x; ++b) on_stack[2] += of_block[b];
    if (threadIdx.x == n_threads - 1) of_all[blockIdx.x] = on_stack[2];
    wait();
    bool kept = number[threadIdx.x] == blockIdx.x && on_stack[0] == blockIdx.x && *seen == threadIdx.x;
    for (int b = threadIdx.x; b < gridDim.x; b += n_threads) kept &= of_all[b] == n;
    atomicAdd(out + blockIdx.x, !kept);
}

int main() {
    int n = 5000, can = 0;
    cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0);
    int *in, *of_block, *of_all, *out;
    cudaMallocManaged(&in, n * sizeof *in);
    cudaMallocManaged(&of_block, n_blocks * sizeof *of_block);
    cudaMallocManaged(&of_all, n_blocks * sizeof *of_all);
    cudaMallocManaged(&out, n_blocks * sizeof *out);
    for (int i = 0; i < n; ++i) in[i] = 1;
    for (int* one : {of_block, of_all, out}) cudaMemset(one, 0, n_blocks * sizeof *one);
    void* arguments[] = {&in, &of_block, &of_all, &out, &n};
    size_t shared = n_threads * sizeof(int);
#if defined(PLAIN) || defined(NOT_COOPERATIVE)
    sums<<<n_blocks, n_threads, shared>>>(in, of_block, of_all, out, n);
    bool right = can;
#else
#ifdef LARGE
    can &= cudaLaunchCooperativeKernel((void*)sums, 100 * n_blocks, n_threads, arguments, shared, 0) ==
               cudaErrorCooperativeLaunchTooLarge &&
           cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge;
#endif
    bool right = can && !cudaLaunchCooperativeKernel((void*)sums, n_blocks, n_threads, arguments, shared, 0);
#ifndef ALONE
    for (int b = 0; b < n_blocks; ++b) right &= out[b] == 0;
#endif
#endif
    puts(right ? "passed" : "failed");
    return !right;
}
