// Device memory and copies of the CUDA runtime API. Host and device share one memory here, so a copy is a memmove.
#pragma once

#include <type_traits>

#include "arena.h"
#include "block.h"
#include "errors.h"
#include "handles.h"
#include "vectors.h"
#include "work.h"

enum {
    cudaHostAllocDefault = 0,
    cudaHostAllocPortable = 1,
    cudaHostAllocMapped = 2,
    cudaHostAllocWriteCombined = 4,
    cudaHostRegisterDefault = 0,
    cudaHostRegisterPortable = 1,
    cudaHostRegisterMapped = 2,
    cudaHostRegisterReadOnly = 8,
    cudaMemAttachGlobal = 1,
    cudaMemAttachHost = 2,
    cudaMemAttachSingle = 4
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly,
    cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy,
    cudaMemAdviseUnsetAccessedBy
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;

struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void* ptr;
    size_t pitch, xsize, ysize;
};
struct cudaMemLocation {
    int type, id;
};
enum cudaMemAllocationType {
    cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned, cudaMemAllocationTypeManaged,
    cudaMemAllocationTypeMax = 0x7FFFFFFF
};
enum cudaMemAllocationHandleType {
    cudaMemHandleTypeNone,
    cudaMemHandleTypePosixFileDescriptor, cudaMemHandleTypeWin32, cudaMemHandleTypeWin32Kmt = 4,
    cudaMemHandleTypeFabric = 8
};
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemAllocationHandleType handleTypes;
    cudaMemLocation location;
    void* win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
};
enum cudaMemLocationType {
    cudaMemLocationTypeInvalid, cudaMemLocationTypeNone = 0, cudaMemLocationTypeDevice, cudaMemLocationTypeHost,
    cudaMemLocationTypeHostNuma, cudaMemLocationTypeHostNumaCurrent
};
MEMSIM_CUDA cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
MEMSIM_CUDA cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
MEMSIM_CUDA cudaPitchedPtr make_cudaPitchedPtr(void* p, size_t pitch, size_t xsize, size_t ysize) {
    return {p, pitch, xsize, ysize};
}

namespace memsim_probe {

constexpr size_t pitch_unit = 512;

template <class T>
cudaError_t allocate(const char* text, T** pointer, size_t bytes) {
    if (!pointer) return memsim_result(cudaErrorInvalidValue);
    char name[64];
    void* got = bytes ? arena.allocate(bytes, name_in(text, name, sizeof name), ElementBytes<T>::value) : nullptr;
    *pointer = static_cast<T*>(got);
    return memsim_result(got || !bytes ? cudaSuccess : cudaErrorMemoryAllocation);
}

template <class T>
cudaError_t allocate_flags(const char* text, T** pointer, size_t bytes, unsigned = 0) {
    return allocate(text, pointer, bytes);
}

// A graph's own memory: it has its address at once, and is in use again after each launch.
struct Allocation : Work {
    const void* at;
    explicit Allocation(const void* at) : at(at) {}
    void run() override { arena.launched(at, true); }
    void hold() override { arena.hold(at); }
    void drop() override { arena.drop(at); }
};

template <class T>
cudaError_t allocate_stream(const char* text, T** pointer, size_t bytes, cudaStream_t) {
    cudaError_t result = allocate(text, pointer, bytes);
    if (record && result == cudaSuccess && *pointer) record(new Allocation(*pointer), cudaGraphNodeTypeMemAlloc);
    return result;
}

template <class T>
cudaError_t allocate_pitch(const char* text, T** pointer, size_t* pitch, size_t width, size_t height) {
    *pitch = round_up(width, pitch_unit);
    return allocate(text, pointer, *pitch * height);
}

inline cudaError_t allocate_3d(const char* text, cudaPitchedPtr* pointer, cudaExtent extent) {
    *pointer = {nullptr, round_up(extent.width, pitch_unit), extent.width, extent.height};
    return allocate(text, &pointer->ptr, pointer->pitch * extent.height * extent.depth);
}

inline cudaError_t copy(void* to, const void* from, size_t bytes) {
    if (bytes && (!to || !from)) return memsim_result(cudaErrorInvalidValue);
    if (bytes) memmove(to, from, bytes);
    return cudaSuccess;
}

inline cudaError_t copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                           size_t height) {
    if (width > to_pitch || width > from_pitch) return memsim_result(cudaErrorInvalidPitchValue);
    for (size_t row = 0; row < height; ++row)
        if (cudaError_t error =
                copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width))
            return error;
    return cudaSuccess;
}

}  // namespace memsim_probe

