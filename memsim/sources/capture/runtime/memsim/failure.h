// The one way out when a program cannot be captured: one line for the user, exit status 3.
#pragma once

#include "stream.h"

namespace memsim_probe {

// Where a kernel is at the moment; empty outside a launch.
struct Place {
    const char* kernel = nullptr;
    const char* file = "";
    int line = 0;
};
inline Place place;

[[noreturn]] inline void leave(const char* message) {
    if (stream.open()) {
        stream.text(Message::failed, message);
        stream.flush();
    } else {
        dprintf(2, "%s\n", message);
    }
    os::memsim_exit(3);
}

[[noreturn]] inline void leave(const char* where, const char* format, va_list arguments) {
    static char message[2048];
    int used = snprintf(message, 1024, "%s", where);
    vsnprintf(message + used, sizeof message - used, format, arguments);
    leave(message);
}

__attribute__((format(printf, 1, 2), noreturn)) inline void fail(const char* format, ...) {
    static char where[1024] = "";
    if (place.kernel) snprintf(where, sizeof where, "%s:%d: kernel %s: ", place.file, place.line, place.kernel);
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    leave(where, format, arguments);
}

}  // namespace memsim_probe
