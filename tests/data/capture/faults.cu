// What ends a capture, by the program's argument.
#include "memsim_probe.h"

#define RUN(kernel, config, ...)                                                                                       \
    memsim_probe::launch(#kernel, "faults.cu", 9, MEMSIM_KERNEL(kernel), memsim_probe::shape config, __VA_ARGS__)

__global__ void outside(int* p, long i) { p[i * threadIdx.x] = 1; }
__global__ void divides(int* p) { p[0] /= p[1]; }
__global__ void diverges(int* p) {
    if (threadIdx.x < 8) __syncthreads();
    else p[0] = __shfl_sync(~0u, p[0], 0);
}
__global__ void foreign_mask(int* p) { p[0] = __shfl_sync(1u << 31, p[0], 0); }
__device__ int depth(volatile int n) {
    volatile char room[32 << 10];
    room[n] = n;
    return n ? depth(n - 1) + room[n] : 0;
}
__global__ void deep(int* p) { p[0] = depth(p[0]); }
__global__ void waits(int* p) {
    while (atomicCAS(p, 1, 1) != 1) {}
}
__global__ void traps(int* p) { __trap(); }
__global__ void filters(cudaTextureObject_t line, float at) { tex1D<float>(line, at); }
static cudaTextureObject_t filtered() {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 5);
    cudaResourceDesc what{};
    what.resType = cudaResourceTypeArray;
    what.res.array.array = array;
    cudaTextureDesc how{};
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t line;
    cudaCreateTextureObject(&line, &what, &how, nullptr);
    return line;
}
#line 24 "faults.cu"
__global__ void asserts(int* p) { assert(threadIdx.x < 3 || p == nullptr); }

int main(int argc, char** argv) {
    int* field = nullptr;
    cudaMalloc((void**)&field, 4000);
    const char* what = argv[1];
    if (!strcmp(what, "outside")) RUN(outside, (dim3(1, 2), 32), field, 1L << 18);
    if (!strcmp(what, "before")) RUN(outside, (1, 32), field, -(1L << 17));
    if (!strcmp(what, "divides")) RUN(divides, (1, 1), field);
    if (!strcmp(what, "diverges")) RUN(diverges, (1, 32), field);
    if (!strcmp(what, "foreign_mask")) RUN(foreign_mask, (1, 32), field);
    if (!strcmp(what, "deep")) field[0] = 20, RUN(deep, (1, 1), field);
    if (!strcmp(what, "waits")) RUN(waits, (1, 1), field);
    if (!strcmp(what, "filters")) RUN(filters, (1, 1), filtered(), 1.75f);
    if (!strcmp(what, "filters_above")) RUN(filters, (1, 1), filtered(), 1.5f + 1.f / 400);
    if (!strcmp(what, "filters_below")) RUN(filters, (1, 1), filtered(), 1.5f - 1.f / 400);
    if (!strcmp(what, "traps")) RUN(traps, (1, 1), field);
    if (!strcmp(what, "asserts")) RUN(asserts, (dim3(1, 2), 32), field);
    if (!strcmp(what, "host_assert")) assert(argc == 5);
    if (!strcmp(what, "host")) *static_cast<volatile int*>(nullptr) = 1;
    if (!strcmp(what, "host_barrier")) __syncthreads();
    puts("went on");
}
