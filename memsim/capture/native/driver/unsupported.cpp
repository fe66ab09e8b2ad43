// Functions of the driver API that nobody implements: a weak symbol for each, which reports the name once. Symbols of the
// per-thread default stream jump to the ordinary function: everything is executed at the call in the order of calls, so
// the two default streams differ in simulated time only.

namespace memsim {
__attribute__((visibility("default"))) int unsupported(const char* name);
}

#define FUNCTION(name, version, symbol) \
  extern "C" __attribute__((weak, visibility("default"))) int symbol() { return memsim::unsupported(#symbol); }
#define PER_THREAD(per_thread, symbol, name, version)
#include "functions.def"
#undef FUNCTION
#undef PER_THREAD

#if defined(__x86_64__)
#define MEMSIM_JUMP "jmp "
#define MEMSIM_TARGET(symbol) #symbol "@PLT"
#elif defined(__aarch64__)
#define MEMSIM_JUMP "b "
#define MEMSIM_TARGET(symbol) #symbol
#endif
#define FUNCTION(name, version, symbol)
#define PER_THREAD(per_thread, symbol, name, version)                                    \
  __asm__(".text\n.globl " #per_thread "\n.type " #per_thread ", %function\n" #per_thread \
          ":\n" MEMSIM_JUMP MEMSIM_TARGET(symbol) "\n.size " #per_thread ", .-" #per_thread "\n");
#include "functions.def"
