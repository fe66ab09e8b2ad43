// The few calls of the operating system that the runtime makes, and their constants on Linux, declared under names of
// its own: nvcc includes no <unistd.h>, <signal.h> or <sys/mman.h>, so programs may have a variable `signal`, a
// function `read` or a type `stack_t`. A test compares this page with the system's headers.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

namespace memsim_probe {
namespace os {

extern "C" {
long memsim_read(int file, void* data, size_t bytes) __asm__("read");
long memsim_write(int file, const void* data, size_t bytes) __asm__("write");
void memsim_exit(int status) __asm__("_exit") __attribute__((noreturn));
int* memsim_errno() __asm__("__errno_location");
int memsim_yield() __asm__("sched_yield");
int memsim_prctl(int option, unsigned long value) __asm__("prctl");

void* memsim_mmap(void* start, size_t bytes, int protection, int flags, int file, long offset) __asm__("mmap");
int memsim_mprotect(void* start, size_t bytes, int protection) __asm__("mprotect");
int memsim_madvise(void* start, size_t bytes, int advice) __asm__("madvise");

int memsim_fork() __asm__("fork");
int memsim_waitpid(int process, int* status, int options) __asm__("waitpid");
int memsim_pipe(int* ends, int flags) __asm__("pipe2");
int memsim_open(const char* path, int flags, ...) __asm__("open");
int memsim_close(int file) __asm__("close");
int memsim_dup2(int file, int number) __asm__("dup2");
int memsim_memory_file(const char* name, unsigned flags) __asm__("memfd_create");
int memsim_lockf(int file, int command, long bytes) __asm__("lockf");
}

constexpr int interrupted = 4;          // EINTR
constexpr int die_with_parent = 1;      // PR_SET_PDEATHSIG
constexpr unsigned long kill_signal = 9;  // SIGKILL
constexpr int no_access = 0, read_write = 3;
constexpr int private_memory = 0x02 | 0x20 | 0x4000;  // MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE
constexpr int give_back = 4;                          // MADV_DONTNEED
constexpr int close_on_exec = 02000000;               // O_CLOEXEC
constexpr int write_only = 1;                         // O_WRONLY
constexpr int wait_and_lock = 1;                      // F_LOCK

// Of <signal.h>, for 64-bit Linux.
constexpr int bus_error = 7, arithmetic_error = 8, segmentation_fault = 11;
struct SignalInfo {
    int signal, error, code;
    int unused;
    void* address;
};
struct SignalAction {
    void (*handler)(int signal, SignalInfo* info, void* context);
    uint64_t mask[16];
    int flags;
    void (*restorer)();
};
constexpr int with_info = 4, on_stack = 0x08000000;
struct SignalStack {
    void* start;
    int flags;
    size_t bytes;
};
extern "C" {
int memsim_sigaction(int signal, const SignalAction* action, SignalAction* old) __asm__("sigaction");
int memsim_sigaltstack(const SignalStack* stack, SignalStack* old) __asm__("sigaltstack");
}

}  // namespace os
}  // namespace memsim_probe
