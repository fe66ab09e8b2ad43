// Shifts as a GPU does them: by the width or more they shift everything out (PTX ISA, shl and shr). C++ leaves that
// undefined, and the host's processor takes the distance modulo the width; programs rely on the former.
#pragma once

#include <type_traits>

#include "attributes.h"

namespace memsim_probe {

template <class T, class D>
MEMSIM_INLINE constexpr auto shift_left(const T& value, const D& distance) {
    if constexpr (std::is_integral<T>::value && std::is_integral<D>::value) {
        using Promoted = decltype(+value);
        return static_cast<unsigned long long>(distance) < 8 * sizeof(Promoted) ? +value << distance : Promoted{0};
    } else {
        return value << distance;
    }
}

template <class T, class D>
MEMSIM_INLINE constexpr auto shift_right(const T& value, const D& distance) {
    if constexpr (std::is_integral<T>::value && std::is_integral<D>::value) {
        using Promoted = decltype(+value);
        constexpr unsigned long long last = 8 * sizeof(Promoted) - 1;
        if (static_cast<unsigned long long>(distance) <= last) return static_cast<Promoted>(+value >> distance);
        return std::is_signed<Promoted>::value ? static_cast<Promoted>(+value >> last) : Promoted{0};
    } else {
        return value >> distance;
    }
}

template <class T, class D>
MEMSIM_INLINE constexpr T&& shift_left_assign(T&& value, const D& distance) {
    using Value = std::remove_cv_t<std::remove_reference_t<T>>;
    if constexpr (std::is_integral<Value>::value) value = static_cast<Value>(shift_left(value, distance));
    else value <<= distance;
    return static_cast<T&&>(value);
}

template <class T, class D>
MEMSIM_INLINE constexpr T&& shift_right_assign(T&& value, const D& distance) {
    using Value = std::remove_cv_t<std::remove_reference_t<T>>;
    if constexpr (std::is_integral<Value>::value) value = static_cast<Value>(shift_right(value, distance));
    else value >>= distance;
    return static_cast<T&&>(value);
}

}  // namespace memsim_probe
