// Kernels with probes put in by hand: what the log says of them is known word for word.
#include "memsim_probe.h"

using namespace memsim_probe;
#define RUN(kernel, config, ...) launch(#kernel, "logged.cu", 7, MEMSIM_KERNEL(kernel), shape config, __VA_ARGS__)

__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) access<3>(y[i]) = a * access<1>(x[i]) + access<2>(y[i]);
}

template <class T>
__device__ T twice(const T* p) {
    return 2 * memory<20>(*p);
}

// Every form once: barrier, call, loops, update, pointer, shared memory of both kinds, the thread's own stack.
__constant__ double scale[2] = {1, 2};
static Symbol scale_symbol("scale", &scale, sizeof scale, sizeof(double), constant);
struct Triple {
    int x, y, z;
};
__global__ void forms(int* a, double* d, const Triple* triples) {
    __shared__ short s[4];
    Shared shared_s("s", &s, sizeof s, sizeof(short));
    int* dynamic = dynamic_shared<int>("dyn");
    int local[2] = {0, 0}, t = threadIdx.x;
    access<10>(s[t]) = t;
    __syncthreads();
    for (int j = 0; j < t; j++, latch<12>()) access<11>(dynamic[j]) = t;
    update<13, 14>(a[t]) += call<15>([&]() -> decltype(auto) { return twice(&a[t]); });
    access<16>(local[t & 1]) = access<17>(s[3 - t]);
    memory<18>(*&local[0]) = 1;
    d[0] = access<19>(scale[1]) + call<15>([&] { return twice(&d[t]); });
    atomicAdd(pointer<21>(&a[0]), 1);
    Triple copied = access<30>(triples[t]);
    (void)copied;
    do { } while (latched<22>(false)); }

int main() {
    float *x, *d_y;
    int* a;
    double* d;
    cudaMalloc((void**)&x, 4 * 1000);
    cudaMalloc(&d_y, 4 * 1000);
    for (int i = 0; i < 1000; ++i) x[i] = i, d_y[i] = 1;
    RUN(saxpy, (8, 128), 2.0f, x, d_y, 1000);
    cudaFree(x);
    cudaMallocManaged(&a, 16);
    cudaMalloc(reinterpret_cast<void**>(&d), 32);
    RUN(forms, (2, 4, 12), a, d, reinterpret_cast<Triple*>(d_y));
    bool good = d_y[999] == 1999;
    puts(good ? "passed" : "failed");
}
