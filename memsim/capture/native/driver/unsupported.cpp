// Functions of the driver API that nobody implements: a weak symbol for each, which reports the name once. Symbols of the
// per-thread default stream jump to the ordinary function: everything is executed at the call in the order of calls, so
// the two default streams differ in simulated time only.

#include "../core/jump.h"

namespace memsim {
__attribute__((visibility("default"))) int unsupported(const char* name);
}

#define FUNCTION(name, version, symbol) \
  extern "C" __attribute__((weak, visibility("default"))) int symbol() { return memsim::unsupported(#symbol); }
#define PER_THREAD(per_thread, symbol, name, version)
#include "functions.def"
#undef FUNCTION
#undef PER_THREAD

#define FUNCTION(name, version, symbol)
#define PER_THREAD(per_thread, symbol, name, version) MEMSIM_OTHER_NAME(per_thread, symbol)
#include "functions.def"
