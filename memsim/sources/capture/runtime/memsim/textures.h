// Texture objects: point reads of 1-D and 2-D textures (CUDA C++ Programming Guide, "Texture and Surface Memory"). Arrays lie
// row after row; what a GPU does instead is not documented.
#pragma once

#include "device_api.h"

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone
};
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
enum { cudaArrayDefault = 0, cudaArraySurfaceLoadStore = 2 };

struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
struct cudaArray {
    cudaChannelFormatDesc format;
    size_t element_bytes, width, height;  // width and height in elements; height 0: one dimension
    void* data;
    size_t pitch() const { return width * element_bytes; }
};
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;
typedef struct cudaMipmappedArray* cudaMipmappedArray_t;
struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct { cudaArray_t array; } array;
        struct { cudaMipmappedArray_t mipmap; } mipmap;
        struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct { void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
    } res;
};
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
typedef unsigned long long cudaTextureObject_t;

namespace memsim_probe {

struct Texture {
    const char* data;
    cudaChannelFormatDesc format;
    size_t element_bytes, width, height, pitch;
    cudaTextureDesc how;
};

inline size_t bytes_of(const cudaChannelFormatDesc& format) { return (format.x + format.y + format.z + format.w) / 8; }

inline const void* texel = nullptr;  // the last one read, for its probe

// A coordinate as an element's number; -1: outside, where the border is.
inline long element(float coordinate, size_t size, cudaTextureAddressMode mode, bool normalized) {
    float position = normalized ? coordinate * size : coordinate;
    long i = static_cast<long>(floorf(position)), n = size;
    if (i >= 0 && i < n) return i;
    if (mode == cudaAddressModeBorder) return -1;
    if (!normalized || mode == cudaAddressModeClamp) return i < 0 ? 0 : n - 1;
    long turns = i >= 0 ? i / n : -((n - 1 - i) / n), rest = i - turns * n;
    return mode == cudaAddressModeMirror && turns & 1 ? n - 1 - rest : rest;
}

template <class T> struct Channels { static constexpr int count = 1; using Type = T; };
#define MEMSIM_CHANNELS(name, type)                                                                            \
    template <> struct Channels<name##1> { static constexpr int count = 1; using Type = type; };               \
    template <> struct Channels<name##2> { static constexpr int count = 2; using Type = type; };               \
    template <> struct Channels<name##4> { static constexpr int count = 4; using Type = type; };
MEMSIM_CHANNELS(char, signed char)
MEMSIM_CHANNELS(uchar, unsigned char)
MEMSIM_CHANNELS(short, short)
MEMSIM_CHANNELS(ushort, unsigned short)
MEMSIM_CHANNELS(int, int)
MEMSIM_CHANNELS(uint, unsigned)
MEMSIM_CHANNELS(float, float)
#undef MEMSIM_CHANNELS

template <class T>
struct Format {
    static constexpr cudaChannelFormatDesc make() {
        using Channel = typename Channels<T>::Type;
        constexpr int bits = sizeof(Channel) * 8, count = Channels<T>::count;
        auto kind = std::is_floating_point_v<Channel> ? cudaChannelFormatKindFloat
                    : std::is_signed_v<Channel>       ? cudaChannelFormatKindSigned
                                                      : cudaChannelFormatKindUnsigned;
        return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
    }
};

// A stored integer of `bits` bits as a part of its largest value.
inline float normalized_channel(const char* data, int bits, bool is_signed) {
    long value = 0;
    if (bits == 8) value = is_signed ? *reinterpret_cast<const signed char*>(data) : *reinterpret_cast<const unsigned char*>(data);
    else value = is_signed ? *reinterpret_cast<const short*>(data) : *reinterpret_cast<const unsigned short*>(data);
    long most = (1L << (is_signed ? bits - 1 : bits)) - 1;
    return value < -most ? -1.0f : static_cast<float>(value) / most;
}

template <class T>
T read_texel(const Texture& texture, long x, long y) {
    T result{};
    using Channel = typename Channels<T>::Type;
    auto channels = reinterpret_cast<Channel*>(&result);
    if (x < 0 || y < 0) {
        for (int c = 0; c < Channels<T>::count; ++c) channels[c] = static_cast<Channel>(texture.how.borderColor[c]);
        texel = nullptr;
        return result;
    }
    const char* data = texture.data + y * texture.pitch + x * texture.element_bytes;
    texel = data;
    if (texture.how.readMode == cudaReadModeElementType || texture.format.f == cudaChannelFormatKindFloat) {
        memcpy(&result, data, sizeof(T) < texture.element_bytes ? sizeof(T) : texture.element_bytes);
    } else {
        int bits = texture.format.x;
        for (int c = 0; c < Channels<T>::count; ++c)
            channels[c] = static_cast<Channel>(
                normalized_channel(data + c * bits / 8, bits, texture.format.f == cudaChannelFormatKindSigned));
    }
    return result;
}

template <class T>
T fetch_1d(const Texture& texture, int x) {
    bool outside = x < 0 || static_cast<size_t>(x) >= texture.width;
    return read_texel<T>(texture, outside ? -1 : x, 0);
}
template <class T>
T read_1d(const Texture& texture, float x) {
    return read_texel<T>(texture, element(x, texture.width, texture.how.addressMode[0], texture.how.normalizedCoords), 0);
}
template <class T>
T read_2d(const Texture& texture, float x, float y) {
    const cudaTextureDesc& how = texture.how;
    return read_texel<T>(texture, element(x, texture.width, how.addressMode[0], how.normalizedCoords),
                         element(y, texture.height, how.addressMode[1], how.normalizedCoords));
}

inline Texture make_texture(const cudaResourceDesc& what, const cudaTextureDesc& how) {
    if (how.filterMode == cudaFilterModeLinear) fail("a texture with linear filtering: only point reads are supported");
    Texture texture{};
    texture.how = how;
    auto set = [&](void* data, const cudaChannelFormatDesc& format, size_t width, size_t height, size_t pitch) {
        texture.data = static_cast<char*>(data);
        texture.format = format;
        texture.element_bytes = bytes_of(format);
        texture.width = width, texture.height = height, texture.pitch = pitch;
    };
    if (what.resType == cudaResourceTypeLinear) {
        const auto& line = what.res.linear;
        set(line.devPtr, line.desc, line.sizeInBytes / bytes_of(line.desc), 1, 0);
    } else if (what.resType == cudaResourceTypePitch2D) {
        const auto& plane = what.res.pitch2D;
        set(plane.devPtr, plane.desc, plane.width, plane.height, plane.pitchInBytes);
    } else if (what.resType == cudaResourceTypeArray) {
        const cudaArray& array = *what.res.array.array;
        set(array.data, array.format, array.width, array.height ? array.height : 1, array.pitch());
    } else {
        fail("a mipmapped texture: only 1-D and 2-D textures are supported");
    }
    return texture;
}

inline const Texture& texture_of(cudaTextureObject_t object) { return *reinterpret_cast<const Texture*>(object); }

inline cudaError_t allocate_array(const char* text, cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                                  size_t height = 0, unsigned = 0) {
    size_t bytes = bytes_of(*format);
    void* data = nullptr;
    if (cudaError_t error = allocate(text, &data, width * (height ? height : 1) * bytes)) return error;
    *array = new cudaArray{*format, bytes, width, height, data};
    return cudaSuccess;
}

}  // namespace memsim_probe

