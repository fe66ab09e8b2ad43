// An operand of an operator in a template: of a class whose operators take references, they access it themselves.
#pragma once

#include <type_traits>

namespace memsim_probe {

#pragma nv_exec_check_disable
template <class T, class Probe>
inline __host__ __device__ T&& operand(T&& value, Probe probe) {
    using Object = std::remove_reference_t<T>;
    constexpr bool operates = std::is_class<Object>::value || std::is_union<Object>::value;
    if constexpr (std::is_lvalue_reference<T>::value && !operates) probe(value);
    return static_cast<T&&>(value);
}

}  // namespace memsim_probe
