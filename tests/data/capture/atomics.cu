// Atomic objects, and a copy by a pipeline; exit code: the step that went wrong.
#include <cuda/atomic>
#include <cuda/pipeline>
__device__ cuda::atomic<int, cuda::thread_scope_device> counter(0);

__global__ void count(int *bins, float *sum, int *flag, int *order) {
    __shared__ int staged[64];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&staged[threadIdx.x], &order[threadIdx.x], cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
    cuda::atomic_ref<int, cuda::thread_scope_device> bin(bins[threadIdx.x % 4]);
    bin.fetch_add(2, cuda::memory_order_relaxed);
    int mine = counter.fetch_add(1, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<float, cuda::thread_scope_block> total(*sum);
    total += 1.0f;
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]), once(flag[1]);
    if (threadIdx.x == 63) ready.store(1, cuda::memory_order_release);
    else while (ready.load(cuda::memory_order_acquire) == 0) {}
    int expected = 0;
    once.compare_exchange_strong(expected, 7);
    pipe.consumer_wait();
    order[threadIdx.x] = mine + staged[threadIdx.x];
}

int main() {
    int *bins, *flag, *order, host[64], bin;
    float *sum, total;
    cudaMalloc(&bins, 16);
    cudaMalloc(&flag, 8);
    cudaMalloc(&order, 256);
    cudaMalloc(&sum, 4);
    cudaMemset(bins, 0, 16);
    cudaMemset(flag, 0, 8);
    cudaMemset(order, 0, 256);
    cudaMemset(sum, 0, 4);
    count<<<1, 64>>>(bins, sum, flag, order);
    cudaMemcpy(&bin, bins, 4, cudaMemcpyDeviceToHost);
    if (bin != 32) return 1;
    cudaMemcpy(&total, sum, 4, cudaMemcpyDeviceToHost);
    if (total != 64) return 2;
    cudaMemcpy(&bin, flag + 1, 4, cudaMemcpyDeviceToHost);
    if (bin != 7) return 3;
    cudaMemcpy(host, order, 256, cudaMemcpyDeviceToHost);
    int all = 0;
    for (int i = 0; i < 64; i++) all += host[i];
    return all != 63 * 32 ? 4 : 0;
}
