// A symbol that is another name of a function with any parameters: it jumps there.
#pragma once

#include <stdint.h>

#define MEMSIM_EXPORT extern "C" __attribute__((visibility("default")))

#if defined(__x86_64__)
#define MEMSIM_JUMP_TO(function) "jmp " #function "@PLT"
#elif defined(__aarch64__)
#define MEMSIM_JUMP_TO(function) "b " #function
#endif
#define MEMSIM_OTHER_NAME(name, function)                                  \
  __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
          MEMSIM_JUMP_TO(function) "\n.size " #name ", .-" #name "\n");
