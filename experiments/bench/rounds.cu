// Five rounds of three kernels: a product of n x n matrices, the norm of each of its rows, and a sum: ./rounds [n [rounds]]
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int TILE = 16;

// c = a b, a tile of c per block.
__global__ void product(const float* a, const float* b, float* c, int n) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Divide each row of c by its norm, a block per row.
__global__ void normalize(float* c, int n) {
    __shared__ float squares[256];
    float sum = 0;
    for (int column = threadIdx.x; column < n; column += blockDim.x)
        sum += c[blockIdx.x * n + column] * c[blockIdx.x * n + column];
    squares[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            squares[threadIdx.x] += squares[threadIdx.x + half];
        __syncthreads();
    }
    float scale = rsqrtf(squares[0] + 1e-6f);
    for (int column = threadIdx.x; column < n; column += blockDim.x)
        c[blockIdx.x * n + column] *= scale;
}

// a += c
__global__ void add(float* a, const float* c, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        a[i] += c[i];
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 512, rounds = argc > 2 ? atoi(argv[2]) : 5;
    std::vector<float> host(n * n);
    for (int i = 0; i < n * n; ++i)
        host[i] = i % 7 - 3.0f;
    float *a, *b, *c;
    for (float** array : {&a, &b, &c})
        cudaMalloc(array, host.size() * sizeof(float));
    for (float* array : {a, b})
        cudaMemcpy(array, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    for (int round = 0; round < rounds; ++round) {
        product<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, c, n);
        normalize<<<n, 256>>>(c, n);
        add<<<(n * n + 255) / 256, 256>>>(a, c, n * n);
    }
    cudaMemcpy(host.data(), a, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", host[0]);
    return 0;
}
