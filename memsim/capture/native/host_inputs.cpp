// libmemsim_host_inputs.so, preloaded into programs: reports what a program's host code reads beside its arguments, so that a capture can
// be kept for the next time. Each line of the report is a letter and a text:
//
//   R path      a file was opened for reading, or looked for
//   E name      an environment variable was read
//   X reason    something was read or written that another run may find different
//
// Active where MEMSIM_INPUTS names the report. Calls of memsim's own libraries are left out, and so are calls within
// glibc, which do not come here.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

extern "C" char** environ;

namespace {

const char* find_variable(const char* name) {
  size_t n = strlen(name);
  for (char** one = environ; one && *one; ++one)
    if (!strncmp(*one, name, n) && (*one)[n] == '=') return *one + n + 1;
  return nullptr;
}

// Whether a call comes from memsim's own libraries, which lie in this library's folder.
bool is_own(void* caller) {
  Dl_info ours, theirs;
  if (!dladdr(reinterpret_cast<void*>(&find_variable), &ours) || !dladdr(caller, &theirs)) return false;
  const char* end = strrchr(ours.dli_fname, '/');
  size_t n = end ? end - ours.dli_fname + 1 : 0;
  return n && !strncmp(ours.dli_fname, theirs.dli_fname, n);
}

void report(char kind, const char* text, void* caller) {
  const char* path = find_variable("MEMSIM_INPUTS");
  if (!path || !text || is_own(caller)) return;
  char line[2 * PATH_MAX + 4];
  int n;
  if (kind == 'R' && *text != '/') {
    char folder[PATH_MAX];
    if (syscall(SYS_getcwd, folder, sizeof folder) <= 0) return report('X', "a file in a removed folder", caller);
    n = snprintf(line, sizeof line, "R %s/%s\n", folder, text);
  } else {
    n = snprintf(line, sizeof line, "%c %s\n", kind, text);
  }
  if (n >= static_cast<int>(sizeof line)) return report('X', "a file with a long name", caller);
  int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  if (syscall(SYS_write, file, line, n) < n) (void)!syscall(SYS_ftruncate, file, 0);  // an empty report keeps nothing
  syscall(SYS_close, file);
}

void report_opened(const char* path, bool writes, void* caller) {
  if (writes && path && strcmp(path, "/dev/null") && strcmp(path, "/dev/tty")) return report('X', "a file it writes", caller);
  report('R', path, caller);
}

void report_at(int folder, const char* path, bool writes, void* caller) {
  bool known = folder == AT_FDCWD || (path && *path == '/');
  if (known) return report_opened(path, writes, caller);
  report('X', "a file below an opened folder", caller);
}

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT); }
bool writes(const char* mode) { return mode && strpbrk(mode, "wa+"); }

template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define NEXT(name) static auto* const real = next(&name, #name)
#define MODE_OF(flags)                                 \
  mode_t mode = 0;                                     \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {             \
    va_list more;                                      \
    va_start(more, flags);                             \
    mode = va_arg(more, int);                          \
    va_end(more);                                      \
  }

#define OPEN(name)                                     \
  EXPORTED int name(const char* path, int flags, ...) { \
    NEXT(name);                                        \
    MODE_OF(flags)                                     \
    report_opened(path, writes(flags), CALLER);        \
    return real(path, flags, mode);                    \
  }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                              \
  EXPORTED int name(int folder, const char* path, int flags, ...) { \
    NEXT(name);                                                    \
    MODE_OF(flags)                                                 \
    report_at(folder, path, writes(flags), CALLER);                \
    return real(folder, path, flags, mode);                        \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

#define OPEN_STREAM(name)                                  \
  EXPORTED FILE* name(const char* path, const char* mode) { \
    NEXT(name);                                            \
    report_opened(path, writes(mode), CALLER);             \
    return real(path, mode);                               \
  }
OPEN_STREAM(fopen)
OPEN_STREAM(fopen64)

// What fortified programs call, which the headers do not declare.
EXPORTED int __open_2(const char* path, int flags) {
  report_opened(path, writes(flags), CALLER);
  static auto* const real = reinterpret_cast<int (*)(const char*, int)>(dlsym(RTLD_NEXT, "__open_2"));
  return real(path, flags);
}

EXPORTED int __open64_2(const char* path, int flags) {
  report_opened(path, writes(flags), CALLER);
  static auto* const real = reinterpret_cast<int (*)(const char*, int)>(dlsym(RTLD_NEXT, "__open64_2"));
  return real(path, flags);
}

#define UNSURE(result, name, parameters, arguments, reason) \
  EXPORTED result name parameters {                         \
    NEXT(name);                                             \
    report('X', reason, CALLER);                            \
    return real arguments;                                  \
  }
struct __dirstream;
extern "C" {
__dirstream* opendir(const char*);
FILE* popen(const char*, const char*) noexcept(false);
int system(const char*) noexcept(false);
ssize_t getrandom(void*, size_t, unsigned);
int getentropy(void*, size_t);
unsigned _ZNSt13random_device9_M_getvalEv(void*);  // std::random_device, which may ask the processor
}
UNSURE(__dirstream*, opendir, (const char* path), (path), "a folder's list of files")
UNSURE(FILE*, popen, (const char* command, const char* mode), (command, mode), "another program")
UNSURE(int, system, (const char* command), (command), "another program")
UNSURE(int, execv, (const char* path, char* const* arguments), (path, arguments), "another program")
UNSURE(int, execve, (const char* path, char* const* arguments, char* const* variables), (path, arguments, variables),
       "another program")
UNSURE(int, execvp, (const char* path, char* const* arguments), (path, arguments), "another program")
UNSURE(ssize_t, getrandom, (void* to, size_t n, unsigned flags), (to, n, flags), "random numbers of the system")
UNSURE(int, getentropy, (void* to, size_t n), (to, n), "random numbers of the system")
UNSURE(unsigned, _ZNSt13random_device9_M_getvalEv, (void* device), (device), "random numbers of the system")

EXPORTED time_t time(time_t* to) {
  report('X', "the time of day", CALLER);
  timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

EXPORTED int gettimeofday(timeval* to, void* zone) noexcept {
  report('X', "the time of day", CALLER);
  return syscall(SYS_gettimeofday, to, zone);
}

// Durations are not reported: programs measure themselves, and a kernel's accesses do not depend on it.
EXPORTED int clock_gettime(clockid_t clock, timespec* to) noexcept {
  static auto* const real = next(&clock_gettime, "clock_gettime");
  if (clock == CLOCK_REALTIME) report('X', "the time of day", CALLER);
  return real(clock, to);
}

EXPORTED int connect(int socket, const sockaddr* address, socklen_t n) {
  NEXT(connect);
  if (address && address->sa_family != AF_UNIX) report('X', "the network", CALLER);
  return real(socket, address, n);
}

EXPORTED char* getenv(const char* name) noexcept {
  report('E', name, CALLER);
  return const_cast<char*>(find_variable(name));
}

EXPORTED char* secure_getenv(const char* name) noexcept {
  report('E', name, CALLER);
  return const_cast<char*>(find_variable(name));
}