// Allocations also tell the array's name, so they are macros around functions of the same meaning.
#define MEMSIM_ALLOCATION(name, function)                                                                              \
    template <class T, class... More>                                                                                  \
    inline cudaError_t name(T* pointer, More... more) {                                                                \
        return memsim_probe::function(#name, pointer, more...);                                                        \
    }
MEMSIM_ALLOCATION(cudaMalloc, allocate)
MEMSIM_ALLOCATION(cudaMallocManaged, allocate_flags)
MEMSIM_ALLOCATION(cudaMallocHost, allocate_flags)
MEMSIM_ALLOCATION(cudaHostAlloc, allocate_flags)
MEMSIM_ALLOCATION(cudaMallocAsync, allocate_stream)
MEMSIM_ALLOCATION(cudaMallocPitch, allocate_pitch)
MEMSIM_ALLOCATION(cudaMalloc3D, allocate_3d)
#undef MEMSIM_ALLOCATION
#if !defined(__clang__)
#define cudaMalloc(...) memsim_probe::allocate(#__VA_ARGS__, __VA_ARGS__)
#define cudaMallocManaged(...) memsim_probe::allocate_flags(#__VA_ARGS__, __VA_ARGS__)
#define cudaMallocHost(...) memsim_probe::allocate_flags(#__VA_ARGS__, __VA_ARGS__)
#define cudaHostAlloc(...) memsim_probe::allocate_flags(#__VA_ARGS__, __VA_ARGS__)
#define cudaMallocAsync(...) memsim_probe::allocate_stream(#__VA_ARGS__, __VA_ARGS__)
#define cudaMallocPitch(...) memsim_probe::allocate_pitch(#__VA_ARGS__, __VA_ARGS__)
#define cudaMalloc3D(...) memsim_probe::allocate_3d(#__VA_ARGS__, __VA_ARGS__)
#endif

// A thread of a kernel frees nothing: by_bits.h names the kernels whose threads have copies of their own, and end them.
MEMSIM_CUDA cudaError_t cudaFree(void* pointer) {
    if (memsim_probe::block.inside()) return cudaSuccess;
    return memsim_result(!pointer || memsim_probe::arena.release(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}
MEMSIM_CUDA cudaError_t cudaFreeHost(void* pointer) { return cudaFree(pointer); }
MEMSIM_CUDA cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
    if (!memsim_probe::record) return cudaFree(pointer);
    return memsim_probe::in_order(cudaGraphNodeTypeMemFree,
                                  [=] { return memsim_probe::arena.launched(pointer, false), cudaSuccess; });
}
MEMSIM_CUDA cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
    *device = static_cast<T*>(host);
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    *free = memsim_probe::arena.free_bytes();
    *total = memsim_probe::Arena::capacity;
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
    void* p = const_cast<void*>(pointer);
    *out = {memsim_probe::arena.holds(p) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0, p, p};
    return cudaSuccess;
}

MEMSIM_CUDA cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
    return memsim_probe::copy(to, from, bytes);
}
MEMSIM_CUDA cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                        cudaStream_t = nullptr) {
    return memsim_probe::in_order(cudaGraphNodeTypeMemcpy, [=] { return memsim_probe::copy(to, from, bytes); });
}
MEMSIM_CUDA cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
    return memsim_probe::copy(to, from, bytes);
}
MEMSIM_CUDA cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes,
                                            cudaStream_t = nullptr) {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice);
}
MEMSIM_CUDA cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind) {
    return memsim_probe::copy_2d(to, to_pitch, from, from_pitch, width, height);
}
MEMSIM_CUDA cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                          size_t height, cudaMemcpyKind, cudaStream_t = nullptr) {
    return memsim_probe::in_order(
        cudaGraphNodeTypeMemcpy, [=] { return memsim_probe::copy_2d(to, to_pitch, from, from_pitch, width, height); });
}
MEMSIM_CUDA cudaError_t cudaMemset(void* to, int value, size_t bytes) {
    if (bytes && !to) return memsim_result(cudaErrorInvalidValue);
    if (bytes) memset(to, value, bytes);
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t = nullptr) {
    return memsim_probe::in_order(cudaGraphNodeTypeMemset, [=] { return cudaMemset(to, value, bytes); });
}
MEMSIM_CUDA cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
    for (size_t row = 0; row < height; ++row) memset(static_cast<char*>(to) + row * pitch, value, width);
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                                          cudaStream_t = nullptr) {
    return memsim_probe::in_order(cudaGraphNodeTypeMemset,
                                  [=] { return cudaMemset2D(to, pitch, value, width, height); });
}
MEMSIM_CUDA cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    for (size_t z = 0; z < extent.depth; ++z)
        cudaMemset2D(static_cast<char*>(to.ptr) + z * to.pitch * to.ysize, to.pitch, value, extent.width,
                     extent.height);
    return cudaSuccess;
}

