// What the libraries' headers compute, printed for comparison: a line of numbers each.
#include <cublas_v2.h>
#include <cublasLt.h>
#include <cuda_fp8.h>
#include <cudnn.h>
#include <cufft.h>
#include <curand.h>
#include <curand_kernel.h>
#include <cusparse.h>
#include <mma.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void xorwow(unsigned *out, unsigned long long seed, int sequence, int offset) {
    curandState state;
    curand_init(seed, sequence, offset, &state);
    for (int i = 0; i < 4; ++i) out[i] = curand(&state);
}
__global__ void philox(unsigned *out, unsigned long long seed, int sequence, int offset) {
    curandStatePhilox4_32_10_t state;
    curand_init(seed, sequence, offset, &state);
    for (int i = 0; i < 4; ++i) out[i] = curand(&state);
}
__global__ void draw(float *out) {
    curandState state;
    curand_init(7, threadIdx.x, 0, &state);
    out[2 * threadIdx.x] = curand_uniform(&state);
    out[2 * threadIdx.x + 1] = curand_normal(&state);
}
__global__ void product(half *a) {
    nvcuda::wmma::bmma_sync(a, a, a, a);
}

template <class T>
T *on_device(const std::vector<T> &from) {
    T *to;
    cudaMalloc(&to, from.size() * sizeof(T));
    cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return to;
}
template <class T>
void print(const T *from, size_t n) {
    std::vector<T> back(n);
    cudaMemcpy(back.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost);
    for (T x : back) printf("%.10g ", double(x));
    puts("");
}
std::vector<float> ramp(int n, int step) {
    std::vector<float> x(n);
    for (int i = 0; i < n; ++i) x[i] = i * step % 17 - 5;
    return x;
}

int main(int argc, char **argv) {
    cublasHandle_t handle;
    cublasCreate(&handle);
    float two = 2, half_of = 0.5f;
    float *a = on_device(ramp(40, 3)), *b = on_device(ramp(40, 5));
    for (int ta = 0; ta < 2; ++ta)
        for (int tb = 0; tb < 2; ++tb) {  // 4 x 3, of leading dimension 6, from 4 x 5 and 5 x 3
            float *c = on_device(ramp(18, 7));
            cublasSgemm(handle, cublasOperation_t(ta), cublasOperation_t(tb), 4, 3, 5, &two, a, ta ? 6 : 5, b,
                        tb ? 4 : 7, &half_of, c, 6);
            print(c, 18);
        }
    float *y = on_device(ramp(5, 2));
    cublasSgemv(handle, CUBLAS_OP_T, 4, 5, &two, a, 4, b, 2, &half_of, y, 1);
    print(y, 5);
    cublasSaxpy(handle, 5, &two, b, 3, y, 1);
    print(y, 5);
    float dot, norm;
    cublasSdot(handle, 10, a, 1, b, 2, &dot);
    cublasSnrm2(handle, 10, a, 1, &norm);
    int largest;
    cublasIsamax(handle, 10, a, 1, &largest);
    printf("%.9g %.9g %d\n", dot, norm, largest);
    unsigned *numbers;
    cudaMalloc(&numbers, 16);
    int sequences[][2] = {{0, 0}, {0, 7}, {1, 0}, {5, 3}};
    for (auto &[sequence, offset] : sequences) {
        xorwow<<<1, 1>>>(numbers, 1234, sequence, offset);
        print(numbers, 4);
    }
    for (auto &[sequence, offset] : sequences) {
        philox<<<1, 1>>>(numbers, 0, sequence, offset);
        print(numbers, 4);
    }
    std::vector<float> eight(256), five(256);
    for (int i = 0; i < 256; ++i) {
        float x = (i - 128) * (i - 128) * (i - 128) * 0.0003f;
        eight[i] = float(__nv_fp8_e4m3(x));
        five[i] = float(__nv_fp8_e5m2(x));
    }
    print(on_device(eight), 256);
    print(on_device(five), 256);
    float *drawn;
    cudaMalloc(&drawn, 2048 * sizeof(float));
    draw<<<1, 1024>>>(drawn);
    print(drawn, 2048);
    if (argc > 1 && atoi(argv[1]) == 1) cublasStrsm(handle, CUBLAS_SIDE_LEFT);
    if (argc > 1 && atoi(argv[1]) == 2) product<<<1, 32>>>((half *)a);
    cublasDestroy(handle);
}
