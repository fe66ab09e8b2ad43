// Small kernels, each without a defect; the tests plant one by changing a line.
#include <cstdio>
#define N (1 << 15)

__global__ void scale(float *out, const float *in, const float *more) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = in[i];
  float extra = 0.0f;
  out[i] = 2.0f * value + extra;
}

__global__ void turn(float *out, const float *in) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * 256 + x];
  __syncthreads();
  int column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
  out[row * 128 + column] = tile[threadIdx.x][threadIdx.y];
}

__global__ void total(float *sum, const float *in) {
  __shared__ float parts[256];
  float mine = in[blockIdx.x * 256 + threadIdx.x];
  parts[threadIdx.x] = mine;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    atomicAdd(sum, parts[0]);
}

__global__ void weigh(float *out, const float *in, const float *weights) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = in[i];
  for (int k = 0; k < 4; k++)
    value = value * 0.5f +
            weights[k];
  out[i] = value;
}

int main() {
  float *a, *b, *c;
  cudaMalloc(&a, 8 * N * 4);
  cudaMalloc(&b, 8 * N * 4);
  cudaMalloc(&c, 8 * N * 4);
  scale<<<N / 256, 256>>>(b, a, c);
  turn<<<dim3(8, 4), dim3(32, 32)>>>(b, a);
  total<<<N / 256, 256>>>(b, a);
  weigh<<<N / 256, 256>>>(b, a, c);
  cudaDeviceSynchronize();
}
