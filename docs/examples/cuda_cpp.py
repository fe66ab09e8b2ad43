"""A program in CUDA C++

The program runs unchanged, without a GPU: memsim takes the place of the CUDA runtime. This needs nvcc, from a toolkit
on `PATH` or from `pip install 'memsim[cuda]'`.
"""

from pathlib import Path

import memsim

Path("scale.cu").write_text("""
#include <cstdio>
__global__ void scale(float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
int main() {
    const int n = 1 << 18;
    float *x, y;
    cudaMallocManaged(&x, n * sizeof(float));
    for (int i = 0; i < n; ++i) x[i] = i;
    scale<<<n / 256, 256>>>(x, 2.0f, n);
    cudaDeviceSynchronize();
    printf("x[7] = %g\\n", x[7]);
    return x[7] == 14 ? 0 : 1;
}
""")
captured = memsim.capture("scale.cu", gpu="rtx4090")
result = memsim.simulate(captured.trace, trials=4)
print(result.loads)
print(f"{1000 * result.kernel_time.mean:.2f} us on {result.gpu}")