MEMSIM_CUDA cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t = nullptr) {
    return memsim_probe::in_order(cudaGraphNodeTypeMemset, [=] { return cudaMemset3D(to, value, extent); });
}

// Copies of boxes; of arrays, textures alone know where elements lie.
struct cudaArray;
struct cudaMemcpy3DParms {
    cudaArray* srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray* dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};
namespace memsim_probe {
inline char* corner(const cudaPitchedPtr& in, cudaPos at, size_t z) {
    return static_cast<char*>(in.ptr) + ((at.z + z) * in.ysize + at.y) * in.pitch + at.x;
}
inline cudaError_t copy_3d(const cudaMemcpy3DParms& of) {
    if (of.srcArray || of.dstArray) fail("cudaMemcpy3D() of a cudaArray, which is not known here");
    for (size_t z = 0; z < of.extent.depth; ++z)
        if (cudaError_t error = copy_2d(corner(of.dstPtr, of.dstPos, z), of.dstPtr.pitch,
                                        corner(of.srcPtr, of.srcPos, z), of.srcPtr.pitch, of.extent.width,
                                        of.extent.height))
            return error;
    return cudaSuccess;
}
}  // namespace memsim_probe
MEMSIM_CUDA cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* of) { return memsim_probe::copy_3d(*of); }
MEMSIM_CUDA cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* of, cudaStream_t = nullptr) {
    cudaMemcpy3DParms copied = *of;
    return memsim_probe::in_order(cudaGraphNodeTypeMemcpy, [=] { return memsim_probe::copy_3d(copied); });
}

// Memory pools: there is one, and what is freed goes back to it at once.
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic,
    cudaMemPoolReuseAllowInternalDependencies,
    cudaMemPoolAttrReleaseThreshold,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrReservedMemHigh,
    cudaMemPoolAttrUsedMemCurrent,
    cudaMemPoolAttrUsedMemHigh
};
MEMSIM_CUDA cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) { return *pool = nullptr, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int) { return *pool = nullptr, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
    return *static_cast<unsigned long long*>(value) = 0, cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
    return *pool = nullptr, cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
struct cudaMemAccessDesc {
    cudaMemLocation location;
    int flags;
};
MEMSIM_CUDA cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) { return cudaSuccess; }
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t, cudaStream_t) {
    return memsim_probe::allocate("pool", pointer, bytes);
}
MEMSIM_CUDA cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

// Hints about managed memory: nothing to do.
template <class... Ignored>
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, Ignored...) {
    return cudaSuccess;
}
template <class... Ignored>
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, Ignored...) {
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = cudaMemAttachSingle) {
    return cudaSuccess;
}
