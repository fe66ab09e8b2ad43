// Pointers with the probe they come from, for functions that know best what they access behind them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "variants.h"

namespace memsim_probe {

template <uint32_t Site, class T>
struct Tile {
    using Element = T;
    T* pointer;
    template <int bytes>
    void touch(const char* address) const {
        log_word(Variant<Site, bytes>::tag | reinterpret_cast<uintptr_t>(address));
    }
};
// Where there is no probe.
template <class T>
struct Unwatched {
    using Element = T;
    T* pointer;
    template <int bytes>
    void touch(const char*) const {}
};
template <class T>
Unwatched<T> watched(T* pointer) {
    return {pointer};
}
template <uint32_t Site, class T>
Tile<Site, T> watched(Tile<Site, T> tile) {
    return tile;
}

// Copies bytes, and tells the probes of the pieces that they are copied in.
template <size_t width, class To, class From>
void copy_pieces(To to, From from, size_t bytes) {
    auto target = const_cast<char*>(reinterpret_cast<const volatile char*>(to.pointer));
    auto source = reinterpret_cast<const char*>(from.pointer);
    for (size_t at = 0; at < bytes; at += width) {
        from.template touch<width>(source + at);
        memcpy(target + at, source + at, width);
        to.template touch<width>(target + at);
    }
}
template <class To, class From>
void copy_watched(To to, From from, size_t bytes) {
    size_t aligned = reinterpret_cast<uintptr_t>(to.pointer) | reinterpret_cast<uintptr_t>(from.pointer) | bytes;
    if (aligned % 16 == 0) copy_pieces<16>(to, from, bytes);
    else if (aligned % 8 == 0) copy_pieces<8>(to, from, bytes);
    else if (aligned % 4 == 0) copy_pieces<4>(to, from, bytes);
    else copy_pieces<1>(to, from, bytes);
}

// One thread's part of a copy that several make together, in pieces of at most 16 bytes.
template <class To, class From>
void copy_part(To to, From from, size_t bytes, size_t rank, size_t threads) {
    auto target = reinterpret_cast<uintptr_t>(to.pointer), source = reinterpret_cast<uintptr_t>(from.pointer);
    size_t aligned = target | source | bytes, width = aligned % 16 == 0 ? 16 : aligned % 4 == 0 ? 4 : 1;
    for (size_t at = rank * width; at < bytes; at += threads * width) {
        to.pointer = reinterpret_cast<decltype(to.pointer)>(target + at);
        from.pointer = reinterpret_cast<decltype(from.pointer)>(source + at);
        copy_watched(to, from, width);
    }
}

}  // namespace memsim_probe
