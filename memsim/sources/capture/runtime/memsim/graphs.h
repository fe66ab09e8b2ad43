// CUDA graphs (CUDA Runtime API, "Graph Management"): nodes that run when the graph is launched, each after those that
// it depends on.
#pragma once

#include "kernels.h"
#include "streams.h"
#include "work.h"

struct CUgraph_st;
struct CUgraphNode_st {
    memsim_probe::Work* work;  // null: nothing to do
    int kind;
    CUgraphNode_st** needs;
    size_t n_needs;
    bool done;
    CUgraphNode_st* next;
    CUgraph_st* graph;
};
struct CUgraph_st {
    CUgraphNode_st *first, *last;
    size_t size;
};
typedef CUgraphNode_st* cudaGraphNode_t;
typedef CUgraph_st* cudaGraph_t;
typedef CUgraph_st* cudaGraphExec_t;
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated
};
enum cudaGraphExecUpdateResult {
    cudaGraphExecUpdateSuccess, cudaGraphExecUpdateError,
    cudaGraphExecUpdateErrorTopologyChanged, cudaGraphExecUpdateErrorNodeTypeChanged,
    cudaGraphExecUpdateErrorFunctionChanged, cudaGraphExecUpdateErrorParametersChanged,
    cudaGraphExecUpdateErrorNotSupported, cudaGraphExecUpdateErrorUnsupportedFunctionChange,
    cudaGraphExecUpdateErrorAttributesChanged
};
typedef struct cudaGraphExecUpdateResultInfo_st {
    cudaGraphExecUpdateResult result;
    cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
enum cudaGraphInstantiateFlags {
    cudaGraphInstantiateFlagAutoFreeOnLaunch = 1, cudaGraphInstantiateFlagUpload,
    cudaGraphInstantiateFlagDeviceLaunch = 4, cudaGraphInstantiateFlagUseNodePriority = 8
};
struct cudaKernelNodeParams {
    void* func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void** kernelParams;
    void** extra;
};
struct cudaMemsetParams {
    void* dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
};
struct cudaMemAllocNodeParams {
    cudaMemPoolProps poolProps;
    const void* accessDescs;
    size_t accessDescCount, bytesize;
    void* dptr;
};
struct cudaHostNodeParams {
    cudaHostFn_t fn;
    void* userData;
};

namespace memsim_probe {

inline CUgraph_st* recorded = nullptr;  // the graph of the capture under way

inline CUgraphNode_st* add_node(CUgraph_st* graph, Work* work, int kind, CUgraphNode_st* const* needs = nullptr,
                                size_t n_needs = 0) {
    auto node = new CUgraphNode_st{work, kind, nullptr, n_needs, false, nullptr, graph};
    if (work) work->hold();
    node->needs = new CUgraphNode_st*[n_needs + 1];
    for (size_t i = 0; i < n_needs; ++i) node->needs[i] = needs[i];
    (graph->last ? graph->last->next : graph->first) = node;
    graph->last = node;
    ++graph->size;
    return node;
}

// Takes a node out of its graph; others no longer wait for it.
inline void remove_node(CUgraphNode_st* node) {
    CUgraphNode_st* before = nullptr;
    for (auto one = node->graph->first; one; one = one->next) {
        if (one->next == node) before = one;
        size_t kept = 0;
        for (size_t i = 0; i < one->n_needs; ++i)
            if (one->needs[i] != node) one->needs[kept++] = one->needs[i];
        one->n_needs = kept;
    }
    (before ? before->next : node->graph->first) = node->next;
    if (node->graph->last == node) node->graph->last = before;
    --node->graph->size;
    if (node->work) node->work->drop();
}

inline cudaError_t destroy(CUgraph_st* graph) {
    for (auto node = graph->first; node; node = node->next)
        if (node->work) node->work->drop();
    return cudaSuccess;
}

// Nodes in the order in which they were added, each when those it needs are done.
inline void run_graph(CUgraph_st* graph) {
    for (auto node = graph->first; node; node = node->next) node->done = false;
    for (size_t left = graph->size; left;) {
        size_t before = left;
        for (auto node = graph->first; node; node = node->next) {
            bool ready = !node->done;
            for (size_t i = 0; i < node->n_needs; ++i) ready &= node->needs[i]->done;
            if (!ready) continue;
            if (node->work) node->work->run();
            node->done = true;
            --left;
        }
        if (left == before) fail("a graph whose nodes wait for each other");
    }
}

template <class F>
cudaError_t add(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs, size_t n_needs, int kind,
                const F& function) {
    return *made = add_node(graph, new WorkOf<F>(function), kind, needs, n_needs), cudaSuccess;
}

inline Work* work_of(const cudaKernelNodeParams& of) {
    return kernels_known.bind(of.func, {of.gridDim, of.blockDim, of.sharedMemBytes}, of.kernelParams);
}

inline void set(const cudaMemsetParams& to) {
    for (size_t row = 0; row < to.height; ++row)
        for (size_t i = 0; i < to.width; ++i)
            memcpy(static_cast<char*>(to.dst) + row * to.pitch + i * to.elementSize, &to.value, to.elementSize);
}

}  // namespace memsim_probe

MEMSIM_CUDA cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
    return *graph = new CUgraph_st{}, cudaSuccess;
}
// Graphs are small and a program has few: they live as long as the program, but for the memory they allocate.
MEMSIM_CUDA cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return memsim_probe::destroy(graph); }
MEMSIM_CUDA cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return memsim_probe::destroy(graph); }
MEMSIM_CUDA cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    return memsim_probe::remove_node(node), cudaSuccess;
}

