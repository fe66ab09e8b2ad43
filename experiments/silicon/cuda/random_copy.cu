// Random copy of a matrix of ints (Torres et al., 2011): ./random_copy [size [block rows [block columns]]]
#include "common.h"

__global__ void copy(const int* in, const int* order, int* out, int size) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < size && y < size)
        out[y * size + x] = in[order[y * size + x]];
}

int main(int argc, char** argv) {
    int size = argument(argc, argv, 1, 2048);
    int rows = argument(argc, argv, 2, 8), columns = argument(argc, argv, 3, 32);
    std::vector<int> in(size_t(size) * size), order(in.size()), out(in.size());
    for (size_t k = 0; k < in.size(); ++k)
        in[k] = k, order[k] = hashed(k) % in.size();
    int *device_in = upload(in), *device_order = upload(order), *device_out = upload(out);
    dim3 block(columns, rows), grid((size + columns - 1) / columns, (size + rows - 1) / rows);
    copy<<<grid, block>>>(device_in, device_order, device_out, size);
    download(out, device_out);
    return verdict(out, [&](size_t k) { return order[k]; });
}
