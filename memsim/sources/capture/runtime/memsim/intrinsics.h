// Integer intrinsics, bit casts and cache-hinted loads (CUDA Math API, "Integer Intrinsics", "Type Casting
// Intrinsics").
#pragma once

#include "vectors.h"

#include <stdint.h>
#include <string.h>

MEMSIM_CUDA int __clz(int x) { return x ? __builtin_clz(x) : 32; }
MEMSIM_CUDA int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
MEMSIM_CUDA int __popc(unsigned x) { return __builtin_popcount(x); }
MEMSIM_CUDA int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
MEMSIM_CUDA int __ffs(int x) { return __builtin_ffs(x); }
MEMSIM_CUDA int __ffsll(long long x) { return __builtin_ffsll(x); }
MEMSIM_CUDA unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0F0F0F0F) | (x & 0x0F0F0F0F) << 4;
    return __builtin_bswap32(x);
}
MEMSIM_CUDA unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}
MEMSIM_CUDA unsigned __fns(unsigned mask, unsigned base, int offset) {
    int step = offset < 0 ? -1 : 1, left = offset < 0 ? -offset : offset;
    for (int bit = base; bit >= 0 && bit < 32; bit += step)
        if (mask >> bit & 1 && (offset == 0 ? bit == static_cast<int>(base) : --left == 0)) return bit;
    return ~0u;
}
MEMSIM_CUDA int __mul24(int a, int b) { return static_cast<int>(a << 8) / 256 * (static_cast<int>(b << 8) / 256); }
MEMSIM_CUDA unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
MEMSIM_CUDA int mul24(int a, int b) { return __mul24(a, b); }
MEMSIM_CUDA unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
MEMSIM_CUDA int __mulhi(int a, int b) { return static_cast<long long>(a) * b >> 32; }
MEMSIM_CUDA unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned long long>(a) * b >> 32; }
MEMSIM_CUDA long long __mul64hi(long long a, long long b) { return static_cast<__int128>(a) * b >> 64; }
MEMSIM_CUDA unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned __int128>(a) * b >> 64;
}
MEMSIM_CUDA int __hadd(int a, int b) { return (static_cast<long long>(a) + b) >> 1; }
MEMSIM_CUDA unsigned __uhadd(unsigned a, unsigned b) { return (static_cast<unsigned long long>(a) + b) >> 1; }
MEMSIM_CUDA int __rhadd(int a, int b) { return (static_cast<long long>(a) + b + 1) >> 1; }
MEMSIM_CUDA unsigned __urhadd(unsigned a, unsigned b) { return (static_cast<unsigned long long>(a) + b + 1) >> 1; }
MEMSIM_CUDA unsigned __sad(int a, int b, unsigned c) { return (a > b ? unsigned(a) - b : unsigned(b) - a) + c; }
MEMSIM_CUDA unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
MEMSIM_CUDA unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
MEMSIM_CUDA unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
MEMSIM_CUDA unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}
MEMSIM_CUDA unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}
MEMSIM_CUDA unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned byte = bytes >> 8 * (selector >> 4 * i & 7) & 0xFF;
        if (selector >> 4 * i & 8) byte = byte & 0x80 ? 0xFF : 0;
        result |= byte << 8 * i;
    }
    return result;
}

template <class To, class From>
MEMSIM_CUDA_TEMPLATE To memsim_bits(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}
MEMSIM_CUDA int __float_as_int(float x) { return memsim_bits<int>(x); }
MEMSIM_CUDA unsigned __float_as_uint(float x) { return memsim_bits<unsigned>(x); }
MEMSIM_CUDA float __int_as_float(int x) { return memsim_bits<float>(x); }
MEMSIM_CUDA float __uint_as_float(unsigned x) { return memsim_bits<float>(x); }
MEMSIM_CUDA long long __double_as_longlong(double x) { return memsim_bits<long long>(x); }
MEMSIM_CUDA double __longlong_as_double(long long x) { return memsim_bits<double>(x); }
MEMSIM_CUDA int __double2hiint(double x) { return __double_as_longlong(x) >> 32; }
MEMSIM_CUDA int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
MEMSIM_CUDA double __hiloint2double(int high, int low) {
    return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

#define MEMSIM_LOAD(name)                                                                                              \
    template <class T>                                                                                                 \
    MEMSIM_CUDA_TEMPLATE T name(const T* address) {                                                                    \
        return *address;                                                                                               \
    }
MEMSIM_LOAD(__ldg)
MEMSIM_LOAD(__ldca)
MEMSIM_LOAD(__ldcg)
MEMSIM_LOAD(__ldcs)
MEMSIM_LOAD(__ldcv)
MEMSIM_LOAD(__ldlu)
#undef MEMSIM_LOAD
#define MEMSIM_STORE(name)                                                                                             \
    template <class T, class V>                                                                                        \
    MEMSIM_CUDA_TEMPLATE void name(T* address, V value) {                                                              \
        *address = value;                                                                                              \
    }
MEMSIM_STORE(__stwb)
MEMSIM_STORE(__stcg)
MEMSIM_STORE(__stcs)
MEMSIM_STORE(__stwt)
#undef MEMSIM_STORE

MEMSIM_CUDA unsigned __isGlobal(const void*) { return 1; }
// Spaces are parts of one address space here.
MEMSIM_CUDA size_t __cvta_generic_to_shared(const void* p) { return reinterpret_cast<size_t>(p); }
MEMSIM_CUDA size_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<size_t>(p); }
MEMSIM_CUDA size_t __cvta_generic_to_local(const void* p) { return reinterpret_cast<size_t>(p); }
MEMSIM_CUDA size_t __cvta_generic_to_constant(const void* p) { return reinterpret_cast<size_t>(p); }
MEMSIM_CUDA void* __cvta_shared_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
MEMSIM_CUDA void* __cvta_global_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
MEMSIM_CUDA void* __cvta_local_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
MEMSIM_CUDA void* __cvta_constant_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
