// Graphs, recorded from a stream and made of nodes; exit code: the step that went wrong.
__global__ void scale(float *x, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
template <class T>
__global__ void shift(T *x, T by) {
    x[threadIdx.x] += by;
}

void call(void *count) { ++*(int *)count; }

int main() {
    const int n = 128, bytes = n * sizeof(float);
    float *x, given[n], back[n];
    for (int i = 0; i < n; i++) given[i] = i;
    cudaMalloc(&x, bytes);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t graph;
    cudaGraphExec_t ready;

    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(x, given, bytes, cudaMemcpyHostToDevice, stream);
    scale<<<1, n, 0, stream>>>(x, 2.0f, n);
    shift<<<1, n, 0, stream>>>(x, 1.0f);
    cudaMemcpyAsync(back, x, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamEndCapture(stream, &graph);
    back[5] = -1;
    cudaGraphInstantiate(&ready, graph, NULL, NULL, 0);
    if (back[5] != -1) return 1;
    cudaGraphLaunch(ready, stream);
    if (back[5] != 11) return 2;

    float by = 3;
    int count = n;
    void *of_scale[] = {&x, &by, &count}, *of_shift[] = {&x, &by};
    cudaGraphNode_t in, scaled, shifted, out;
    cudaGraphCreate(&graph, 0);
    cudaKernelNodeParams node = {0};
    node.func = (void *)scale;
    node.gridDim = node.blockDim = dim3(1, 1, 1);
    node.blockDim.x = n;
    node.kernelParams = of_scale;
    cudaGraphAddKernelNode(&scaled, graph, NULL, 0, &node);
    node.func = (void *)shift<float>;
    node.kernelParams = of_shift;
    cudaGraphAddKernelNode(&shifted, graph, &scaled, 1, &node);
    cudaGraphAddMemcpyNode1D(&in, graph, NULL, 0, x, given, bytes, cudaMemcpyHostToDevice);
#if CUDART_VERSION >= 13000
    cudaGraphAddDependencies(graph, &in, &scaled, NULL, 1);
#else
    cudaGraphAddDependencies(graph, &in, &scaled, 1);
#endif
    cudaGraphAddMemcpyNode1D(&out, graph, &shifted, 1, back, x, bytes, cudaMemcpyDeviceToHost);
    by = 100;  // nodes keep what they were given
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    if (back[5] != 18) return 3;

    void *forgotten = (void *)scale;
    by = 2;
    cudaLaunchKernel(forgotten, dim3(1), dim3(n), of_scale, 0, stream);
    cudaMemcpy(back, x, bytes, cudaMemcpyDeviceToHost);
    if (back[5] != 36) return 4;

    // Recorded nodes are of the kinds that their calls make, and one that is destroyed is gone.
    int called = 0;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemset2DAsync(x, bytes, 0, bytes, 1, stream);
    cudaLaunchHostFunc(stream, call, &called);
    shift<<<1, n, 0, stream>>>(x, 7.0f);
    cudaMemcpyAsync(back, x, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphNode_t nodes[5];
    size_t found = 5;
    cudaGraphGetNodes(graph, nodes, &found);
    if (found != 4) return 5;
    cudaGraphNodeType kinds[] = {cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost, cudaGraphNodeTypeKernel,
                                 cudaGraphNodeTypeMemcpy};
    for (int i = 0; i < 4; i++) {
        cudaGraphNodeType kind;
        cudaGraphNodeGetType(nodes[i], &kind);
        if (kind != kinds[i]) return 6;
    }
    cudaGraphDestroyNode(nodes[1]);
    cudaGraphNode_t last = nodes[3];
    found = 5;
    cudaGraphGetNodes(graph, nodes, &found);
    if (found != 3 || nodes[2] != last) return 7;
    cudaGraphDestroyNode(last);
    cudaGraphAddMemcpyNode1D(&out, graph, &nodes[1], 1, back, x, bytes, cudaMemcpyDeviceToHost);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    if (back[5] != 7 || called) return 8;

    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    float **nowhere = NULL;
    if (!cudaMallocAsync(nowhere, bytes, stream)) return 15;
    cudaStreamEndCapture(stream, &graph);

    // A graph's memory is there at each launch, freed by the program (first) or by the graph itself.
    for (int by_graph = 0; by_graph < 2; by_graph++) {
        float *own;
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        cudaMallocAsync(&own, bytes, stream);
        cudaMemcpyAsync(own, given, bytes, cudaMemcpyHostToDevice, stream);
        scale<<<1, n, 0, stream>>>(own, 2.0f, n);
        cudaMemcpyAsync(back, own, bytes, cudaMemcpyDeviceToHost, stream);
        if (by_graph) cudaFreeAsync(own, stream);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&ready, graph, 0);
        for (int i = 0; i < 3; i++) {
            back[5] = -1;
            if (cudaGraphLaunch(ready, stream) || cudaStreamSynchronize(stream) || back[5] != 10) return 16;
            if (!by_graph && cudaFree(own)) return 17;
            if (!cudaMemcpy(back, own, bytes, cudaMemcpyDeviceToHost)) return 18;
        }
        cudaGetLastError();
    }
    return 0;
}
