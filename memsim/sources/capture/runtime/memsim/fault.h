// What ends a kernel in one of its threads, in one line: a fault at an address is told with the array's name. Faults in
// host code take their usual course.
#pragma once

#include "block.h"

namespace memsim_probe {

// Also from a signal's handler: it must not touch what the kernel may have been writing to.
__attribute__((format(printf, 1, 2), noreturn)) inline void fail_in_thread(const char* format, ...) {
    static char where[1024];
    snprintf(where, sizeof where, "%s:%d: kernel %s, block (%u,%u,%u), thread (%u,%u,%u): ", place.file, place.line,
             place.kernel, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    va_list arguments;
    va_start(arguments, format);
    leave(where, format, arguments);
}

inline void describe_address(uintptr_t address, char* out, size_t room) {
    const Array* array = arrays.nearest(address);
    size_t end = array ? array->base + array->bytes : 0;
    if (!array || array->space != global_) snprintf(out, room, "illegal address %#zx", address);
    else if (address < array->base)
        snprintf(out, room, "illegal address, %zu bytes before `%s`", array->base - address, array->name);
    else
        snprintf(out, room, "illegal address, %zu bytes past the end of `%s` (%zu bytes)", address - end, array->name,
                 array->bytes);
}

inline void on_fault(int signal, os::SignalInfo* info, void*) {
    if (!block.inside()) {
        os::SignalAction usual{};
        os::memsim_sigaction(signal, &usual, nullptr);
        return;  // the instruction faults again
    }
    auto address = reinterpret_cast<uintptr_t>(info->address);
    if (signal == os::arithmetic_error) fail_in_thread("integer division by zero");
    if (stacks.holds(address)) fail_in_thread("stack overflow: raise MEMSIM_STACK (bytes a thread)");
    static char what[256];
    describe_address(address, what, sizeof what);
    fail_in_thread("%s", what);
}

// Before a kernel; the handler's stack is each OS thread's own.
inline void catch_faults() {
    static thread_local char* stack = nullptr;
    if (stack) return;
    constexpr size_t bytes = 1 << 16;
    stack = static_cast<char*>(malloc(bytes));
    os::SignalStack alternative{stack, 0, bytes};
    os::memsim_sigaltstack(&alternative, nullptr);
    os::SignalAction action{};
    action.handler = on_fault;
    action.flags = os::with_info | os::on_stack;
    for (int signal : {os::segmentation_fault, os::bus_error, os::arithmetic_error})
        os::memsim_sigaction(signal, &action, nullptr);
}

}  // namespace memsim_probe
