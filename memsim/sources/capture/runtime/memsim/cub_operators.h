// Function objects and pairs that CUB's functions take (CUB documentation, "Thread-level primitives").
#pragma once

#include <stddef.h>

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cub {

#define MEMSIM_CUB_OPERATOR(name, result)                                                                              \
    struct name {                                                                                                      \
        template <class A, class B>                                                                                    \
        constexpr auto operator()(const A& a, const B& b) const {                                                      \
            return result;                                                                                             \
        }                                                                                                              \
    };
MEMSIM_CUB_OPERATOR(Sum, a + b)
MEMSIM_CUB_OPERATOR(Difference, a - b)
MEMSIM_CUB_OPERATOR(Division, a / b)
MEMSIM_CUB_OPERATOR(Max, a < b ? b : a)
MEMSIM_CUB_OPERATOR(Min, b < a ? b : a)
MEMSIM_CUB_OPERATOR(Equality, a == b)
MEMSIM_CUB_OPERATOR(Inequality, a != b)
#undef MEMSIM_CUB_OPERATOR

template <class Key, class Value>
struct KeyValuePair {
    typedef Key KeyT;
    typedef Value ValueT;
    Key key;
    Value value;
};

// Of pairs of place and value; the earlier of equals.
struct ArgMax {
    template <class P>
    constexpr P operator()(const P& a, const P& b) const {
        return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class P>
    constexpr P operator()(const P& a, const P& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

}  // namespace cub

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
