// Reductions over a group (CUDA C++ Programming Guide, "Reduce Operations").
#pragma once

#include "../cooperative_groups.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cooperative_groups {

template <class T>
struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};

template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation&& operation) {
    T result = group.shfl(value, 0);
    for (unsigned rank = 1; rank < group.size(); ++rank) result = operation(result, group.shfl(value, rank));
    return result;
}

}  // namespace cooperative_groups

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
