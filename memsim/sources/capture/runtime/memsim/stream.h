// The log stream: messages to the program that started this one, and its one-line replies. A message is
// {u32 type, u32 zero, u64 payload bytes} and its payload; without MEMSIM_LOG_FD nobody listens and nothing is written.
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

namespace memsim_probe {

enum class Message : uint32_t { launch = 1, array, free, variant, block, end, failed, records, part, arguments };

inline char stream_buffer[1 << 18];

class Stream {
  public:
    bool open() {
        if (!tried) {
            tried = true;
            fd = number_in("MEMSIM_LOG_FD");
            reply_fd = number_in("MEMSIM_REPLY_FD");
            if (fd >= 0) os::memsim_prctl(os::die_with_parent, os::kill_signal);
        }
        return fd >= 0;
    }

    void begin(Message type, uint64_t payload_bytes) {
        struct {
            uint32_t type, zero;
            uint64_t bytes;
        } header{static_cast<uint32_t>(type), 0, payload_bytes};
        put(&header, sizeof header);
    }

    void put(const void* data, size_t bytes) {
        if (used + bytes > sizeof stream_buffer) flush();
        if (bytes > sizeof stream_buffer) return write_all(static_cast<const char*>(data), bytes);
        memcpy(stream_buffer + used, data, bytes);
        used += bytes;
    }

    void text(Message type, const char* content) {
        begin(type, strlen(content));
        put(content, strlen(content));
    }

    void flush() {
        write_all(stream_buffer, used);
        used = 0;
    }

    // Sends what is pending and returns the next line of reply.
    const char* ask() {
        flush();
        size_t length = 0;
        for (char c = 0; length + 1 < sizeof line && read_one(&c) && c != '\n';) line[length++] = c;
        line[length] = 0;
        return line;
    }

  private:
    static int number_in(const char* variable) {
        const char* text = getenv(variable);
        return text && *text ? atoi(text) : -1;
    }

    bool read_one(char* c) {
        long got;
        do got = os::memsim_read(reply_fd, c, 1);
        while (got < 0 && *os::memsim_errno() == os::interrupted);
        if (got != 1) os::memsim_exit(3);  // whoever listened has gone
        return true;
    }

    void write_all(const char* data, size_t bytes) {
        while (bytes) {
            long written = os::memsim_write(fd, data, bytes);
            if (written < 0 && *os::memsim_errno() == os::interrupted) continue;
            if (written <= 0) os::memsim_exit(3);
            data += written;
            bytes -= written;
        }
    }

    bool tried = false;
    int fd = -1, reply_fd = -1;
    size_t used = 0;
    char line[96] = {};
};

inline Stream stream;
inline const bool listened_to = stream.open();  // before main(): also a program that launches late ends with its reader

// Text for a JSON string.
inline void escape(const char* text, char* out, size_t room) {
    char* end = out + room - 8;
    for (; *text && out < end; ++text) {
        unsigned char c = *text;
        if (c == '"' || c == '\\') *out++ = '\\', *out++ = c;
        else if (c < 0x20) out += sprintf(out, "\\u%04x", c);
        else *out++ = c;
    }
    *out = 0;
}

}  // namespace memsim_probe
