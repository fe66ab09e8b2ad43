// assert() (CUDA C++ Programming Guide, "Assertion"): in a kernel it ends the program with one line that names the
// thread, in host code it does what C says. All assert() does is call this function of the C library.
#pragma once

#include "fault.h"

#if !defined(__clang__)
namespace memsim_probe {

extern "C" __attribute__((weak, used, noreturn)) void memsim_assert_fail(const char*, const char*, unsigned,
                                                                         const char*) __asm__("__assert_fail");
void memsim_assert_fail(const char* expression, const char* file, unsigned line, const char* function) {
    fflush(stdout);
    if (block.inside()) fail_in_thread("assertion `%s` failed at %s:%u in %s", expression, file, line, function);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    abort();
}

}  // namespace memsim_probe
#endif
