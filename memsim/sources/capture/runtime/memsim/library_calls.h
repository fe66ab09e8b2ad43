// Functions of CUDA's libraries that are declared and not there: a program that includes a library's header builds, and
// one that calls such a function ends there, in one line that names it.
#pragma once

#include "failure.h"

namespace memsim_probe {

[[noreturn]] inline void refuse_call(const char* name) {
    fail("calls %s(), which is not known here; capture the program's kernels without it", name);
}

}  // namespace memsim_probe

#define MEMSIM_REFUSED(result, name)                                                                                   \
    template <class... A>                                                                                              \
    inline result name(A&&...) {                                                                                       \
        memsim_probe::refuse_call(#name);                                                                              \
    }
