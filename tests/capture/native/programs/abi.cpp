// Compares the structures of runtime/abi.h with those of NVIDIA's headers; compiled, never run.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <string>

#include "driver/driver.h"
#include "runtime/common.h"

#define MEMSIM_CUDART (CUDART_VERSION / 1000)
namespace memsim::runtime {
#include "runtime/device_properties.inc"
}

namespace ours = memsim::runtime;

#define SIZE(mine, theirs) static_assert(sizeof(ours::mine) == sizeof(theirs), #theirs)
#define MEMBER_AT(mine, a, theirs, b) static_assert(offsetof(ours::mine, a) == offsetof(theirs, b), #theirs "::" #b)
#define PROPERTY(name)                                                                                       \
  static_assert(offsetof(ours::DeviceProp, name) == offsetof(cudaDeviceProp, name) &&                          \
                    sizeof(ours::DeviceProp::name) == sizeof(cudaDeviceProp::name), #name)

SIZE(DeviceProp, cudaDeviceProp);
PROPERTY(name);
PROPERTY(uuid);
PROPERTY(totalGlobalMem);
PROPERTY(maxThreadsDim);
PROPERTY(maxGridSize);
PROPERTY(totalConstMem);
PROPERTY(textureAlignment);
PROPERTY(multiProcessorCount);
PROPERTY(canMapHostMemory);
PROPERTY(maxTexture1D);
PROPERTY(maxTexture2DLinear);
PROPERTY(maxTextureCubemapLayered);
PROPERTY(maxSurfaceCubemapLayered);
PROPERTY(surfaceAlignment);
PROPERTY(asyncEngineCount);
PROPERTY(memoryBusWidth);
PROPERTY(l2CacheSize);
PROPERTY(sharedMemPerMultiprocessor);
PROPERTY(hostNativeAtomicSupported);
PROPERTY(pageableMemoryAccess);
PROPERTY(cooperativeLaunch);
PROPERTY(sharedMemPerBlockOptin);
PROPERTY(maxBlocksPerMultiProcessor);
PROPERTY(reservedSharedMemPerBlock);
PROPERTY(hostRegisterSupported);
PROPERTY(memoryPoolsSupported);
PROPERTY(clusterLaunch);
PROPERTY(unifiedFunctionPointers);
#if CUDART_VERSION < 13000
PROPERTY(clockRate);
PROPERTY(memoryClockRate);
PROPERTY(singleToDoublePrecisionPerfRatio);
PROPERTY(cooperativeMultiDeviceLaunch);
#endif

SIZE(Dim3, dim3);
SIZE(CudaExtent, cudaExtent);
SIZE(CudaPos, cudaPos);
SIZE(PitchedPointer, cudaPitchedPtr);
SIZE(ChannelFormat, cudaChannelFormatDesc);
SIZE(Memcpy3D, cudaMemcpy3DParms);
MEMBER_AT(Memcpy3D, destination_array, cudaMemcpy3DParms, dstArray);
MEMBER_AT(Memcpy3D, kind, cudaMemcpy3DParms, kind);
SIZE(Memcpy3DPeer, cudaMemcpy3DPeerParms);
MEMBER_AT(Memcpy3DPeer, extent, cudaMemcpy3DPeerParms, extent);
MEMBER_AT(PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);
static_assert(sizeof(ours::PointerAttributes) <= sizeof(cudaPointerAttributes), "only these members are written");
SIZE(FunctionAttributes, cudaFuncAttributes);
MEMBER_AT(FunctionAttributes, max_dynamic_shared, cudaFuncAttributes, maxDynamicSharedSizeBytes);
MEMBER_AT(FunctionAttributes, nonportable_cluster, cudaFuncAttributes, nonPortableClusterSizeAllowed);
SIZE(LaunchAttribute, cudaLaunchAttribute);
MEMBER_AT(LaunchAttribute, value, cudaLaunchAttribute, val);
SIZE(LaunchConfig, cudaLaunchConfig_t);
MEMBER_AT(LaunchConfig, attributes, cudaLaunchConfig_t, attrs);
SIZE(PoolProperties, cudaMemPoolProps);
MEMBER_AT(ResourceDescription, array, cudaResourceDesc, res.array.array);
MEMBER_AT(ResourceDescription, pitch2d.pitch, cudaResourceDesc, res.pitch2D.pitchInBytes);
MEMBER_AT(ResourceDescription, linear.bytes, cudaResourceDesc, res.linear.sizeInBytes);
SIZE(TextureSettings, cudaTextureDesc);
MEMBER_AT(TextureSettings, mipmap_bias, cudaTextureDesc, mipmapLevelBias);
MEMBER_AT(ResourceView, last_layer, cudaResourceViewDesc, lastLayer);
SIZE(KernelNodeParams, cudaKernelNodeParams);
SIZE(NodeParams, cudaGraphNodeParams);
MEMBER_AT(NodeParams, kernel, cudaGraphNodeParams, kernel);
MEMBER_AT(NodeParams, memcpy.copy, cudaGraphNodeParams, memcpy.copyParams);
static_assert(sizeof(memsim::EdgeData) == sizeof(cudaGraphEdgeData), "cudaGraphEdgeData");
static_assert(int(ours::memcpy_node) == cudaGraphNodeTypeMemcpy, "cudaGraphNodeType");
static_assert(ours::attribute_completion_event == cudaLaunchAttributeLaunchCompletionEvent, "cudaLaunchAttributeID");

// The runtime passes these on to the driver's functions.
#define SAME_SIZE(runtime, driver) static_assert(sizeof(runtime) == sizeof(driver), #runtime)
SAME_SIZE(cudaKernelNodeParams, CUDA_KERNEL_NODE_PARAMS_v1);
SAME_SIZE(cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS_v1);
SAME_SIZE(cudaHostNodeParams, CUDA_HOST_NODE_PARAMS);
SAME_SIZE(cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS);
SAME_SIZE(cudaGraphNodeParams, CUgraphNodeParams);
#if CUDART_VERSION >= 12080
SAME_SIZE(cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP);
static_assert(sizeof(memsim::driver::Operation3D) == sizeof(CUDA_MEMCPY3D_BATCH_OP), "CUDA_MEMCPY3D_BATCH_OP");
static_assert(offsetof(memsim::driver::Operand3D, pointer) == offsetof(CUmemcpy3DOperand, op), "CUmemcpy3DOperand");
#endif
SAME_SIZE(cudaLaunchConfig_t, CUlaunchConfig);
SAME_SIZE(cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS);
SAME_SIZE(cudaGraphExecUpdateResultInfo, CUgraphExecUpdateResultInfo);
static_assert(offsetof(cudaKernelNodeParams, extra) == offsetof(CUDA_KERNEL_NODE_PARAMS_v1, extra), "kernel nodes");
static_assert(offsetof(cudaGraphNodeParams, conditional) == offsetof(CUgraphNodeParams, conditional), "nodes");
static_assert(offsetof(cudaLaunchConfig_t, stream) == offsetof(CUlaunchConfig, hStream), "launch configurations");
