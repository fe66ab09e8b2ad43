// A 3 x 3 convolution, one output a thread: ./conv2d [size [block rows]]; a block is 256 threads
#include "common.h"

__global__ void conv(const float* in, float* out, int size) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= size - 1 || y >= size - 1)
        return;
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            sum += (2 - abs(dx)) * (2 - abs(dy)) * in[(y + dy) * size + x + dx];
    out[y * size + x] = sum;
}

int main(int argc, char** argv) {
    int size = argument(argc, argv, 1, 4096), rows = argument(argc, argv, 2, 8);
    std::vector<float> in(size_t(size) * size), out(in.size());
    for (size_t k = 0; k < in.size(); ++k)
        in[k] = k % 13;
    float *device_in = upload(in), *device_out = upload(out);
    dim3 block(256 / rows, rows), grid((size + block.x - 1) / block.x, (size + rows - 1) / rows);
    conv<<<grid, block>>>(device_in, device_out, size);
    download(out, device_out);
    return verdict(out, [&](size_t k) {
        int x = k % size, y = k / size;
        double sum = 0;
        if (x > 0 && y > 0 && x < size - 1 && y < size - 1)
            for (int d = 0; d < 9; ++d)
                sum += (2 - abs(d % 3 - 1)) * (2 - abs(d / 3 - 1)) * in[(y + d / 3 - 1) * size + x + d % 3 - 1];
        return sum;
    });
}
