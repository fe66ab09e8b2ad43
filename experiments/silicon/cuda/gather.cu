// out[i] = table[index[i]], indices at random over a table of so many elements: ./gather [n [elements]]
#include "common.h"

__global__ void gather(const float* table, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[index[i]];
}

int main(int argc, char** argv) {
    int n = argument(argc, argv, 1, 1 << 22), elements = argument(argc, argv, 2, 1 << 20);
    std::vector<float> table(elements), out(n);
    std::vector<int> index(n);
    for (int i = 0; i < elements; ++i)
        table[i] = i % 1000;
    for (int i = 0; i < n; ++i)
        index[i] = hashed(i) % elements;
    float *device_table = upload(table), *device_out = upload(out);
    int* device_index = upload(index);
    gather<<<(n + 255) / 256, 256>>>(device_table, device_index, device_out, n);
    download(out, device_out);
    return verdict(out, [&](size_t i) { return table[index[i]]; });
}
