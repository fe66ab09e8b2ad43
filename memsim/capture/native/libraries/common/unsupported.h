// Defines every function of a list that the library does not implement. Include it once per library, after defining
// MEMSIM_NAMES as the list's file: a weak symbol gives way to the implementation in another file of the same library.
#pragma once

#include "report.h"

#define NAME(function) \
    extern "C" __attribute__((weak, visibility("default"))) int function() { return standin::not_supported(#function); }
#include MEMSIM_NAMES
#undef NAME
