// Thrust beside a kernel of one's own: algorithms run on the host, vectors are arrays that kernels may access.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cstdio>

struct Twice {
    __host__ __device__ float operator()(float x) const { return 2 * x; }
};

__global__ void scale(float* a, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= factor;
}

int main() {
    int n = 1000;
    thrust::host_vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = i * 7 % n;
    thrust::device_vector<float> numbers = host, sums(n);
    scale<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(numbers.data()), 3.0f, n);
    thrust::sort(thrust::cuda::par.on(0), numbers.begin(), numbers.end());
    thrust::transform(numbers.begin(), numbers.end(), numbers.begin(), Twice());
    thrust::inclusive_scan(thrust::device, numbers.begin(), numbers.end(), sums.begin());
    float sum = thrust::reduce(numbers.begin(), numbers.end(), 0.0f, thrust::plus<float>());
    printf("%g %g %g %g\n", sum, (float)numbers[1], (float)numbers[n - 1], (float)sums[n - 1]);
    return !(sum == 2997000 && numbers[1] == 6 && numbers[n - 1] == 5994 && sums[n - 1] == sum);
}
