// Launches by a configuration (CUDA Runtime API, "Execution Control").
#pragma once

#include "kernels.h"

typedef struct cudaLaunchMemSyncDomainMap_st {
    unsigned char default_, remote;
} cudaLaunchMemSyncDomainMap;
union cudaLaunchAttributeValue {
    char pad[64];
    cudaAccessPolicyWindow accessPolicyWindow;
    int cooperative, priority, programmaticStreamSerializationAllowed;
    cudaSynchronizationPolicy syncPolicy;
    struct {
        unsigned x, y, z;
    } clusterDim, preferredClusterDim;
    cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
    struct {
        cudaEvent_t event;
        int flags, triggerAtBlockStart;
    } programmaticEvent, launchCompletionEvent;
    cudaLaunchMemSyncDomainMap memSyncDomainMap;
    cudaLaunchMemSyncDomain memSyncDomain;
    struct {
        int deviceUpdatable;
        cudaGraphDeviceNode_t devNode;
    } deviceUpdatableKernelNode;
    unsigned sharedMemCarveout, nvlinkUtilCentricScheduling;
};
#define cudaKernelNodeAttrID cudaLaunchAttributeID
#define cudaKernelNodeAttrValue cudaLaunchAttributeValue
typedef struct cudaLaunchAttribute_st {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
} cudaLaunchConfig_t;

namespace memsim_probe {

// Blocks run one after another: those of a cluster would wait for each other.
inline Shape shape_of(const cudaLaunchConfig_t* of) {
    bool cooperative = false;
    for (unsigned i = 0; i < of->numAttrs; ++i) {
        if (of->attrs[i].id == cudaLaunchAttributeCooperative) cooperative = of->attrs[i].val.cooperative;
        auto& cluster = of->attrs[i].val.clusterDim;
        if (of->attrs[i].id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z > 1)
            fail("a launch of clusters of blocks, which are not known here");
    }
    return {of->gridDim, of->blockDim, of->dynamicSmemBytes, cooperative};
}

}  // namespace memsim_probe

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* of, void (*kernel)(P...), A&&... arguments) {
    auto name = memsim_probe::name_of(kernel, "kernel");
    memsim_probe::launch(name, "", 0, kernel, memsim_probe::shape_of(of), static_cast<P>(arguments)...);
    return memsim_peek();
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* of, const void* kernel, void** arguments) {
    return memsim_probe::launch_kernel({"kernel", "", 0}, kernel, memsim_probe::shape_of(of), arguments);
}

// A kernel may begin before the one before it has ended; here none does.
MEMSIM_CUDA void cudaGridDependencySynchronize() {}
MEMSIM_CUDA void cudaTriggerProgrammaticLaunchCompletion() {}
