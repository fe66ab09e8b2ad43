// Filtered fetches from an array, fetches from linear memory, and surface stores; the host checks the sums.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void k(cudaTextureObject_t t, cudaTextureObject_t lin, cudaSurfaceObject_t s, float* o, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  o[y * w + x] = tex2D<float>(t, x + 0.75f, y + 0.5f) + tex1Dfetch<int>(lin, x);
  surf2Dwrite(o[y * w + x], s, x * 4, y);
}
int main() {
  const int w = 64, h = 16; float host[w * h], back[w * h]; int li[w];
  for (int i = 0; i < w * h; ++i) host[i] = i; for (int i = 0; i < w; ++i) li[i] = 1000 * i;
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>(); cudaArray_t a, b;
  cudaMallocArray(&a, &d, w, h); cudaMallocArray(&b, &d, w, h, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(a, 0, 0, host, w * 4, w * 4, h, cudaMemcpyHostToDevice);
  cudaResourceDesc r{}; r.resType = cudaResourceTypeArray; r.res.array.array = a;
  cudaTextureDesc td{}; td.filterMode = cudaFilterModeLinear; td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t t, lt; cudaCreateTextureObject(&t, &r, &td, 0);
  r.res.array.array = b; cudaSurfaceObject_t s; cudaCreateSurfaceObject(&s, &r);
  int* dl; cudaMalloc(&dl, sizeof li); cudaMemcpy(dl, li, sizeof li, cudaMemcpyHostToDevice);
  cudaResourceDesc q{}; q.resType = cudaResourceTypeLinear; q.res.linear.devPtr = dl; q.res.linear.desc = cudaCreateChannelDesc<int>(); q.res.linear.sizeInBytes = sizeof li;
  cudaTextureDesc qd{}; cudaCreateTextureObject(&lt, &q, &qd, 0);
  float* o; cudaMalloc(&o, sizeof back);
  k<<<dim3(1, h), w>>>(t, lt, s, o, w);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaMemcpy2DFromArray(back, w * 4, b, 0, 0, w * 4, h, cudaMemcpyDeviceToHost);
  int bad = 0;
  for (int y = 0; y < h; ++y) for (int x = 0; x < w; ++x) { float e = y * w + x + (x < w - 1 ? 0.25f : 0) + 1000 * x; bad += back[y * w + x] != e; }
  printf("%d wrong\n", bad); return bad != 0;
}
