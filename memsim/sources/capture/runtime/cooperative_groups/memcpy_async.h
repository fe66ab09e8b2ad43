// Copies by a group (CUDA C++ Programming Guide, "Data Transfer"), done at once and shared out among its threads.
#pragma once

#include "../cooperative_groups.h"
#include "memsim/watched.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cooperative_groups {

template <class Group, class To, class From, class Size>
void memcpy_async(const Group& group, To to, From from, Size bytes) {
    memsim_probe::copy_part(
        memsim_probe::watched(to), memsim_probe::watched(from), bytes, group.thread_rank(), group.size());
}
template <class Group>
void wait(const Group& group) {
    group.sync();
}
template <unsigned, class Group>
void wait_prior(const Group& group) {
    group.sync();
}

}  // namespace cooperative_groups

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
