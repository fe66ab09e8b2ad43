// Philox4x32-10: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <stdint.h>

namespace standin {

// The n-th 32-bit number of a sequence is a function of n, so a sequence can be entered anywhere.
struct Philox {
    uint32_t key[2];

    void block(uint64_t index, uint32_t out[4]) const {
        out[0] = uint32_t(index), out[1] = uint32_t(index >> 32), out[2] = out[3] = 0;
        uint32_t k0 = key[0], k1 = key[1];
        for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
            uint64_t first = uint64_t{0xD2511F53} * out[0], second = uint64_t{0xCD9E8D57} * out[2];
            uint32_t next[4] = {uint32_t(second >> 32) ^ out[1] ^ k0, uint32_t(second),
                                uint32_t(first >> 32) ^ out[3] ^ k1, uint32_t(first)};
            for (int i = 0; i < 4; ++i) out[i] = next[i];
        }
    }
};

}  // namespace standin