MEMSIM_CUDA cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) { return {x, y, z, w, f}; }
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() { return memsim_probe::Format<T>::make(); }

inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height = 0, unsigned = 0) {
    return memsim_probe::allocate_array("array", array, format, width, height);
}
#if !defined(__clang__)
#define cudaMallocArray(...) ::memsim_probe::allocate_array(#__VA_ARGS__, __VA_ARGS__)
#endif
MEMSIM_CUDA cudaError_t cudaFreeArray(cudaArray_t array) {
    if (array) cudaFree(array->data);
    delete array;
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind) {
    return memsim_probe::copy(static_cast<char*>(to->data) + y * to->pitch() + x, from, bytes);
}
MEMSIM_CUDA cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind) {
    return memsim_probe::copy(to, static_cast<char*>(from->data) + y * from->pitch() + x, bytes);
}
MEMSIM_CUDA cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                            size_t height, cudaMemcpyKind) {
    return memsim_probe::copy_2d(static_cast<char*>(to->data) + y * to->pitch() + x, to->pitch(), from, pitch, width, height);
}
MEMSIM_CUDA cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                              size_t height, cudaMemcpyKind) {
    return memsim_probe::copy_2d(to, pitch, static_cast<char*>(from->data) + y * from->pitch() + x, from->pitch(), width, height);
}

MEMSIM_CUDA cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* what, const cudaTextureDesc* how,
                                                const cudaResourceViewDesc*) {
    memsim_probe::Texture texture = memsim_probe::make_texture(*what, *how);
    *object = reinterpret_cast<cudaTextureObject_t>(new memsim_probe::Texture(texture));
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    delete &memsim_probe::texture_of(object);
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
MEMSIM_CUDA_TEMPLATE void tex1Dfetch(T* value, cudaTextureObject_t object, int x) { *value = tex1Dfetch<T>(object, x); }
template <class T>
MEMSIM_CUDA_TEMPLATE void tex2D(T* value, cudaTextureObject_t object, float x, float y) { *value = tex2D<T>(object, x, y); }
