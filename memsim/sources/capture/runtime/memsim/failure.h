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

__attribute__((format(printf, 1, 2), noreturn)) inline void fail(const char* format, ...) {
    static char message[1024];
    int used = 0;
    if (place.kernel) used = snprintf(message, 512, "%s:%d: kernel %s: ", place.file, place.line, place.kernel);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message + used, sizeof message - used, format, arguments);
    va_end(arguments);
    fflush(stdout);
    leave(message);
}

}  // namespace memsim_probe
