// What the functions of cuda::atomic and cuda::atomic_ref tell their probes.
#pragma once

#include "block.h"

namespace memsim_probe {

struct TouchedObject {
    const volatile void* object;
    size_t bytes;
};
inline TouchedObject atomic_touched{};

// A thread that reads the same once more may wait for another one, which gets its turn.
inline void read_again(const volatile void* object, uint64_t value) {
    static const volatile void* last_object = nullptr;
    static uint64_t last_value = 0;
    static unsigned last_thread = 0;
    bool again = object == last_object && value == last_value && block.thread() == last_thread;
    last_object = object;
    last_value = value;
    last_thread = block.thread();
    if (again) block.spin();
}

}  // namespace memsim_probe
