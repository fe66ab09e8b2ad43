// Prefix sums over a group (CUDA C++ Programming Guide, "Inclusive Scan and Exclusive Scan").
#pragma once

#include "reduce.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cooperative_groups {

template <class Group, class T, class Operation = plus<T>>
T inclusive_scan(const Group& group, T value, Operation operation = {}) {
    T result = group.shfl(value, 0);
    for (unsigned rank = 1; rank < group.size(); ++rank) {
        T other = group.shfl(value, rank);
        if (rank <= group.thread_rank()) result = operation(result, other);
    }
    return result;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value) {
    return inclusive_scan(group, value) - value;
}

}  // namespace cooperative_groups

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
