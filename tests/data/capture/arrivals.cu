// Barriers at which some threads only arrive: prints what is wrong, or "all right".
#include <cuda/barrier>

#include <cstdio>
#include <utility>

typedef cuda::barrier<cuda::thread_scope_block> barrier;

// Warp 0 hands a value on and goes to the block's next barrier at once.
__global__ void handed_on(int* out) {
    __shared__ barrier given;
    __shared__ int value, copy;
    if (threadIdx.x == 0) init(&given, blockDim.x);
    __syncthreads();
    if (threadIdx.x < 32) {
        value = 7;
        (void)given.arrive();
    } else {
        auto token = given.arrive();
        given.wait(std::move(token));
        copy = value;
    }
    __syncthreads();
    out[threadIdx.x] = copy;
}

// A warp that fills two buffers in turn and one that empties them (CUDA C++ Programming Guide, "Warp Specialization").
__global__ void specialized(const int* in, int* out, int rounds) {
    __shared__ int room[2][32];
    __shared__ barrier empty[2], full[2];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 2) init(&empty[threadIdx.x], blockDim.x), init(&full[threadIdx.x], blockDim.x);
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < rounds; ++i) {
            empty[i % 2].arrive_and_wait();
            room[i % 2][lane] = in[i * 32 + lane];
            (void)full[i % 2].arrive();
        }
    } else {
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        for (int i = 0; i < rounds; ++i) {
            full[i % 2].arrive_and_wait();
            out[i * 32 + lane] = room[i % 2][lane];
            (void)empty[i % 2].arrive();
        }
    }
}

int main() {
    const int rounds = 6;
    int *in, *out;
    cudaMallocManaged(&in, rounds * 32 * sizeof(int));
    cudaMallocManaged(&out, rounds * 32 * sizeof(int));
    for (int i = 0; i < rounds * 32; ++i) in[i] = 3 * i;
    handed_on<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; ++i)
        if (out[i] != 7) return printf("handed_on: %d at %d\n", out[i], i), 1;
    specialized<<<1, 64>>>(in, out, rounds);
    cudaDeviceSynchronize();
    for (int i = 0; i < rounds * 32; ++i)
        if (out[i] != in[i]) return printf("specialized: %d at %d\n", out[i], i), 1;
    printf("all right\n");
}
