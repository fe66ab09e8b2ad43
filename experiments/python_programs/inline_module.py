"""A module in the form of KernelBench: CUDA source inside Python, which torch compiles when the file runs.

memsim capture --to-end -o t.h5 experiments/python_programs/inline_module.py
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <torch/types.h>
#include <cuda_runtime.h>

__global__ void add_relu(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = fmaxf(a[i] + b[i], 0.0f);
}

torch::Tensor add_relu_cuda(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty_like(a);
    int n = a.numel();
    add_relu<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), n);
    return c;
}
"""

ops = load_inline(
    name="add_relu_ops",
    cpp_sources="torch::Tensor add_relu_cuda(torch::Tensor a, torch::Tensor b);",
    cuda_sources=SOURCE,
    functions=["add_relu_cuda"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return ops.add_relu_cuda(a, b)


a, b = (torch.randn(64, 1000, device="cuda") for _ in "ab")
torch.testing.assert_close(ModelNew().cuda()(a, b), torch.relu(a + b))
print("equal")
