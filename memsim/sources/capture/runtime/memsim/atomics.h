// Atomic functions (CUDA C++ Programming Guide, "Atomic Functions"). Only one thread runs at a time, so plain code
// does; one that fails to change anything may be waiting for another thread, which gets its turn.
#pragma once

#include "block.h"

namespace memsim_probe {
template <class T>
struct Exactly {
    using Type = T;
};
template <class T>
using Same = typename Exactly<T>::Type;  // converts to the pointer's type, takes no part in deduction
}  // namespace memsim_probe

// Each exists for the whole device, for the system and for the block.
#define MEMSIM_ATOMIC(name, expression)                                                                                \
    template <class T>                                                                                                 \
    MEMSIM_CUDA_TEMPLATE T name(T* address, memsim_probe::Same<T> value) {                                             \
        T old = *address;                                                                                              \
        *address = static_cast<T>(expression);                                                                         \
        return old;                                                                                                    \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    MEMSIM_CUDA_TEMPLATE T name##_system(T* address, memsim_probe::Same<T> value) {                                    \
        return name(address, value);                                                                                   \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    MEMSIM_CUDA_TEMPLATE T name##_block(T* address, memsim_probe::Same<T> value) {                                     \
        return name(address, value);                                                                                   \
    }
MEMSIM_ATOMIC(atomicAdd, old + value)
MEMSIM_ATOMIC(atomicSub, old - value)
MEMSIM_ATOMIC(atomicMin, value < old ? value : old)
MEMSIM_ATOMIC(atomicMax, old < value ? value : old)
MEMSIM_ATOMIC(atomicAnd, old& value)
MEMSIM_ATOMIC(atomicOr, old | value)
MEMSIM_ATOMIC(atomicXor, old ^ value)
MEMSIM_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
MEMSIM_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef MEMSIM_ATOMIC

template <class T>
MEMSIM_CUDA_TEMPLATE T atomicExch(T* address, memsim_probe::Same<T> value) {
    T old = *address;
    *address = value;
    if (!memcmp(&old, &value, sizeof old)) memsim_probe::block.spin();
    return old;
}
template <class T>
MEMSIM_CUDA_TEMPLATE T atomicCAS(T* address, memsim_probe::Same<T> compare, memsim_probe::Same<T> value) {
    T old = *address;
    if (!memcmp(&old, &compare, sizeof old)) *address = value;
    else memsim_probe::block.spin();
    return old;
}
template <class T>
MEMSIM_CUDA_TEMPLATE T atomicExch_system(T* address, memsim_probe::Same<T> value) {
    return atomicExch(address, value);
}
template <class T>
MEMSIM_CUDA_TEMPLATE T atomicExch_block(T* address, memsim_probe::Same<T> value) {
    return atomicExch(address, value);
}
template <class T>
MEMSIM_CUDA_TEMPLATE T atomicCAS_system(T* address, memsim_probe::Same<T> compare, memsim_probe::Same<T> value) {
    return atomicCAS(address, compare, value);
}
template <class T>
MEMSIM_CUDA_TEMPLATE T atomicCAS_block(T* address, memsim_probe::Same<T> compare, memsim_probe::Same<T> value) {
    return atomicCAS(address, compare, value);
}
