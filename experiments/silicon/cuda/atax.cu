// The second pass of y = A^T (A x): columns of a matrix in row order, one per thread: ./atax [rows [columns]]
#include "common.h"

__global__ void times_transposed(const float* a, const float* t, float* y, int rows, int columns) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < columns) {
        float sum = 0;
        for (int i = 0; i < rows; ++i)
            sum += a[i * columns + j] * t[i];
        y[j] = sum;
    }
}

int main(int argc, char** argv) {
    int rows = argument(argc, argv, 1, 4096), columns = argument(argc, argv, 2, 4096);
    std::vector<float> a(size_t(rows) * columns), t(rows), y(columns);
    for (size_t k = 0; k < a.size(); ++k)
        a[k] = k % 3;
    for (int i = 0; i < rows; ++i)
        t[i] = i % 4;
    float *device_a = upload(a), *device_t = upload(t), *device_y = upload(y);
    times_transposed<<<(columns + 255) / 256, 256>>>(device_a, device_t, device_y, rows, columns);
    download(y, device_y);
    return verdict(y, [&](size_t j) {
        double sum = 0;
        for (int i = 0; i < rows; ++i)
            sum += a[size_t(i) * columns + j] * t[i];
        return sum;
    }, 1e-5);
}
