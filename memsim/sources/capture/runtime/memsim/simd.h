// Intrinsics on two halves or four bytes of a word (CUDA Math API, "SIMD Intrinsics").
#pragma once

#include "attributes.h"
#include "vectors.h"

namespace memsim_probe {

// Applies `operation(x, y)` to each part of `bits` bits, taken as signed or not.
template <int Bits, bool Signed, class F>
__host__ __device__ unsigned each_part(unsigned a, unsigned b, F operation) {
    constexpr unsigned mask = (1u << Bits) - 1;
    unsigned result = 0;
    for (int shift = 0; shift < 32; shift += Bits) {
        int x = a >> shift & mask, y = b >> shift & mask;
        if (Signed) x = static_cast<int>(static_cast<unsigned>(x) << (32 - Bits)) >> (32 - Bits);
        if (Signed) y = static_cast<int>(static_cast<unsigned>(y) << (32 - Bits)) >> (32 - Bits);
        result |= (static_cast<unsigned>(operation(x, y)) & mask) << shift;
    }
    return result;
}

}  // namespace memsim_probe

#define MEMSIM_PARTS(name, is_signed, expression)                                                                      \
    MEMSIM_CUDA unsigned name##2(unsigned a, unsigned b) {                                                             \
        constexpr int least = -32768, most = is_signed ? 32767 : 65535;                                                \
        (void)least, (void)most;                                                                                       \
        return memsim_probe::each_part<16, is_signed>(a, b, [](int x, int y) { return expression; });                  \
    }                                                                                                                  \
    MEMSIM_CUDA unsigned name##4(unsigned a, unsigned b) {                                                             \
        constexpr int least = -128, most = is_signed ? 127 : 255;                                                      \
        (void)least, (void)most;                                                                                       \
        return memsim_probe::each_part<8, is_signed>(a, b, [](int x, int y) { return expression; });                   \
    }
MEMSIM_PARTS(__vadd, false, x + y)
MEMSIM_PARTS(__vsub, false, x - y)
MEMSIM_PARTS(__vaddus, false, x + y > most ? most : x + y)
MEMSIM_PARTS(__vsubus, false, x > y ? x - y : 0)
MEMSIM_PARTS(__vaddss, true, x + y > most ? most : x + y < least ? least : x + y)
MEMSIM_PARTS(__vsubss, true, x - y > most ? most : x - y < least ? least : x - y)
MEMSIM_PARTS(__vavgu, false, (x + y + 1) >> 1)
MEMSIM_PARTS(__vhaddu, false, (x + y) >> 1)
MEMSIM_PARTS(__vavgs, true, (x + y + (x + y >= 0)) >> 1)
MEMSIM_PARTS(__vabsdiffu, false, x > y ? x - y : y - x)
MEMSIM_PARTS(__vabsdiffs, true, x > y ? x - y : y - x)
MEMSIM_PARTS(__vmaxu, false, x > y ? x : y)
MEMSIM_PARTS(__vmaxs, true, x > y ? x : y)
MEMSIM_PARTS(__vminu, false, x < y ? x : y)
MEMSIM_PARTS(__vmins, true, x < y ? x : y)
#define MEMSIM_PARTS_COMPARED(name, is_signed, op)                                                                     \
    MEMSIM_PARTS(__vcmp##name, is_signed, x op y ? -1 : 0)                                                             \
    MEMSIM_PARTS(__vset##name, is_signed, x op y)
MEMSIM_PARTS_COMPARED(eq, false, ==)
MEMSIM_PARTS_COMPARED(ne, false, !=)
MEMSIM_PARTS_COMPARED(gtu, false, >)
MEMSIM_PARTS_COMPARED(geu, false, >=)
MEMSIM_PARTS_COMPARED(ltu, false, <)
MEMSIM_PARTS_COMPARED(leu, false, <=)
MEMSIM_PARTS_COMPARED(gts, true, >)
MEMSIM_PARTS_COMPARED(ges, true, >=)
MEMSIM_PARTS_COMPARED(lts, true, <)
MEMSIM_PARTS_COMPARED(les, true, <=)
#undef MEMSIM_PARTS_COMPARED
#undef MEMSIM_PARTS

#define MEMSIM_PARTS_ALONE(parts)                                                                                      \
    MEMSIM_CUDA unsigned __vneg##parts(unsigned a) { return __vsub##parts(0, a); }                                     \
    MEMSIM_CUDA unsigned __vnegss##parts(unsigned a) { return __vsubss##parts(0, a); }                                 \
    MEMSIM_CUDA unsigned __vabs##parts(unsigned a) { return __vabsdiffs##parts(a, 0); }                                \
    MEMSIM_CUDA unsigned __vabsss##parts(unsigned a) { return __vmaxs##parts(a, __vnegss##parts(a)); }
MEMSIM_PARTS_ALONE(2)
MEMSIM_PARTS_ALONE(4)
#undef MEMSIM_PARTS_ALONE

MEMSIM_CUDA unsigned memsim_sum_bytes(unsigned a) {
    return (a & 0xFF) + (a >> 8 & 0xFF) + (a >> 16 & 0xFF) + (a >> 24);
}
MEMSIM_CUDA unsigned __vsadu4(unsigned a, unsigned b) { return memsim_sum_bytes(__vabsdiffu4(a, b)); }
MEMSIM_CUDA unsigned __vsads4(unsigned a, unsigned b) { return memsim_sum_bytes(__vabsdiffs4(a, b)); }
MEMSIM_CUDA unsigned __vsadu2(unsigned a, unsigned b) {
    unsigned d = __vabsdiffu2(a, b);
    return (d & 0xFFFF) + (d >> 16);
}
MEMSIM_CUDA unsigned __vsads2(unsigned a, unsigned b) {
    unsigned d = __vabsdiffs2(a, b);
    return (d & 0xFFFF) + (d >> 16);
}

// Products of four bytes each, added up.
MEMSIM_CUDA int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
    return c;
}
MEMSIM_CUDA unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xFF) * (b >> i & 0xFF);
    return c;
}
MEMSIM_CUDA int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
MEMSIM_CUDA unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
    return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// Two products of a half and a byte, added up: with the lower two bytes or the upper ones.
#define MEMSIM_TWO_PRODUCTS(name, first, m, n)                                                                           \
    MEMSIM_CUDA int name(int a, int b, int c) {                                                                        \
        return c + static_cast<short>(a) * static_cast<signed char>(b >> first) +                                      \
               static_cast<short>(a >> 16) * static_cast<signed char>(b >> (first + 8));                               \
    }                                                                                                                  \
    MEMSIM_CUDA unsigned name(unsigned a, unsigned b, unsigned c) {                                                    \
        return c + (a & 0xFFFF) * (b >> first & 0xFF) + (a >> 16) * (b >> (first + 8) & 0xFF);                         \
    }                                                                                                                  \
    MEMSIM_CUDA int name(short2 a, char4 b, int c) { return c + a.x * b.m + a.y * b.n; }                               \
    MEMSIM_CUDA unsigned name(ushort2 a, uchar4 b, unsigned c) { return c + a.x * b.m + a.y * b.n; }
MEMSIM_TWO_PRODUCTS(__dp2a_lo, 0, x, y)
MEMSIM_TWO_PRODUCTS(__dp2a_hi, 16, z, w)
#undef MEMSIM_TWO_PRODUCTS
