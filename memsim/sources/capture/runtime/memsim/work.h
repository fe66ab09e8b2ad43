// Work that a stream was given: done at once, but for what a graph records (CUDA C++ Programming Guide, "CUDA Graphs").
#pragma once

#include "attributes.h"
#include "error_codes.h"

enum cudaGraphNodeType {
    cudaGraphNodeTypeKernel,
    cudaGraphNodeTypeMemcpy,
    cudaGraphNodeTypeMemset,
    cudaGraphNodeTypeHost,
    cudaGraphNodeTypeGraph,
    cudaGraphNodeTypeEmpty,
    cudaGraphNodeTypeWaitEvent,
    cudaGraphNodeTypeEventRecord,
    cudaGraphNodeTypeMemAlloc = 10,
    cudaGraphNodeTypeMemFree,
    cudaGraphNodeTypeExtSemaphoreSignal = 8,
    cudaGraphNodeTypeExtSemaphoreWait,
    cudaGraphNodeTypeConditional = 13,
    cudaGraphNodeTypeCount
};

namespace memsim_probe {

struct Work {
    virtual ~Work() {}
    virtual void run() = 0;
    // Of each graph that has it: when its node is added, and when the graph is destroyed.
    virtual void hold() {}
    virtual void drop() {}
};
template <class F>
struct WorkOf : Work {
    F function;
    explicit WorkOf(const F& function) : function(function) {}
    void run() override { function(); }
};

// What a graph that is being recorded does with work; null while none is. Captures are one at a time, of all streams.
inline void (*record)(Work*, cudaGraphNodeType) = nullptr;

// Does something now, or leaves it to the graph that is being recorded, as a node of this kind.
template <class F>
cudaError_t in_order(cudaGraphNodeType kind, F function) {
    if (!record) return function();
    auto later = [=]() mutable { (void)function(); };
    record(new WorkOf<decltype(later)>(later), kind);
    return cudaSuccess;
}

}  // namespace memsim_probe
