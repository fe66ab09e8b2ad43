// Prints what the program is told of its GPU, by both kinds of queries.
#include <cstdio>

__global__ void nothing() {}

int main() {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    cudaDeviceAttr queries[] = {cudaDevAttrMultiProcessorCount, cudaDevAttrMaxThreadsPerMultiProcessor,
                                cudaDevAttrMaxSharedMemoryPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                cudaDevAttrL2CacheSize, cudaDevAttrClockRate, cudaDevAttrMemoryClockRate,
                                cudaDevAttrGlobalMemoryBusWidth, cudaDevAttrComputeCapabilityMajor,
                                cudaDevAttrComputeCapabilityMinor, cudaDevAttrMaxBlocksPerMultiprocessor};
    for (cudaDeviceAttr query : queries) {
        int value = -1;
        cudaDeviceGetAttribute(&value, query, 0);
        printf("%d ", value);
    }
    int blocks;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 0);
    printf("%d\n%d %d %zu %zu %d\n", blocks, p.multiProcessorCount, p.maxThreadsPerMultiProcessor,
           p.sharedMemPerMultiprocessor, p.sharedMemPerBlockOptin, p.l2CacheSize);
    fflush(stdout);
    nothing<<<1, 32>>>();
    return cudaDeviceSynchronize();
}
