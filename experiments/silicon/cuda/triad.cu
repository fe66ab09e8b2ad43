// STREAM's triad on doubles, a = b + s c: ./triad [n]
#include "common.h"

__global__ void triad(double* a, const double* b, const double* c, double s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + s * c[i];
}

int main(int argc, char** argv) {
    int n = argument(argc, argv, 1, 1 << 24);
    std::vector<double> a(n), b(n), c(n);
    for (int i = 0; i < n; ++i)
        b[i] = i % 11, c[i] = i % 7;
    double *device_a = upload(a), *device_b = upload(b), *device_c = upload(c);
    triad<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, 3, n);
    download(a, device_a);
    return verdict(a, [](size_t i) { return i % 11 + 3.0 * (i % 7); });
}
