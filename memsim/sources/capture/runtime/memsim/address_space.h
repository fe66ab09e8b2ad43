// Where things lie: fixed addresses, so that two runs of a program log the same ones.
#pragma once

#include "failure.h"

namespace memsim_probe {

constexpr uintptr_t log_region = 0x7a0000000000;
constexpr uintptr_t stack_region = 0x7b0000000000;
constexpr uintptr_t shared_region = 0x7c0000000000;
constexpr uintptr_t array_region = 0x7d0000000000;
constexpr size_t page_bytes = 4096;

constexpr size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// Address space at `wanted` (elsewhere if that is taken), without memory behind it until it is touched; null if there
// is not so much.
inline char* try_reserve(uintptr_t wanted, size_t bytes, int protection) {
    void* got = os::memsim_mmap(reinterpret_cast<void*>(wanted), bytes, protection, os::private_memory, -1, 0);
    return reinterpret_cast<uintptr_t>(got) == ~uintptr_t{0} ? nullptr : static_cast<char*>(got);
}

inline char* reserve(uintptr_t wanted, size_t bytes, int protection) {
    char* got = try_reserve(wanted, bytes, protection);
    if (!got) fail("cannot reserve %zu bytes of address space: %s", bytes, strerror(*os::memsim_errno()));
    return got;
}

// As much as the system allows, `bytes` at most, which becomes what it is.
inline char* reserve_up_to(uintptr_t wanted, size_t& bytes, int protection) {
    for (; bytes > page_bytes; bytes /= 2)
        if (char* got = try_reserve(wanted, bytes, protection)) return got;
    return reserve(wanted, bytes, protection);
}

inline void protect(char* start, size_t bytes, int protection) {
    if (os::memsim_mprotect(start, bytes, protection))
        fail("cannot map %zu bytes: %s", bytes, strerror(*os::memsim_errno()));
}

}  // namespace memsim_probe
