// Minima and maxima of sums and of three (CUDA Math API, "DPX"): of a word, or of its halves.
#pragma once

#include "math.h"
#include "simd.h"

// Of words; `name` is a minimum or maximum by `op`.
#define MEMSIM_DPX_WORD(name, suffix, type, op)                                                                        \
    MEMSIM_CUDA type __vi##name##3##suffix(type a, type b, type c) { return name(name(a, b), c); }                     \
    MEMSIM_CUDA type __viadd##name##suffix(type a, type b, type c) {                                                   \
        return name(static_cast<type>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c);                        \
    }                                                                                                                  \
    MEMSIM_CUDA type __vib##name##suffix(type a, type b, bool* first) { return *first = a op b, name(a, b); }
MEMSIM_DPX_WORD(max, _s32, int, >=)
MEMSIM_DPX_WORD(max, _u32, unsigned, >=)
MEMSIM_DPX_WORD(min, _s32, int, <=)
MEMSIM_DPX_WORD(min, _u32, unsigned, <=)
#undef MEMSIM_DPX_WORD

// Of two halves of a word, by the intrinsics on halves.
#define MEMSIM_DPX_HALVES(name, suffix, of_halves, compared)                                                           \
    MEMSIM_CUDA unsigned __vi##name##3##suffix(unsigned a, unsigned b, unsigned c) {                                   \
        return of_halves(of_halves(a, b), c);                                                                          \
    }                                                                                                                  \
    MEMSIM_CUDA unsigned __viadd##name##suffix(unsigned a, unsigned b, unsigned c) {                                   \
        return of_halves(__vadd2(a, b), c);                                                                            \
    }                                                                                                                  \
    MEMSIM_CUDA unsigned __vib##name##suffix(unsigned a, unsigned b, bool* high, bool* low) {                          \
        unsigned first = compared(a, b);                                                                               \
        return *high = first >> 31, *low = first & 1, of_halves(a, b);                                                 \
    }
MEMSIM_DPX_HALVES(max, _s16x2, __vmaxs2, __vcmpges2)
MEMSIM_DPX_HALVES(max, _u16x2, __vmaxu2, __vcmpgeu2)
MEMSIM_DPX_HALVES(min, _s16x2, __vmins2, __vcmples2)
MEMSIM_DPX_HALVES(min, _u16x2, __vminu2, __vcmpleu2)
#undef MEMSIM_DPX_HALVES

// The same, and no less than 0, by the maximum `most`.
#define MEMSIM_DPX_RELU(name, suffix, type, of_two, most)                                                              \
    MEMSIM_CUDA type __vi##name##suffix##_relu(type a, type b) { return most(of_two(a, b), 0); }                       \
    MEMSIM_CUDA type __vi##name##3##suffix##_relu(type a, type b, type c) {                                            \
        return most(__vi##name##3##suffix(a, b, c), 0);                                                                \
    }                                                                                                                  \
    MEMSIM_CUDA type __viadd##name##suffix##_relu(type a, type b, type c) {                                            \
        return most(__viadd##name##suffix(a, b, c), 0);                                                                \
    }
MEMSIM_DPX_RELU(max, _s32, int, max, max)
MEMSIM_DPX_RELU(min, _s32, int, min, max)
MEMSIM_DPX_RELU(max, _s16x2, unsigned, __vmaxs2, __vmaxs2)
MEMSIM_DPX_RELU(min, _s16x2, unsigned, __vmins2, __vmaxs2)
#undef MEMSIM_DPX_RELU
