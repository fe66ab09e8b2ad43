// Seven-point stencil on a cube: one column of points per thread, the planes above and below in registers (Micikevicius,
// "3D Finite Difference Computation on GPUs using CUDA", GPGPU-2, 2009).
// What traces/stencil.py describes: ./stencil [n [planes]], n a multiple of 32
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int WIDTH = 32, HEIGHT = 8;  // threads of a block

__global__ void seven_point(const float* a, float* b, int n, int planes) {
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
        int plane = n * n, at = y * n + x;
        float below = a[at];
        float here = a[at + plane];
        for (int z = 1; z < planes - 1; ++z) {
            at += plane;
            float above = a[at + plane];
            float around = a[at - 1] + a[at + 1] + a[at - n] + a[at + n];
            b[at] = 0.5f * here + (around + below + above) / 12;
            below = here;
            here = above;
        }
    }
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 256;
    int planes = argc > 2 ? atoi(argv[2]) : 32;
    size_t points = size_t(n) * n * planes, bytes = points * sizeof(float);

    std::vector<float> host_a(points), host_b(points);
    for (size_t i = 0; i < points; ++i)
        host_a[i] = i % 23 * 0.5f;
    float *a, *b;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMemcpy(a, host_a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemset(b, 0, bytes);
    seven_point<<<dim3(n / WIDTH, n / HEIGHT), dim3(WIDTH, HEIGHT)>>>(a, b, n, planes);
    cudaMemcpy(host_b.data(), b, bytes, cudaMemcpyDeviceToHost);

    for (int z = 0; z < planes; ++z)
        for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x) {
                size_t at = (size_t(z) * n + y) * n + x, plane = size_t(n) * n;
                bool inside = x && x < n - 1 && y && y < n - 1 && z && z < planes - 1;
                const float* p = &host_a[at];
                double expected = inside ? 0.5 * p[0] + (0.0 + p[-1] + p[1] + *(p - n) + p[n] + *(p - plane) + p[plane]) / 12 : 0;
                if (std::fabs(host_b[at] - expected) > 1e-4) {
                    printf("FAILED: b[%zu] is %f, not %f\n", at, host_b[at], expected);
                    return 1;
                }
            }
    printf("PASSED: %d planes of %d x %d\n", planes, n, n);
    cudaFree(a);
    cudaFree(b);
    return 0;
}
