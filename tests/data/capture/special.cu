// Rare functions of CUDA's mathematical API, for what they give: a line a function, of all numbers.
#include <cstdio>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ void special(const double* x, double* out, int i) {
    double q = (i + 1) / 40.0;  // 0 to 2
    out[0] = erfinv(q - 1), out[1] = erfcinv(q), out[2] = normcdfinv(q / 2), out[3] = cyl_bessel_i0(x[i] / 100);
    out[4] = cyl_bessel_i1(x[i] / 100), out[5] = norm4d(q, 2., 3., 4.), out[6] = erfcinv(q * 1e-12);
}

__device__ void rounded(const double* x, double* out, int i) {
    float v = float(x[i]);
    out[0] = __half2float(__float2half_rz(v)), out[1] = __half2float(__float2half_ru(v));
    out[2] = __half2float(__float2half_rd(v)), out[3] = __half2float(__int2half_rn(int(x[i])));
    out[4] = __half2float(__int2half_ru(int(x[i]))), out[5] = __half2int_ru(__float2half(v));
    out[6] = __bfloat162float(__ll2bfloat16_rn((1LL << 40) + (1LL << 32) + i)), out[7] = __half2short_rd(__float2half(v));
    out[8] = __half2uchar_rz(__float2half(v)), out[9] = __bfloat162float(__float2bfloat16_rd(v));
}

__device__ void words(double* out, int i) {
    bool high, low;
    int a = i * 0x10003 - 0x200040, b = 0x7FFF8000 - i * 12345, c = i * 99 - 3000;
    out[0] = __viaddmax_s32(a, c, b), out[1] = __vimin3_s32_relu(a, b, c), out[2] = __viaddmin_u16x2(a, b, c);
    out[3] = __vibmax_s16x2(a, b, &high, &low), out[4] = 2 * high + low, out[5] = __dp2a_hi(a, b, c);
    out[6] = __dp2a_lo(unsigned(a), unsigned(b), 7u), out[7] = __funnelshift_rc(a, b, i);
    out[8] = __heq2_mask(__floats2half2_rn(a, 1), __floats2half2_rn(a, 2));
    out[9] = __hneu(__float2half(NAN), __float2half(1)) + 2 * __hne(__float2half(NAN), __float2half(1));
}

__global__ void everything(const double* x, double* out) {
    int i = threadIdx.x;
    special(x, out + 30 * i, i);
    rounded(x, out + 30 * i + 10, i);
    words(out + 30 * i + 20, i);
}

int main() {
    const int n = 79;
    double *x, *out;
    cudaMallocManaged(&x, n * sizeof *x);
    cudaMallocManaged(&out, 30 * n * sizeof *out);
    for (int i = 0; i < n; ++i) x[i] = (i - 39) * 37.25 + i * 0.0123;
    everything<<<1, n>>>(x, out);
    cudaDeviceSynchronize();
    for (int f = 0; f < 30; ++f)
        for (int i = 0; i < n; ++i) printf("%.17g%c", out[30 * i + f], i == n - 1 ? '\n' : ' ');
}
