// Latency against working set, by one thread along a list in random order, one element a 128-byte line (the experiment of
// experiments/pointer_chase): ./chase [smallest KB [largest KB [accesses]]]; prints CSV, cycles of the SM's clock.
#include "common.h"
#include <algorithm>

__global__ void chase(const int64_t* links, int accesses, long long* cycles, int64_t* last) {
    int64_t p = 0;
    long long begin = clock64();
    for (int i = 0; i < accesses; ++i)
        p = links[p];
    *cycles = clock64() - begin;
    *last = p;
}

int main(int argc, char** argv) {
    double kb = argument(argc, argv, 1, 8), most = argument(argc, argv, 2, 1 << 17);
    int least = argument(argc, argv, 3, 1000000);
    printf("working_set_kb,accesses,cycles_per_access\n");
    for (; kb <= most; kb *= 1.04) {
        int elements = std::max(1, int(kb * 8)), accesses = std::max(elements, least);
        std::vector<int64_t> order(elements), links(size_t(elements) * 16), last(1);
        std::vector<long long> cycles(1);
        for (int i = 0; i < elements; ++i)
            order[i] = i;
        for (int i = elements - 1; i > 1; --i)  // element 0 stays first
            std::swap(order[i], order[1 + hashed(i) % i]);
        for (int i = 0; i < elements; ++i)
            links[order[i] * 16] = order[(i + 1) % elements] * 16;
        int64_t *device_links = upload(links), *device_last = upload(last);
        long long* device_cycles = upload(cycles);
        for (int run = 0; run < 2; ++run)  // the second finds the caches as the first left them
            chase<<<1, 1>>>(device_links, accesses, device_cycles, device_last);
        download(cycles, device_cycles);
        download(last, device_last);
        if (last[0] != order[accesses % elements] * 16) {
            printf("FAILED: the walk of %d elements ended at %ld\n", elements, long(last[0]));
            return 1;
        }
        printf("%.1f,%d,%.2f\n", elements / 8.0, accesses, double(cycles[0]) / accesses);
        cudaFree(device_links), cudaFree(device_last), cudaFree(device_cycles);
    }
    return 0;
}
