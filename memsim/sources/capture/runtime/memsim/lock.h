// One launch or allocation at a time, though a program's host threads may call for several.
#pragma once

#include "system.h"

namespace memsim_probe {

class Alone {
  public:
    Alone() {
        if (depth++) return;
        while (__atomic_exchange_n(&taken, true, __ATOMIC_ACQUIRE)) os::memsim_yield();
    }
    ~Alone() {
        if (--depth == 0) __atomic_store_n(&taken, false, __ATOMIC_RELEASE);
    }
    Alone(const Alone&) = delete;

  private:
    static inline bool taken = false;
    static inline thread_local unsigned depth = 0;
};

}  // namespace memsim_probe
