// Counts of 256 values, with atomics on global memory: ./histogram [n]
#include "common.h"

__global__ void count(const unsigned* data, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[data[i] & 255], 1u);
}

int main(int argc, char** argv) {
    int n = argument(argc, argv, 1, 1 << 22);
    std::vector<unsigned> data(n), bins(256), right(256);
    for (int i = 0; i < n; ++i)
        ++right[(data[i] = hashed(i)) & 255];
    unsigned *device_data = upload(data), *device_bins = upload(bins);
    count<<<(n + 255) / 256, 256>>>(device_data, device_bins, n);
    download(bins, device_bins);
    return verdict(bins, [&](size_t i) { return right[i]; });
}
