// Texture objects: point reads of 1-D and 2-D textures (CUDA C++ Programming Guide, "Texture and Surface Memory").
// Arrays lie row after row; what a GPU does instead is not documented.
#pragma once

#include "device_api.h"
#include "texels.h"

namespace memsim_probe {

inline cudaError_t allocate_array(const char* text, cudaArray_t* array, const cudaChannelFormatDesc* format,
                                  size_t width, size_t height = 0, unsigned = 0) {
    size_t bytes = bytes_of(*format);
    void* data = nullptr;
    if (cudaError_t error = allocate(text, &data, width * (height ? height : 1) * bytes)) return error;
    *array = new cudaArray{*format, bytes, width, height, data};
    return cudaSuccess;
}

}  // namespace memsim_probe

MEMSIM_CUDA cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    return memsim_probe::Format<T>::make();
}

inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                                   size_t height = 0, unsigned = 0) {
    return memsim_probe::allocate_array("array", array, format, width, height);
}
#if !defined(__clang__)
#define cudaMallocArray(...) memsim_probe::allocate_array(#__VA_ARGS__, __VA_ARGS__)
#endif
MEMSIM_CUDA cudaError_t cudaFreeArray(cudaArray_t array) {
    if (memsim_probe::block.inside()) return cudaSuccess;  // as cudaFree()
    if (array) cudaFree(array->data);
    delete array;
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                          cudaMemcpyKind) {
    return memsim_probe::copy(static_cast<char*>(to->data) + y * to->pitch() + x, from, bytes);
}
MEMSIM_CUDA cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                            cudaMemcpyKind) {
    return memsim_probe::copy(to, static_cast<char*>(from->data) + y * from->pitch() + x, bytes);
}
MEMSIM_CUDA cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                            size_t width, size_t height, cudaMemcpyKind) {
    return memsim_probe::copy_2d(static_cast<char*>(to->data) + y * to->pitch() + x, to->pitch(), from, pitch, width,
                                 height);
}
MEMSIM_CUDA cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                              size_t width, size_t height, cudaMemcpyKind) {
    return memsim_probe::copy_2d(to, pitch, static_cast<char*>(from->data) + y * from->pitch() + x, from->pitch(),
                                 width, height);
}

MEMSIM_CUDA cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* what,
                                                const cudaTextureDesc* how, const cudaResourceViewDesc*) {
    memsim_probe::Texture texture = memsim_probe::make_texture(*what, *how);
    *object = reinterpret_cast<cudaTextureObject_t>(new memsim_probe::Texture(texture));
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    if (!memsim_probe::block.inside()) delete &memsim_probe::texture_of(object);
    return cudaSuccess;
}

template <class T>
MEMSIM_CUDA_TEMPLATE T tex1Dfetch(cudaTextureObject_t object, int x) {
    return memsim_probe::fetch_1d<T>(memsim_probe::texture_of(object), x);
}
template <class T>
MEMSIM_CUDA_TEMPLATE T tex1D(cudaTextureObject_t object, float x) {
    return memsim_probe::read_1d<T>(memsim_probe::texture_of(object), x);
}
template <class T>
MEMSIM_CUDA_TEMPLATE T tex2D(cudaTextureObject_t object, float x, float y) {
    return memsim_probe::read_2d<T>(memsim_probe::texture_of(object), x, y);
}
template <class T>
MEMSIM_CUDA_TEMPLATE void tex1Dfetch(T* value, cudaTextureObject_t object, int x) {
    *value = tex1Dfetch<T>(object, x);
}
template <class T>
MEMSIM_CUDA_TEMPLATE void tex2D(T* value, cudaTextureObject_t object, float x, float y) {
    *value = tex2D<T>(object, x, y);
}
