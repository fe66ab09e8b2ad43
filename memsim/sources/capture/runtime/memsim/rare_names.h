// Names of the runtime API that a program may have without using what they stand for: graphics, arrays of other kinds,
// other processes' memory, semaphores, logs (CUDA Runtime API 13.0, "Data types").
#pragma once

enum cudaResourceViewFormat {
    cudaResViewFormatNone, cudaResViewFormatUnsignedChar1, cudaResViewFormatUnsignedChar2,
    cudaResViewFormatUnsignedChar4, cudaResViewFormatSignedChar1, cudaResViewFormatSignedChar2,
    cudaResViewFormatSignedChar4, cudaResViewFormatUnsignedShort1, cudaResViewFormatUnsignedShort2,
    cudaResViewFormatUnsignedShort4, cudaResViewFormatSignedShort1, cudaResViewFormatSignedShort2,
    cudaResViewFormatSignedShort4, cudaResViewFormatUnsignedInt1, cudaResViewFormatUnsignedInt2,
    cudaResViewFormatUnsignedInt4, cudaResViewFormatSignedInt1, cudaResViewFormatSignedInt2,
    cudaResViewFormatSignedInt4, cudaResViewFormatHalf1, cudaResViewFormatHalf2, cudaResViewFormatHalf4,
    cudaResViewFormatFloat1, cudaResViewFormatFloat2, cudaResViewFormatFloat4,
    cudaResViewFormatUnsignedBlockCompressed1, cudaResViewFormatUnsignedBlockCompressed2,
    cudaResViewFormatUnsignedBlockCompressed3, cudaResViewFormatUnsignedBlockCompressed4,
    cudaResViewFormatSignedBlockCompressed4, cudaResViewFormatUnsignedBlockCompressed5,
    cudaResViewFormatSignedBlockCompressed5, cudaResViewFormatUnsignedBlockCompressed6H,
    cudaResViewFormatSignedBlockCompressed6H, cudaResViewFormatUnsignedBlockCompressed7
};
enum cudaGraphicsRegisterFlags {
    cudaGraphicsRegisterFlagsNone, cudaGraphicsRegisterFlagsReadOnly, cudaGraphicsRegisterFlagsWriteDiscard,
    cudaGraphicsRegisterFlagsSurfaceLoadStore = 4, cudaGraphicsRegisterFlagsTextureGather = 8
};
enum cudaGraphicsMapFlags {
    cudaGraphicsMapFlagsNone, cudaGraphicsMapFlagsReadOnly, cudaGraphicsMapFlagsWriteDiscard
};
enum cudaGraphicsCubeFace {
    cudaGraphicsCubeFacePositiveX, cudaGraphicsCubeFaceNegativeX, cudaGraphicsCubeFacePositiveY,
    cudaGraphicsCubeFaceNegativeY, cudaGraphicsCubeFacePositiveZ, cudaGraphicsCubeFaceNegativeZ
};
enum cudaCGScope {
    cudaCGScopeInvalid, cudaCGScopeGrid, cudaCGScopeReserved
};
enum cudaGraphDependencyType {
    cudaGraphDependencyTypeDefault, cudaGraphDependencyTypeProgrammatic
};
enum cudaLogLevel {
    cudaLogLevelError, cudaLogLevelWarning
};
enum cudaAsyncNotificationType {
    cudaAsyncNotificationTypeOverBudget = 1
};
enum {
    cudaArrayColorAttachment = 32, cudaArrayCubemap = 4, cudaArrayDeferredMapping = 128, cudaArrayLayered = 1,
    cudaArraySparse = 64, cudaArraySparsePropertiesSingleMipTail = 1, cudaArrayTextureGather = 8, cudaDeviceMask
    = 255, cudaDeviceScheduleMask = 7, cudaDeviceSyncMemops = 128, cudaEventRecordDefault = 0,
    cudaEventRecordExternal = 1, cudaEventWaitDefault = 0, cudaEventWaitExternal = 1,
    cudaExternalMemoryDedicated = 1, cudaExternalSemaphoreSignalSkipNvSciBufMemSync = 1,
    cudaExternalSemaphoreWaitSkipNvSciBufMemSync = 2, cudaGraphKernelNodePortDefault = 0,
    cudaGraphKernelNodePortLaunchCompletion = 2, cudaGraphKernelNodePortProgrammatic = 1,
    cudaHostRegisterIoMemory = 4, cudaInitDeviceFlagsAreValid = 1, cudaIpcMemLazyEnablePeerAccess = 1,
    cudaMemPoolCreateUsageHwDecompress = 2, cudaNvSciSyncAttrSignal = 1, cudaNvSciSyncAttrWait = 2,
    cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1, cudaPeerAccessDefault = 0
};
enum {
    cudaKernelNodeAttributeAccessPolicyWindow = cudaLaunchAttributeAccessPolicyWindow,
    cudaKernelNodeAttributeCooperative = cudaLaunchAttributeCooperative, cudaKernelNodeAttributePriority =
    cudaLaunchAttributePriority, cudaKernelNodeAttributeClusterDimension = cudaLaunchAttributeClusterDimension,
    cudaKernelNodeAttributeClusterSchedulingPolicyPreference =
    cudaLaunchAttributeClusterSchedulingPolicyPreference, cudaKernelNodeAttributeMemSyncDomainMap =
    cudaLaunchAttributeMemSyncDomainMap, cudaKernelNodeAttributeMemSyncDomain =
    cudaLaunchAttributeMemSyncDomain, cudaKernelNodeAttributePreferredSharedMemoryCarveout =
    cudaLaunchAttributePreferredSharedMemoryCarveout, cudaKernelNodeAttributeDeviceUpdatableKernelNode =
    cudaLaunchAttributeDeviceUpdatableKernelNode, cudaKernelNodeAttributeNvlinkUtilCentricScheduling =
    cudaLaunchAttributeNvlinkUtilCentricScheduling
};
typedef struct cudaGraphicsResource* cudaGraphicsResource_t;
typedef struct CUexternalMemory_st* cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st* cudaExternalSemaphore_t;
typedef struct CUuserObject_st* cudaUserObject_t;
typedef struct CUfunc_st* cudaFunction_t;
typedef struct CUkern_st* cudaKernel_t;
typedef struct CUlib_st* cudaLibrary_t;
typedef struct CUgraphDeviceUpdatableNode_st* cudaGraphDeviceNode_t;
typedef struct cudaAsyncCallbackEntry* cudaAsyncCallbackHandle_t;
typedef struct CUlogsCallbackEntry_st* cudaLogsCallbackHandle;
typedef unsigned long long cudaGraphConditionalHandle;
typedef unsigned cudaLogIterator;
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
#define CUDA_IPC_HANDLE_SIZE 64
typedef struct cudaIpcMemHandle_st {
    char reserved[CUDA_IPC_HANDLE_SIZE];
} cudaIpcMemHandle_t;
typedef struct cudaIpcEventHandle_st {
    char reserved[CUDA_IPC_HANDLE_SIZE];
} cudaIpcEventHandle_t;
