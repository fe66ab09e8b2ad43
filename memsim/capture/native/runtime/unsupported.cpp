// Functions of the runtime API that nobody implements: a weak symbol for each, which reports the name once and returns
// cudaErrorNotSupported.

namespace memsim {
__attribute__((visibility("default"))) int unsupported(const char* name);
namespace runtime {
int done(int result);
}
}  // namespace memsim

#define FUNCTION(name)                                                   \
  extern "C" __attribute__((weak, visibility("default"))) int name() {   \
    return memsim::runtime::done(memsim::unsupported(#name));            \
  }
#include "unsupported.def"
