// One launch or allocation at a time, though a program's host threads may call for several.
#pragma once

#include <pthread.h>

namespace memsim_probe {

inline pthread_mutex_t one_at_a_time = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

struct Alone {
    Alone() { pthread_mutex_lock(&one_at_a_time); }
    ~Alone() { pthread_mutex_unlock(&one_at_a_time); }
};

}  // namespace memsim_probe
