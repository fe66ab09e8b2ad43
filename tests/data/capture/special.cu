// Rare functions of CUDA's mathematical API, for what they give: a line a function, of all numbers.
#include <cstdio>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int rows = 50;

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

__device__ void limits(double* out, int i) {
    __half nan = __float2half(NAN), endless = __float2half(i % 2 ? INFINITY : -INFINITY);
    __nv_bfloat16 large = __float2bfloat16(i % 2 ? 1e30f : -1e30f);
    out[0] = __half2ll_rn(nan), out[1] = __bfloat162ull_rz(__float2bfloat16(NAN)), out[2] = __half2int_rd(nan);
    out[3] = __half2ll_rz(endless), out[4] = __bfloat162uint_ru(large), out[5] = __bfloat162ll_rd(large);
    out[6] = erfcinv(i ? ldexp(i, -1074) : 1e-301);
}

__device__ void products(double* out, int i) {
    short a = 400 * (i - 40), b = 30000 - 700 * i;
    signed char p = 3 * i - 120, q = 100 - 2 * i, r = i, s = -i;
    unsigned char t = 3 * i, u = 255 - i;
    out[0] = __dp2a_lo(make_short2(a, b), make_char4(p, q, r, s), i);
    out[1] = __dp2a_hi(make_short2(a, b), make_char4(p, q, r, s), i);
    out[2] = __dp2a_lo(make_ushort2(7 * i, 60000), make_uchar4(t, u, 1, 2), 5u);
    out[3] = __dp2a_hi(make_ushort2(7 * i, 60000), make_uchar4(1, 2, t, u), 5u);
    out[4] = __dp4a(make_char4(p, q, r, s), make_char4(q, q, p, s), i);
    out[5] = __dp4a(make_uchar4(t, u, 1, 2), make_uchar4(u, u, 3, t), 5u);
}

__global__ void everything(const double* x, double* out) {
    int i = threadIdx.x;
    special(x, out + rows * i, i);
    rounded(x, out + rows * i + 10, i);
    words(out + rows * i + 20, i);
    limits(out + rows * i + 30, i);
    products(out + rows * i + 40, i);
}

int main() {
    const int n = 79;
    double *x, *out;
    cudaMallocManaged(&x, n * sizeof *x);
    cudaMallocManaged(&out, rows * n * sizeof *out);
    for (int i = 0; i < n; ++i) x[i] = (i - 39) * 37.25 + i * 0.0123;
    everything<<<1, n>>>(x, out);
    cudaDeviceSynchronize();
    for (int f = 0; f < rows; ++f)
        for (int i = 0; i < n; ++i) printf("%.17g%c", out[rows * i + f], i == n - 1 ? '\n' : ' ');
}
