// The name of the kernel that a pointer points to, from the program's own symbols (it is linked with -rdynamic).
#pragma once

#include <stdlib.h>
#include <string.h>

namespace memsim_probe {

namespace os {
struct SymbolInfo {
    const char* file;
    void* base;
    const char* name;
    void* address;
};
extern "C" {
int memsim_dladdr(const void* address, SymbolInfo* found) __asm__("dladdr");
char* memsim_demangle(const char* name, char* room, size_t* bytes, int* status) __asm__("__cxa_demangle");
}
}  // namespace os

// Without the parameters' types and the type that is returned; as it is written in the launch, where it is not known.
inline const char* name_of_function(const void* address, const char* written) {
    os::SymbolInfo found{};
    if (!os::memsim_dladdr(address, &found) || !found.name || found.address != address) return written;
    char* name = os::memsim_demangle(found.name, nullptr, nullptr, nullptr);
    if (!name) return found.name;  // of C
    char* end = name + strlen(name);
    int depth = 0;
    while (end > name) {
        --end;
        depth += (*end == ')') - (*end == '(');
        if (*end == '(' && depth == 0) break;
    }
    *end = 0;
    return strncmp(name, "void ", 5) ? name : name + 5;
}

template <class R, class... P>
const char* name_of(R (*kernel)(P...), const char* written) {
    return name_of_function(reinterpret_cast<const void*>(kernel), written);
}
template <class K>
const char* name_of(const K&, const char* written) {
    return written;
}

}  // namespace memsim_probe
