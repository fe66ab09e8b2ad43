// Pipelines and barriers of several threads: prints what is wrong, or "all right".
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

const int threads = 96, stages = 3, tiles = 7, tile = 64, n = tiles * tile, blocks = 2;

#define CHECK(what) if (!(what)) { printf("wrong: %s (line %d)\n", #what, __LINE__); exit(1); }

// Warp 0 fetches, the others add up; 64 of them.
__global__ void roles(const int* in, int* out) {
    __shared__ int room[stages][tile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    bool fetches = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(
        block, &state, fetches ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0;
    for (int t = 0; t < tiles; ++t) {
        int* at = room[t % stages];
        if (fetches) {
            pipe.producer_acquire();
            for (int i = threadIdx.x; i < tile; i += 32)
                cuda::memcpy_async(at + i, in + (blockIdx.x * tiles + t) * tile + i, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += at[(threadIdx.x + t) % tile];
            pipe.consumer_release();
        }
    }
    if (!fetches) out[blockIdx.x * tile + threadIdx.x - 32] = sum;
}

// All fetch and add up, two stages ahead.
__global__ void unified(const int* in, int* out) {
    __shared__ int room[stages][tile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int t = 0, fetched = 0; t < tiles; ++t) {
        for (; fetched < tiles && fetched < t + stages; ++fetched) {
            pipe.producer_acquire();
            const int* from = in + (blockIdx.x * tiles + fetched) * tile;
            cuda::memcpy_async(block, room[fetched % stages], from, tile * sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += room[t % stages][(threadIdx.x + t) % tile];
        pipe.consumer_release();
    }
    if (threadIdx.x < tile) out[blockIdx.x * tile + threadIdx.x] = sum;
}

// A barrier of half the block, passed several times; the other half is not held up.
__global__ void halves(int* out) {
    __shared__ int turns[tile];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, 32);
    __syncthreads();
    if (threadIdx.x >= 32) return;
    turns[threadIdx.x] = 0;
    for (int turn = 1; turn <= 5; ++turn) {
        turns[threadIdx.x] = turn;
        bar.arrive_and_wait();
        if (turns[31 - threadIdx.x] != turn) out[0] = -1;
        auto token = bar.arrive();
        bar.wait(static_cast<decltype(token)&&>(token));
    }
    atomicAdd(out, 1);
}

template <class Group>
__device__ void stage(const Group& group, int* to, const int* from) {
    cg::memcpy_async(group, to, from, tile * sizeof(int));
    cg::wait(group);
}

// A group's copy, by a function that leaves open which group it is.
__global__ void staged(const int* in, int* out) {
    __shared__ alignas(16) int room[tile];
    stage(cg::this_thread_block(), room, in + blockIdx.x * tile);
    if (threadIdx.x < tile) out[blockIdx.x * tile + threadIdx.x] = room[tile - 1 - threadIdx.x];
}

// A group's copy, waited for by the group; pointers of a type that the template leaves open.
template <int Tile>
__global__ void reversed(const int* in, int* out) {
    __shared__ alignas(alignof(int4)) int room[Tile];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, room, in + blockIdx.x * tile, tile * sizeof(int));
    cg::wait(block);
    if (threadIdx.x < tile) out[blockIdx.x * tile + threadIdx.x] = room[tile - 1 - threadIdx.x];
}

int main() {
    int *in, *out, *passed;
    cudaMallocManaged(&in, blocks * n * sizeof(int));
    cudaMallocManaged(&out, blocks * tile * sizeof(int));
    cudaMallocManaged(&passed, sizeof(int));
    for (int i = 0; i < blocks * n; ++i) in[i] = i * 7919 % 1009;
    auto expected = [&](int block, int thread, int first) {
        int sum = 0;
        for (int t = 0; t < tiles; ++t) sum += in[(block * tiles + t) * tile + (thread + first + t) % tile];
        return sum;
    };
    roles<<<blocks, threads>>>(in, out);
    cudaDeviceSynchronize();
    for (int k = 0; k < blocks * tile; ++k) CHECK(out[k] == expected(k / tile, k % tile, 32));
    unified<<<blocks, threads>>>(in, out);
    cudaDeviceSynchronize();
    for (int k = 0; k < blocks * tile; ++k) CHECK(out[k] == expected(k / tile, k % tile, 0));
    halves<<<1, threads>>>(passed);
    cudaDeviceSynchronize();
    CHECK(*passed == 32);
    reversed<tile><<<blocks, threads>>>(in, out);
    cudaDeviceSynchronize();
    for (int k = 0; k < blocks * tile; ++k) CHECK(out[k] == in[k / tile * tile + tile - 1 - k % tile]);
    cudaMemset(out, 0, blocks * tile * sizeof(int));
    staged<<<blocks, threads>>>(in, out);
    cudaDeviceSynchronize();
    for (int k = 0; k < blocks * tile; ++k) CHECK(out[k] == in[k / tile * tile + tile - 1 - k % tile]);
    printf("all right\n");
}
