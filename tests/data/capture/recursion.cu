// Functions that call themselves, and two that call each other: the compiler cannot bound their stack.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int threads = 128, values = 24, depth = 300;

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ void sort(int* a, int low, int high) {
  if (low >= high) return;
  int pivot = a[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (a[i] < pivot) ++i;
    while (a[j] > pivot) --j;
    if (i <= j) {
      int t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
  }
  sort(a, low, j);
  sort(a, i, high);
}

__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : 3 * odd(n - 1) + 1; }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1) + 2; }

__device__ __noinline__ int sum_of(const int* a, int n) {
  if (n == 0) return 0;
  int below = sum_of(a, n - 1);
  return below + a[below % threads];  // both are needed after the call, so the call stays one
}

__global__ void small(int* data, int* numbers, int* parities) {
  int i = threadIdx.x;
  numbers[i] = fibonacci(i % 13);
  parities[i] = even(i % 8);
  sort(data + i * values, 0, values - 1);
}

__global__ void deep(int* sums, const int* numbers) { sums[threadIdx.x] = sum_of(numbers, depth + threadIdx.x); }

int main() {
  static int data[threads * values], numbers[threads], parities[threads], sums[threads];
  for (int i = 0; i < threads * values; ++i) data[i] = (i * 7919 + 13) % 1009;
  int *d, *n, *p, *s;
  cudaMalloc(&d, sizeof data);
  cudaMalloc(&n, sizeof numbers);
  cudaMalloc(&p, sizeof parities);
  cudaMalloc(&s, sizeof sums);
  cudaMemcpy(d, data, sizeof data, cudaMemcpyHostToDevice);
  small<<<1, threads>>>(d, n, p);
  cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10);
  deep<<<1, threads>>>(s, n);
  cudaMemcpy(data, d, sizeof data, cudaMemcpyDeviceToHost);
  cudaMemcpy(numbers, n, sizeof numbers, cudaMemcpyDeviceToHost);
  cudaMemcpy(parities, p, sizeof parities, cudaMemcpyDeviceToHost);
  cudaMemcpy(sums, s, sizeof sums, cudaMemcpyDeviceToHost);

  int wrong = cudaGetLastError() != cudaSuccess;
  const int first[13] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
  for (int i = 0; i < threads; ++i) {
    int even_or_odd[2] = {1, 0};  // of n = 0, then of each n
    for (int k = 0; k < i % 8; ++k) {
      int next = 3 * even_or_odd[1] + 1;
      even_or_odd[1] = even_or_odd[0] + 2;
      even_or_odd[0] = next;
    }
    wrong += numbers[i] != first[i % 13];
    wrong += parities[i] != even_or_odd[0];
    int sum = 0;
    for (int k = 0; k < depth + i; ++k) sum += numbers[sum % threads];
    wrong += sums[i] != sum;
    for (int j = 1; j < values; ++j) wrong += data[i * values + j - 1] > data[i * values + j];
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
