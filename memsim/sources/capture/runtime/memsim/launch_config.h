// Launches by a configuration (CUDA Runtime API, "Execution Control").
#pragma once

#include "kernels.h"

union cudaLaunchAttributeValue {
    char pad[64];
    cudaAccessPolicyWindow accessPolicyWindow;
    int cooperative, priority;
    struct {
        unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};

// Blocks run one after another: those of a cluster would wait for each other.
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* of, void (*kernel)(P...), A&&... arguments) {
    for (unsigned i = 0; i < of->numAttrs; ++i) {
        auto& cluster = of->attrs[i].val.clusterDim;
        if (of->attrs[i].id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z > 1)
            memsim_probe::fail("a launch of clusters of blocks, which are not known here");
    }
    memsim_probe::Shape shape{of->gridDim, of->blockDim, of->dynamicSmemBytes};
    memsim_probe::launch(memsim_probe::name_of(kernel, "kernel"), "", 0, kernel, shape, static_cast<P>(arguments)...);
    return memsim_peek();
}
