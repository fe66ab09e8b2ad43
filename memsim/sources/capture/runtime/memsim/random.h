// The generators of cuRAND that need no tables. Philox4x32-10: J. K. Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011. XORWOW: G. Marsaglia, "Xorshift RNGs", J. Stat. Softw. 8(14), 2003, section 3.1; subsequences are
// 2^67 numbers apart (cuRAND documentation, "Device API overview"), to which matrices over bits lead.
#pragma once

#include <stdint.h>

#include <vector>

#include "vectors.h"

namespace memsim_probe {

struct Philox {
    uint32_t counter[4], key[2];

    static void multiply(uint32_t a, uint32_t b, uint32_t& high, uint32_t& low) {
        uint64_t product = uint64_t{a} * b;
        high = uint32_t(product >> 32);
        low = uint32_t(product);
    }
    void numbers(uint32_t out[4]) const {
        uint32_t k0 = key[0], k1 = key[1], high[2], low[2];
        for (int i = 0; i < 4; ++i) out[i] = counter[i];
        for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
            multiply(0xD2511F53, out[0], high[0], low[0]);
            multiply(0xCD9E8D57, out[2], high[1], low[1]);
            uint32_t next[4] = {high[1] ^ out[1] ^ k0, low[1], high[0] ^ out[3] ^ k1, low[0]};
            for (int i = 0; i < 4; ++i) out[i] = next[i];
        }
    }
    // 64 bits from counter[first] on, with carry beyond them.
    void skip(int first, uint64_t n) {
        for (int i = first; i < 4 && n; ++i) {
            uint64_t sum = uint64_t{counter[i]} + uint32_t(n);
            counter[i] = uint32_t(sum);
            n = (n >> 32) + (sum >> 32);
        }
    }
};

// Five words of XORWOW's state, and linear maps of them.
struct Words {
    uint32_t v[5];
    void step() {
        uint32_t t = v[0] ^ v[0] >> 2;
        for (int i = 0; i < 4; ++i) v[i] = v[i + 1];
        v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
    }
};
class BitMatrix {
  public:
    static constexpr int bits = 160;
    Words column[bits];  // what becomes of each bit

    Words times(const Words& x) const {
        Words sum{};
        for (int i = 0; i < bits; ++i)
            if (x.v[i / 32] >> i % 32 & 1)
                for (int k = 0; k < 5; ++k) sum.v[k] ^= column[i].v[k];
        return sum;
    }
    BitMatrix squared() const {
        BitMatrix result;
        for (int i = 0; i < bits; ++i) result.column[i] = times(column[i]);
        return result;
    }
    static BitMatrix one_step() {
        BitMatrix result;
        for (int i = 0; i < bits; ++i) {
            Words unit{};
            unit.v[i / 32] = uint32_t{1} << i % 32;
            unit.step();
            result.column[i] = unit;
        }
        return result;
    }
    // 2^power steps.
    static const BitMatrix& power_of_two(unsigned power) {
        static std::vector<BitMatrix> known{one_step()};
        while (known.size() <= power) known.push_back(known.back().squared());
        return known[power];
    }
};
inline void skip_words(Words& words, uint64_t n, unsigned power) {
    for (; n; n >>= 1, ++power)
        if (n & 1) words = BitMatrix::power_of_two(power).times(words);
}

}  // namespace memsim_probe
