// Times of launches between two CUDA events, with cold and with warm caches. "Flushed": 256 MB are filled before each
// launch, as triton.testing.do_bench does. Prints CSV: name, megabytes, microseconds (median of 30), SM clock (MHz).
#include "common.h"
#include <algorithm>
#include <functional>

__global__ void empty() {}
__global__ void copy(const float4* in, float4* out, size_t n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
__global__ void read(const float4* in, float4* out, size_t n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    float4 v = i < n ? in[i] : make_float4(0, 0, 0, 0);
    if (v.x + v.y + v.z + v.w == 12345.678f) out[0] = v;
}
__global__ void write(float4* out, size_t n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = make_float4(1, 2, 3, 4);
}
__global__ void clocks(long long* out) {
    long long a, b, c = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(a));
    float x = c;
    while (clock64() - c < 2000000) x = x * 1.5f + 1;
    long long d = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(b));
    out[0] = d - c, out[1] = b - a, out[2] = (long long)x;
}
static long long* stamps;
static double mhz() {
    clocks<<<1, 1>>>(stamps);
    long long host[2];
    cudaMemcpy(host, stamps, 16, cudaMemcpyDeviceToHost);
    return 1e3 * host[0] / host[1];
}
static void timed(const char* name, double mb, bool flush, char* cache, const std::function<void()>& body) {
    std::vector<float> all;
    cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b);
    for (int k = 0; k < 40; ++k) {
        if (flush) cudaMemsetAsync(cache, 0, size_t(256) << 20);
        cudaEventRecord(a);
        body();
        cudaEventRecord(b);
        cudaEventSynchronize(b);
        float ms;
        cudaEventElapsedTime(&ms, a, b);
        if (k >= 10) all.push_back(1e3f * ms);
    }
    std::sort(all.begin(), all.end());
    printf("%s,%g,%.2f,%.0f\n", name, mb, all[all.size() / 2], mhz());
}
int main() {
    char *in, *out, *cache;
    size_t most = size_t(1) << 30;
    cudaMalloc(&in, most), cudaMalloc(&out, most), cudaMalloc(&cache, size_t(256) << 20), cudaMalloc(&stamps, 64);
    cudaMemset(in, 0, most);
    printf("name,mb,us,mhz\n");
    timed("nothing", 0, false, cache, [] {});
    timed("nothing flushed", 0, true, cache, [] {});
    timed("empty", 0, false, cache, [] { empty<<<1, 32>>>(); });
    timed("empty flushed", 0, true, cache, [] { empty<<<1, 32>>>(); });
    timed("empty 1320 blocks flushed", 0, true, cache, [] { empty<<<1320, 256>>>(); });
    timed("ten empty", 0, false, cache, [] { for (int k = 0; k < 10; ++k) empty<<<1, 32>>>(); });
    timed("hundred empty", 0, false, cache, [] { for (int k = 0; k < 100; ++k) empty<<<1, 32>>>(); });
    for (double mb : {0.0625, 0.25, 1., 4., 8., 16., 32., 64., 128., 256., 1024.}) {
        size_t n = size_t(mb * 65536);
        int blocks = (n + 255) / 256;
        auto a = (float4*)in, b = (float4*)out;
        timed("copy flushed", mb, true, cache, [=] { copy<<<blocks, 256>>>(a, b, n); });
        timed("copy warm", mb, false, cache, [=] { copy<<<blocks, 256>>>(a, b, n); });
        timed("read flushed", mb, true, cache, [=] { read<<<blocks, 256>>>(a, b, n); });
        timed("read warm", mb, false, cache, [=] { read<<<blocks, 256>>>(a, b, n); });
        timed("write flushed", mb, true, cache, [=] { write<<<blocks, 256>>>(b, n); });
        timed("memset flushed", mb, true, cache, [=] { cudaMemsetAsync(out, 0, n * 16); });
        timed("memcpy flushed", mb, true, cache, [=] { cudaMemcpyAsync(out, in, n * 16, cudaMemcpyDeviceToDevice); });
    }
    return cudaDeviceSynchronize();
}
