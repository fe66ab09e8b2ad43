// What a template leaves open until it is instantiated: whether an expression is an object, and whether it is copied
// whole there, or accessed by a function that gets a reference. An array is never accessed as a whole.
#pragma once

#include <type_traits>

namespace memsim_probe {

template <class T>
struct Kind {
    using Object = std::remove_reference_t<T>;
    static constexpr bool operates = std::is_class<Object>::value || std::is_union<Object>::value;
    static constexpr bool scalar =
        !operates && std::is_object<Object>::value && !std::is_array<Object>::value && std::is_lvalue_reference<T>::value;
};

// Copied to a `Target`, by default to another of its own type. A class's own constructor accesses what it wants.
template <class Target, class T>
constexpr bool is_copied() {
    using Object = std::remove_cv_t<std::remove_reference_t<T>>;
    using To = std::conditional_t<std::is_void<Target>::value, Object, std::remove_reference_t<Target>>;
    return Kind<T>::operates && std::is_lvalue_reference<T>::value && std::is_trivially_constructible<To, T>::value;
}

// Assigned to a `Left`: whole, unless by an operator of the class's own.
template <class Left, class T>
constexpr bool is_assigned() {
    using To = std::conditional_t<std::is_void<Left>::value, T, Left>;
    return Kind<T>::operates && std::is_lvalue_reference<T>::value &&
           std::is_trivially_assignable<std::remove_reference_t<To>&, T>::value;
}

// The object that a `Right` is assigned to.
template <class Right, class T>
constexpr bool is_stored() {
    using Object = std::remove_cv_t<std::remove_reference_t<T>>;
    using From = std::conditional_t<std::is_void<Right>::value, Object, Right>;
    return Kind<T>::operates && std::is_lvalue_reference<T>::value &&
           std::is_trivially_copy_assignable<Object>::value && std::is_convertible<From, Object>::value;
}

template <bool accessed, class T, class Probe>
inline __host__ __device__ void probe_if(T& value, Probe& probe) {
    if constexpr (accessed) probe(value);
}

#pragma nv_exec_check_disable
template <class T, class Probe>
inline __host__ __device__ T&& operand(T&& value, Probe probe) {
    probe_if<Kind<T>::scalar>(value, probe);
    return static_cast<T&&>(value);
}
#pragma nv_exec_check_disable
template <class Target, class T, class Probe>
inline __host__ __device__ T&& copied(T&& value, Probe probe) {
    probe_if<Kind<T>::scalar || is_copied<Target, T>()>(value, probe);
    return static_cast<T&&>(value);
}
#pragma nv_exec_check_disable
template <class Left, class T, class Probe>
inline __host__ __device__ T&& assigned(T&& value, Probe probe) {
    probe_if<Kind<T>::scalar || is_assigned<Left, T>()>(value, probe);
    return static_cast<T&&>(value);
}
#pragma nv_exec_check_disable
template <class Right, class T, class Probe>
inline __host__ __device__ T&& stored(T&& value, Probe probe) {
    probe_if<Kind<T>::scalar || is_stored<Right, T>()>(value, probe);
    return static_cast<T&&>(value);
}

}  // namespace memsim_probe
