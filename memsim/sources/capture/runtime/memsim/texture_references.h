// Texture references, of CUDA before 12: global objects that are bound to memory by name.
#pragma once

#include "textures.h"

constexpr int cudaTextureType1D = 1, cudaTextureType2D = 2;

struct textureReference {
    int normalized = 0;
    cudaTextureFilterMode filterMode = cudaFilterModePoint;
    cudaTextureAddressMode addressMode[3] = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp};
    cudaChannelFormatDesc channelDesc{};
    cudaTextureReadMode memsim_mode = cudaReadModeElementType;
    memsim_probe::Texture memsim_bound{};
};

template <class T, int Dimensions = cudaTextureType1D, cudaTextureReadMode Mode = cudaReadModeElementType>
struct texture : textureReference {
    texture() {
        channelDesc = memsim_probe::Format<T>::make();
        memsim_mode = Mode;
    }
    texture(int normalize, cudaTextureFilterMode filter, cudaTextureAddressMode address) : texture() {
        normalized = normalize, filterMode = filter;
        for (auto& mode : addressMode) mode = address;
    }
};

namespace memsim_probe {

inline cudaError_t bind(textureReference& reference, const cudaResourceDesc& what) {
    cudaTextureDesc how{};
    for (int i = 0; i < 3; ++i) how.addressMode[i] = reference.addressMode[i];
    how.filterMode = reference.filterMode;
    how.readMode = reference.memsim_mode;
    how.normalizedCoords = reference.normalized;
    reference.memsim_bound = make_texture(what, how);
    return cudaSuccess;
}

}  // namespace memsim_probe

// Each binding exists for a reference with the format given or its own, and for a pointer, as C has it.
inline cudaError_t cudaBindTexture(size_t* offset, textureReference& reference, const void* data,
                                   const cudaChannelFormatDesc& format, size_t bytes = 0xFFFFFFFF) {
    if (offset) *offset = 0;
    cudaResourceDesc what{};
    what.resType = cudaResourceTypeLinear;
    what.res.linear = {const_cast<void*>(data), format, bytes};
    return memsim_probe::bind(reference, what);
}
inline cudaError_t cudaBindTexture(size_t* offset, textureReference& reference, const void* data,
                                   size_t bytes = 0xFFFFFFFF) {
    return cudaBindTexture(offset, reference, data, reference.channelDesc, bytes);
}
inline cudaError_t cudaBindTexture(size_t* offset, const textureReference* reference, const void* data,
                                   const cudaChannelFormatDesc* format, size_t bytes = 0xFFFFFFFF) {
    return cudaBindTexture(offset, const_cast<textureReference&>(*reference), data, *format, bytes);
}

inline cudaError_t cudaBindTexture2D(size_t* offset, textureReference& reference, const void* data,
                                     const cudaChannelFormatDesc& format, size_t width, size_t height, size_t pitch) {
    if (offset) *offset = 0;
    cudaResourceDesc what{};
    what.resType = cudaResourceTypePitch2D;
    what.res.pitch2D = {const_cast<void*>(data), format, width, height, pitch};
    return memsim_probe::bind(reference, what);
}
inline cudaError_t cudaBindTexture2D(size_t* offset, textureReference& reference, const void* data, size_t width,
                                     size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, reference, data, reference.channelDesc, width, height, pitch);
}
inline cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* reference, const void* data,
                                     const cudaChannelFormatDesc* format, size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, const_cast<textureReference&>(*reference), data, *format, width, height, pitch);
}

inline cudaError_t cudaBindTextureToArray(textureReference& reference, cudaArray_const_t array,
                                          const cudaChannelFormatDesc&) {
    cudaResourceDesc what{};
    what.resType = cudaResourceTypeArray;
    what.res.array.array = const_cast<cudaArray_t>(array);
    return memsim_probe::bind(reference, what);
}
inline cudaError_t cudaBindTextureToArray(textureReference& reference, cudaArray_const_t array) {
    return cudaBindTextureToArray(reference, array, reference.channelDesc);
}
inline cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                          const cudaChannelFormatDesc* format) {
    return cudaBindTextureToArray(const_cast<textureReference&>(*reference), array, *format);
}

inline cudaError_t cudaUnbindTexture(const textureReference&) { return cudaSuccess; }
inline cudaError_t cudaUnbindTexture(const textureReference*) { return cudaSuccess; }

template <class T, int D>
MEMSIM_CUDA_TEMPLATE T tex1Dfetch(const texture<T, D, cudaReadModeElementType>& t, int x) {
    return memsim_probe::fetch_1d<T>(t.memsim_bound, x);
}
template <class T, int D>
MEMSIM_CUDA_TEMPLATE T tex1D(const texture<T, D, cudaReadModeElementType>& t, float x) {
    return memsim_probe::read_1d<T>(t.memsim_bound, x);
}
template <class T, int D>
MEMSIM_CUDA_TEMPLATE T tex2D(const texture<T, D, cudaReadModeElementType>& t, float x, float y) {
    return memsim_probe::read_2d<T>(t.memsim_bound, x, y);
}
