// Sparse matrix times vector in CSR format, one row per thread (Baghsorkhi et al., PPoPP 2012, listing 2).
// What traces/spmv.py describes, with distribution=spread structure=hashed: ./spmv [rows [nnz_per_row]]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// x = A y, with the paper's names and order of loads.
__global__ void csr(const int* row_ptr, const int* indices, const float* val, const float* y, float* x, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float acc = 0;
        for (int j = row_ptr[row], end = row_ptr[row + 1]; j < end; ++j) {
            int ind = indices[j];
            acc += y[ind] * val[j];
        }
        x[row] = acc;
    }
}

// SplitMix64's n-th number (Steele, Lea and Flood, OOPSLA 2014): the same in every language.
static uint64_t hashed(uint64_t n) {
    uint64_t z = n * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

int main(int argc, char** argv) {
    int rows = argc > 1 ? atoi(argv[1]) : 86016;
    int nnz_per_row = argc > 2 ? atoi(argv[2]) : 51;

    std::vector<int> host_row_ptr(rows + 1);
    for (int row = 0; row < rows; ++row)
        host_row_ptr[row + 1] = host_row_ptr[row] + hashed(row) % (2 * nnz_per_row + 1);
    std::vector<int> host_indices(host_row_ptr[rows]);
    std::vector<float> host_val(host_indices.size()), host_y(rows), host_x(rows);
    for (size_t j = 0; j < host_indices.size(); ++j) {
        host_indices[j] = hashed(rows + j) % rows;
        host_val[j] = j % 7 + 0.5f;
    }
    for (int row = 0; row < rows; ++row) {
        std::sort(&host_indices[0] + host_row_ptr[row], &host_indices[0] + host_row_ptr[row + 1]);
        host_y[row] = row % 5 - 1.5f;
    }

    int *row_ptr, *indices;
    float *val, *y, *x;
    cudaMalloc(&row_ptr, host_row_ptr.size() * sizeof(int));
    cudaMalloc(&indices, host_indices.size() * sizeof(int));
    cudaMalloc(&val, host_val.size() * sizeof(float));
    cudaMalloc(&y, rows * sizeof(float));
    cudaMalloc(&x, rows * sizeof(float));
    cudaMemcpy(row_ptr, host_row_ptr.data(), host_row_ptr.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(indices, host_indices.data(), host_indices.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(val, host_val.data(), host_val.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(y, host_y.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
    csr<<<(rows + 255) / 256, 256>>>(row_ptr, indices, val, y, x, rows);
    cudaMemcpy(host_x.data(), x, rows * sizeof(float), cudaMemcpyDeviceToHost);

    for (int row = 0; row < rows; ++row) {
        double expected = 0;
        for (int j = host_row_ptr[row]; j < host_row_ptr[row + 1]; ++j)
            expected += double(host_y[host_indices[j]]) * host_val[j];
        if (std::fabs(host_x[row] - expected) > 1e-3 * (1 + std::fabs(expected))) {
            printf("FAILED: x[%d] is %f, not %f\n", row, host_x[row], expected);
            return 1;
        }
    }
    printf("PASSED: %d rows, %zu nonzeros\n", rows, host_indices.size());
    for (void* array : {(void*)row_ptr, (void*)indices, (void*)val, (void*)y, (void*)x})
        cudaFree(array);
    return 0;
}
