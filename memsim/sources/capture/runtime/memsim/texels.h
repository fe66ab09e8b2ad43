// How a texture is read: from coordinates to an element, from its bytes to a value.
#pragma once

#include <math.h>

#include <type_traits>

#include "failure.h"
#include "texture_types.h"
#include "vectors.h"

namespace memsim_probe {

struct Texture {
    const char* data;
    cudaChannelFormatDesc format;
    size_t element_bytes, width, height, pitch;
    cudaTextureDesc how;
};

inline size_t bytes_of(const cudaChannelFormatDesc& format) { return (format.x + format.y + format.z + format.w) / 8; }

inline const void* texel = nullptr;  // the last one read, for its probe

// The element that lies at a position. With linear filtering that is one alone at an element's middle, less than 1/512
// beside it: the fraction is 0 in its 8 bits (CUDA C++ Programming Guide, "Linear Filtering").
inline long element_at(float position, cudaTextureFilterMode filter) {
    if (filter == cudaFilterModePoint) return static_cast<long>(floorf(position));
    float nearest = floorf(position - 0.5f + 0.5f / 256), fraction = position - 0.5f - nearest;
    if (fraction >= 0.5f / 256)
        fail("a texture with linear filtering is read at %g, between elements: only reads at their middle are supported",
             position);
    return static_cast<long>(nearest);
}

// A coordinate as an element's number; -1: outside, where the border is.
inline long element(float coordinate, size_t size, const cudaTextureDesc& how, int axis) {
    bool normalized = how.normalizedCoords;
    cudaTextureAddressMode mode = how.addressMode[axis];
    bool clamped = mode == cudaAddressModeClamp || (!normalized && mode != cudaAddressModeBorder);
    float position = normalized ? coordinate * size : coordinate, last = size - 0.5f;
    // Beyond the outermost middles, both neighbours are the same element.
    if (clamped) position = !(position >= 0.5f) ? 0.5f : position > last ? last : position;  // NaN: the first
    long i = element_at(position, how.filterMode), n = size;
    if (i >= 0 && i < n) return i;
    if (mode == cudaAddressModeBorder) return -1;
    long turns = i >= 0 ? i / n : -((n - 1 - i) / n), rest = i - turns * n;
    return mode == cudaAddressModeMirror && turns & 1 ? n - 1 - rest : rest;
}

template <class T>
struct Channels {
    static constexpr int count = 1;
    using Type = T;
};
#define MEMSIM_CHANNELS(name, type)                                                                                    \
    template <>                                                                                                        \
    struct Channels<name##1> {                                                                                         \
        static constexpr int count = 1;                                                                                \
        using Type = type;                                                                                             \
    };                                                                                                                 \
    template <>                                                                                                        \
    struct Channels<name##2> {                                                                                         \
        static constexpr int count = 2;                                                                                \
        using Type = type;                                                                                             \
    };                                                                                                                 \
    template <>                                                                                                        \
    struct Channels<name##4> {                                                                                         \
        static constexpr int count = 4;                                                                                \
        using Type = type;                                                                                             \
    };
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
        auto kind = std::is_floating_point<Channel>::value ? cudaChannelFormatKindFloat
                    : std::is_signed<Channel>::value       ? cudaChannelFormatKindSigned
                                                      : cudaChannelFormatKindUnsigned;
        return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
    }
};

// A stored integer of `bits` bits as a part of its largest value.
inline float normalized_channel(const char* data, int bits, bool is_signed) {
    long value = 0;
    if (bits == 8)
        value = is_signed ? *reinterpret_cast<const signed char*>(data) : *reinterpret_cast<const unsigned char*>(data);
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
    return read_texel<T>(texture, element(x, texture.width, texture.how, 0), 0);
}
template <class T>
T read_2d(const Texture& texture, float x, float y) {
    return read_texel<T>(texture, element(x, texture.width, texture.how, 0),
                         element(y, texture.height, texture.how, 1));
}

inline Texture make_texture(const cudaResourceDesc& what, const cudaTextureDesc& how) {
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

}  // namespace memsim_probe
