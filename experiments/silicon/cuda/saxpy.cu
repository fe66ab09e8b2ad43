// y = a x + y: ./saxpy [n]
#include "common.h"

__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
    int n = argument(argc, argv, 1, 1 << 24);
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i)
        x[i] = i % 17, y[i] = i % 5;
    float *device_x = upload(x), *device_y = upload(y);
    saxpy<<<(n + 255) / 256, 256>>>(2, device_x, device_y, n);
    download(y, device_y);
    return verdict(y, [](size_t i) { return 2.0 * (i % 17) + i % 5; });
}
