// Host code in C++: it sees the runtime API, and its own functions may have device functions' names.
#include <cuda_runtime.h>

static unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
int max(int a, int b) { return a > b ? a : b; }
float rsqrtf(float x) { return 1 / x; }

extern "C" float sum_in_kernel(const float* values, unsigned n);

extern "C" float sum_on_device(const float* values, int n) {
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventRecord(event);
    return sum_in_kernel(values, umin(n, 1000)) * max(1, 0) * rsqrtf(1);
}
