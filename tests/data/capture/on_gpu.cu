// Every form of probe, through nvcc.
#include <stdio.h>

namespace probe = memsim_probe;

template <class T>
__host__ __device__ T twice(const T* p) {
    return 2 * probe::memory<20>(*p);
}

struct Pair {
    int x;
    float y;
};

struct Sum {
    float value;
    __host__ __device__ Sum(const Pair* p) : value(probe::memory<27>(p->y)) {}
    __host__ __device__ Sum operator+(const Sum& other) const { return *this; }
};

// What the front end makes of `*p + *p` where some class has an operator that takes references.
template <class T>
__host__ __device__ T doubled(const T* p) {
    return probe::operand(*p, [](auto& memsim_value) { probe::memory<28>(memsim_value); }) +
           probe::operand(*p, [](auto& memsim_value) { probe::memory<29>(memsim_value); });
}

template <class T>
__global__ void forms(T* a, double* d, volatile int* v, Pair* pairs) {
    __shared__ short s[64];
    extern __shared__ int dynamic[];
    int local[2] = {0, 0}, t = threadIdx.x;
    probe::access<10>(s[t]) = t;
    __syncthreads();
    for (int j = 0; j < t; j++, probe::latch<12>()) probe::access<11>(dynamic[j]) = t;
    probe::update<13, 14>(a[t]) += probe::call<15>([&]() -> decltype(auto) { return twice(&a[t]); });
    probe::call<15>([&]() -> decltype(auto) { return twice(&d[t]); });
    probe::access<16>(local[t & 1]) = probe::access<17>(s[31 - t]);
    probe::memory_update<18, 19>(v[t])++;
    probe::access<23>(pairs[t]).y = probe::access<24>(t + 1);
    probe::enter<26>(); Sum sum(pairs + t); probe::leave();
    pairs[t].y = doubled(&sum).value;
    a[t] = doubled(&a[t]);
    atomicAdd(probe::pointer<21>(&a[0]), T(local[t & 1]));
    if (__syncthreads_or(t == 3)) return;
    do { probe::Latch<25> latch; } while (probe::latched<22>(false));
}

int main() {
    int *a, *v;
    double* d;
    Pair* pairs;
    cudaMalloc((void**)&a, 4 * 32);
    cudaMallocManaged(&v, 4 * 32);
    cudaMalloc(&d, 8 * 32);
    cudaMalloc(&pairs, sizeof(Pair) * 32);
    probe::launch("forms", __FILE__, __LINE__, MEMSIM_KERNEL(forms<int>), probe::shape(2, 32, 128), a, d, v, pairs);
    printf("%d %s\n", twice(v), cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(a);
}
