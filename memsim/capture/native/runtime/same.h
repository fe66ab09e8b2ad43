// Functions that the runtime API has in common with the driver API: they call the driver's, and remember its error.
#pragma once

#define MEMSIM_CUDA extern "C" __attribute__((visibility("default")))

// Of common.h, without the standard headers that it includes: they take most of the time that same.cpp compiles.
namespace memsim {
struct Function;
namespace runtime {
int done(int result);
int with_function(const void* symbol, Function** function);
}  // namespace runtime
}  // namespace memsim

namespace memsim::runtime {

// Parameters of these functions are integers and pointers, six at most. The calling conventions of x86-64 and AArch64
// pass such parameters in registers, so one signature serves all, and what a function has no parameter for is ignored.
using Word = long;
inline Word own(Word stream) { return stream ? stream : 2; }  // stream 0 is the thread's own
inline int resolve(Word* kernel) {
  Function* function = nullptr;
  int failed = with_function(reinterpret_cast<const void*>(*kernel), &function);
  *kernel = reinterpret_cast<Word>(function);
  return failed;
}

}  // namespace memsim::runtime

// The arguments that follow are those of the driver's function, of a to f.
#define MEMSIM_SAME(name, function, ...)                                         \
  extern "C" int function(memsim::runtime::Word, memsim::runtime::Word, memsim::runtime::Word, memsim::runtime::Word,  \
                          memsim::runtime::Word, memsim::runtime::Word);                                               \
  MEMSIM_CUDA int name(memsim::runtime::Word a, memsim::runtime::Word b, memsim::runtime::Word c,                      \
                       memsim::runtime::Word d, memsim::runtime::Word e, memsim::runtime::Word f) {                    \
    return memsim::runtime::done(function(__VA_ARGS__));                                                               \
  }

// The same where one parameter of the runtime's function is the symbol of a kernel.
#define MEMSIM_SAME_OF_KERNEL(name, function, kernel)                                                                  \
  extern "C" int function(memsim::runtime::Word, memsim::runtime::Word, memsim::runtime::Word, memsim::runtime::Word,  \
                          memsim::runtime::Word, memsim::runtime::Word);                                               \
  MEMSIM_CUDA int name(memsim::runtime::Word a, memsim::runtime::Word b, memsim::runtime::Word c,                      \
                       memsim::runtime::Word d, memsim::runtime::Word e, memsim::runtime::Word f) {                    \
    if (int failed = memsim::runtime::resolve(&kernel)) return memsim::runtime::done(failed);                          \
    return memsim::runtime::done(function(a, b, c, d, e, f));                                                          \
  }
