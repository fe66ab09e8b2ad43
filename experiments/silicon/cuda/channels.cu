// Latency of main memory under load (Baghsorkhi et al., PPoPP 2012, 3.2.3): a warp an SM, so many lanes of which read
// one sector each, all far apart and none in a cache: ./channels [SMs [stride in bytes]]; prints CSV, SM cycles.
#include "common.h"

__global__ void probe(const int* memory, size_t stride, int lanes, int round, long long* cycles, int* sum) {
    size_t mine = (size_t(round) * gridDim.x + blockIdx.x) * 32 + threadIdx.x;
    int found = 0;
    __syncthreads();
    long long begin = clock64();
    if (threadIdx.x < lanes)
        found = memory[mine * stride / sizeof(int)];
    if (__syncthreads_or(found == 2))  // no thread gets here before its data
        return;
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
    atomicAdd(sum, found);
}

int main(int argc, char** argv) {
    const int rounds = 32;
    int sms = argument(argc, argv, 1, 80);
    size_t stride = argument(argc, argv, 2, 2080);  // no multiple of a power of two: all channels and banks
    size_t elements = stride / sizeof(int) * 32 * sms * (rounds + 1);
    std::vector<int> memory(elements, 1), sum(1);
    std::vector<long long> cycles(sms);
    int *device_memory = upload(memory), *device_sum = upload(sum);
    long long* device_cycles = upload(cycles);
    printf("lanes,sms,mean_cycles\n");
    int asked = 0;
    for (int lanes = 1; lanes <= 32; ++lanes) {
        double total = 0;
        for (int round = 0; round < rounds; ++round) {
            probe<<<sms, 32>>>(device_memory, stride, lanes, (round + lanes) % (rounds + 1), device_cycles, device_sum);
            download(cycles, device_cycles);
            for (long long one : cycles)
                total += one;
            asked += lanes * sms;
        }
        printf("%d,%d,%.1f\n", lanes, sms, total / rounds / sms);
    }
    download(sum, device_sum);
    if (sum[0] != asked) {
        printf("FAILED: %d reads, not %d\n", sum[0], asked);
        return 1;
    }
    return 0;
}
