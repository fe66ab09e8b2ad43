"""Conditional nodes of graphs, whose conditions kernels set: an if and a while, in a program that checks itself."""

from __future__ import annotations

from compilers import needs_capture

import memsim

pytestmark = needs_capture

PROGRAM = """#include <cuda_runtime.h>
#if CUDART_VERSION >= 13000
#define ADD(node, graph, from, n, params) cudaGraphAddNode(node, graph, from, nullptr, n, params)
#else
#define ADD(node, graph, from, n, params) cudaGraphAddNode(node, graph, from, n, params)
#endif
__global__ void is_odd(int *data, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, data[0] & 1); }
__global__ void count_down(int *data, cudaGraphConditionalHandle handle) {
    data[1] += 1;
    if (--data[0] == 0) cudaGraphSetConditional(handle, 0);
}
__global__ void count(int *data) { data[1] += 1; }

int *data;

cudaGraphNodeParams kernel(void *function, void **arguments) {
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeKernel;
    p.kernel.func = function;
    p.kernel.gridDim = p.kernel.blockDim = dim3(1);
    p.kernel.kernelParams = arguments;
    return p;
}
cudaGraphNodeParams conditional(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type) {
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = 1;
    return p;
}
int counted(cudaGraphExec_t exec, int first) {
    int values[2] = {first, 0};
    cudaMemcpy(data, values, 8, cudaMemcpyHostToDevice);
    if (cudaGraphLaunch(exec, 0)) return -1;
    cudaMemcpy(values, data, 8, cudaMemcpyDeviceToHost);
    return values[1];
}
int main() {
    cudaMalloc(&data, 8);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t sets, chooses, body;
    cudaGraphConditionalHandle handle;
    void *arguments[] = {&data, &handle};

    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&handle, graph);
    cudaGraphNodeParams first = kernel((void *)is_odd, arguments);
    cudaGraphNodeParams condition = conditional(handle, cudaGraphCondTypeIf);
    cudaGraphNodeParams inside = kernel((void *)count, arguments);
    if (ADD(&sets, graph, nullptr, 0, &first) || ADD(&chooses, graph, &sets, 1, &condition)) return 1;
    if (ADD(&body, condition.conditional.phGraph_out[0], nullptr, 0, &inside)) return 2;
    if (cudaGraphInstantiate(&exec, graph, 0)) return 3;
    if (counted(exec, 2) != 0 || counted(exec, 3) != 1) return 4;

    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
    condition = conditional(handle, cudaGraphCondTypeWhile);
    inside = kernel((void *)count_down, arguments);
    if (ADD(&chooses, graph, nullptr, 0, &condition)) return 5;
    if (ADD(&body, condition.conditional.phGraph_out[0], nullptr, 0, &inside)) return 6;
    if (cudaGraphInstantiate(&exec, graph, 0)) return 7;
    if (counted(exec, 5) != 5 || counted(exec, 3) != 3) return 8;
    cudaGraphNodeParams unknown = conditional(12345, cudaGraphCondTypeIf);
    return ADD(&chooses, graph, nullptr, 0, &unknown) == cudaErrorInvalidValue ? 0 : 9;
}
"""


def test_kernels_set_conditions_of_graph_nodes(tmp_path):
    program = tmp_path / "conditions.cu"
    program.write_text(PROGRAM)
    assert memsim.capture(program, to_end=True, out=tmp_path / "t.h5").launches == {
        "is_odd": 2,
        "count": 1,
        "count_down": 8,
    }
