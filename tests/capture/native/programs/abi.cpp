// Compares the structures of runtime/abi.h with those of NVIDIA's headers; compiled, never run.
#include <cuda_runtime_api.h>

#include <cstring>
#include <string>

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
SIZE(MemsetNodeParams, cudaMemsetParams);
SIZE(HostNodeParams, cudaHostNodeParams);
SIZE(AllocNodeParams, cudaMemAllocNodeParams);
SIZE(NodeParams, cudaGraphNodeParams);
MEMBER_AT(NodeParams, kernel, cudaGraphNodeParams, kernel);
MEMBER_AT(NodeParams, memcpy.copy, cudaGraphNodeParams, memcpy.copyParams);
SIZE(InstantiateParams, cudaGraphInstantiateParams);
SIZE(UpdateResult, cudaGraphExecUpdateResultInfo);
static_assert(sizeof(memsim::EdgeData) == sizeof(cudaGraphEdgeData), "cudaGraphEdgeData");
static_assert(int(ours::NodeType::conditional) == cudaGraphNodeTypeConditional, "cudaGraphNodeType");
static_assert(ours::attribute_completion_event == cudaLaunchAttributeLaunchCompletionEvent, "cudaLaunchAttributeID");
