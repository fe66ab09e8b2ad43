/* Host code in C that calls the runtime API. */
#include <cuda_runtime.h>

float sum_on_device(const float* values, int n);

int main(void) {
    float *device, host[4] = {1, 2, 3, 4}, back = 0;
    struct cudaDeviceProp properties;
    cudaEvent_t event;
    dim3 shape = {1, 2, 3};
    float4 vector = make_float4(1, 2, 3, 4);
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.warpSize != 32) return 1;
    if (cudaMalloc((void**)&device, sizeof host) != cudaSuccess) return 2;
    cudaEventCreate(&event);
    if (cudaEventQuery(event) != cudaSuccess) return 4;
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(&back, device + 2, sizeof back, cudaMemcpyDeviceToHost);
    printf("%g %g %g %s\n", sum_on_device(device, 4), back, vector.w + shape.z, cudaGetErrorString(cudaSetDevice(7)));
    return cudaGetLastError() == cudaErrorInvalidDevice ? 0 : 3;
}