MEMSIM_CUDA cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                               size_t n_needs, const cudaKernelNodeParams* of) {
    auto work = memsim_probe::work_of(*of);
    return *made = memsim_probe::add_node(graph, work, cudaGraphNodeTypeKernel, needs, n_needs), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                                 size_t n_needs, void* to, const void* from, size_t bytes,
                                                 cudaMemcpyKind) {
    return memsim_probe::add(made, graph, needs, n_needs, cudaGraphNodeTypeMemcpy,
                             [=] { (void)memsim_probe::copy(to, from, bytes); });
}
MEMSIM_CUDA cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                               size_t n_needs, const cudaMemcpy3DParms* of) {
    cudaMemcpy3DParms copied = *of;
    return memsim_probe::add(made, graph, needs, n_needs, cudaGraphNodeTypeMemcpy,
                             [=] { (void)memsim_probe::copy_3d(copied); });
}
MEMSIM_CUDA cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                               size_t n_needs, const cudaMemsetParams* of) {
    cudaMemsetParams to = *of;
    return memsim_probe::add(made, graph, needs, n_needs, cudaGraphNodeTypeMemset, [=] { memsim_probe::set(to); });
}
MEMSIM_CUDA cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                             size_t n_needs, const cudaHostNodeParams* of) {
    cudaHostNodeParams call = *of;
    return memsim_probe::add(made, graph, needs, n_needs, cudaGraphNodeTypeHost, [=] { call.fn(call.userData); });
}
MEMSIM_CUDA cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                              size_t n_needs) {
    return memsim_probe::add(made, graph, needs, n_needs, cudaGraphNodeTypeEmpty, [] {});
}
MEMSIM_CUDA cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* made, cudaGraph_t graph,
                                                   const cudaGraphNode_t* needs, size_t n_needs, cudaGraph_t child) {
    return memsim_probe::add(made, graph, needs, n_needs, cudaGraphNodeTypeGraph,
                             [=] { memsim_probe::run_graph(child); });
}
MEMSIM_CUDA cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* made, cudaGraph_t graph,
                                                    const cudaGraphNode_t* needs, size_t n_needs, cudaEvent_t event) {
    return memsim_probe::add(made, graph, needs, n_needs, cudaGraphNodeTypeEventRecord,
                             [=] { event->milliseconds = memsim_probe::milliseconds(); });
}
// Allocated when the node is added, as its address is told then.
MEMSIM_CUDA cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                                 size_t n_needs, cudaMemAllocNodeParams* of) {
    cudaError_t result = memsim_probe::allocate("graph", &of->dptr, of->bytesize);
    if (result != cudaSuccess) return result;
    auto work = new memsim_probe::Allocation(of->dptr);
    return *made = memsim_probe::add_node(graph, work, cudaGraphNodeTypeMemAlloc, needs, n_needs), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                                size_t n_needs, void* pointer) {
    return memsim_probe::add(made, graph, needs, n_needs, cudaGraphNodeTypeMemFree,
                             [=] { memsim_probe::arena.launched(pointer, false); });
}
MEMSIM_CUDA cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                                 size_t n) {
    for (size_t i = 0; i < n; ++i) {
        auto longer = new cudaGraphNode_t[to[i]->n_needs + 1];
        for (size_t k = 0; k < to[i]->n_needs; ++k) longer[k] = to[i]->needs[k];
        longer[to[i]->n_needs++] = from[i];
        to[i]->needs = longer;
    }
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    size_t found = 0;
    for (auto node = graph->first; node && nodes && found < *count; node = node->next) nodes[found++] = node;
    return *count = nodes ? found : graph->size, cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* kind) {
    return *kind = static_cast<cudaGraphNodeType>(node->kind), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* of) {
    return node->work = memsim_probe::work_of(*of), cudaSuccess;
}

// A copy, so that what the graph's nodes are told afterwards does not change it; nodes are told by their places.
MEMSIM_CUDA cudaError_t cudaGraphClone(cudaGraph_t* made, cudaGraph_t of) {
    cudaGraphCreate(made, 0);
    for (auto node = of->first; node; node = node->next)
        memsim_probe::add_node(*made, node->work, node->kind, node->needs, node->n_needs);
    for (auto node = (*made)->first; node; node = node->next)
        for (size_t i = 0; i < node->n_needs; ++i) {
            auto copy = (*made)->first;
            for (auto one = of->first; one && one != node->needs[i]; one = one->next) copy = copy->next;
            node->needs[i] = copy;
        }
    return cudaSuccess;
}
template <class... Ignored>
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t of, Ignored...) {
    return cudaGraphClone(made, of);
}
MEMSIM_CUDA cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t of, unsigned long long) {
    return cudaGraphClone(made, of);
}
MEMSIM_CUDA cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
    return memsim_probe::in_order(cudaGraphNodeTypeGraph,
                                  [=] { return memsim_probe::run_graph(graph), cudaSuccess; });
}
MEMSIM_CUDA cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t of, cudaGraphExecUpdateResultInfo* told) {
    cudaGraph_t copy;
    cudaGraphClone(&copy, of);
    memsim_probe::destroy(exec);
    *exec = *copy;
    return *told = {cudaGraphExecUpdateSuccess, nullptr, nullptr}, cudaSuccess;
}

MEMSIM_CUDA cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
    cudaGraphCreate(&memsim_probe::recorded, 0);
    memsim_probe::record = [](memsim_probe::Work* work, cudaGraphNodeType kind) {
        memsim_probe::add_node(memsim_probe::recorded, work, kind, &memsim_probe::recorded->last,
                               memsim_probe::recorded->last != nullptr);
    };
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
    memsim_probe::record = nullptr;
    return *graph = memsim_probe::recorded, cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
    *status = memsim_probe::record ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
