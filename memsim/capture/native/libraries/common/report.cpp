#include "report.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>

namespace standin {
namespace {

using NoteFunction = void (*)(const char*);

// A function of the core in libcuda.so.1. It is looked up at run time so that a stand-in library can be loaded, and
// tested, without the core. Python loads libraries with local symbols, hence the second look-up in the library itself.
NoteFunction core_function(const char* name) {
    if (void* found = dlsym(RTLD_DEFAULT, name)) return reinterpret_cast<NoteFunction>(found);
    void* core = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return core ? reinterpret_cast<NoteFunction>(dlsym(core, name)) : nullptr;
}

void send(const char* function, const char* text) {
    if (NoteFunction found = core_function(function)) found(text);
}

std::atomic<unsigned long long> calls{0};

void report_calls() {
    std::string text = std::string(library.title) + " computed " + std::to_string(calls) +
                       (calls == 1 ? " call" : " calls") + " on the host; their kernels are not in the trace";
    send("memsim_note", text.c_str());
}

// True the first time it sees the text. The set is never freed: a destructor of the program may still report.
bool is_new(const std::string& text) {
    static std::mutex mutex;
    static auto* seen = new std::set<std::string>;
    std::lock_guard<std::mutex> lock(mutex);
    return seen->insert(text).second;
}

}  // namespace

uint64_t device_writes(unsigned more) {
    static auto* function = reinterpret_cast<uint64_t (*)(unsigned)>(core_function("memsim_device_writes"));
    return function ? function(more) : 0;
}

void count_call() {
    device_writes(1);
    count_repeat();
}

void count_repeat() {
    // Registered at the first call, when the core is loaded: handlers run in reverse order, so the core is still there.
    if (calls.fetch_add(1, std::memory_order_relaxed) == 0) atexit(report_calls);
}

int not_supported(const char* function) {
    if (is_new(function)) send("memsim_unsupported", function);
    return library.not_supported;
}

void note_once(const char* text) {
    if (is_new(text)) send("memsim_note", text);
}

}  // namespace standin
