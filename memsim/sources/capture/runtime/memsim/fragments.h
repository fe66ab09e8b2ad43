// Fragments of matrices as the lanes of a warp hold them. What wmma's do is not documented; these are those of mma.sync
// (PTX ISA 9.0, section 9.7.14), to which nvcc compiles wmma for compute capability 7.5 and later. With g = lane / 4,
// t = lane % 4, and E elements in a register of 32 bits (1 of those that are as wide or wider), register w of a row of
// the left matrix holds columns from 4 E (w / rows) + E t on, of row g + 8 (w % rows) with rows in groups of eight; the
// right matrix likewise, turned; the sum's elements come in pairs.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "variables.h"

namespace memsim_probe {

struct Cell {
    int row, column;
};

// Element `i` of a lane's part of a matrix whose `lines` lie across groups of lanes, `per` elements side by side.
constexpr Cell cell_along(int lane, int i, int lines, int per) {
    int word = i / per, groups = lines / 8;
    return {lane / 4 + 8 * (word % groups), per * (4 * (word / groups) + lane % 4) + i % per};
}

// Addresses that a warp's loads and stores of a matrix touch, told to `log<bytes>(address)`, a lane at a time. Along a
// line elements lie side by side; lines lie `pitch` elements apart.
template <class T>
struct Touched {
    const char* base;
    size_t pitch;
    int lines, length, lane;

    const char* at(int line, int along) const { return base + (line * pitch + along) * sizeof(T); }

    // Registers of four bytes; from shared memory by ldmatrix, whose lanes read a row of 16 bytes of four matrices.
    template <class Log>
    void words(Log log) const {
        constexpr int per = 4 / sizeof(T);
        int count = lines * length / (32 * per);
        if (sizeof(T) != 2 || !is_shared(reinterpret_cast<uintptr_t>(base))) {
            for (int w = 0; w < count; ++w) {
                Cell cell = cell_along(lane, w * per, lines, per);
                log.template touch<4>(at(cell.row, cell.column));
            }
            return;
        }
        for (int first = 0; first < count; first += 4) {
            int matrix = first + lane / 8, groups = lines / 8;
            if (matrix < count) log.template touch<16>(at(lane % 8 + 8 * (matrix % groups), 8 * (matrix / groups)));
        }
    }

    // Elements by themselves, or pairs of them, where lanes hold them.
    template <int per, class Log>
    void elements(Log log, bool turned) const {
        for (int i = 0; i < lines * length / 32; i += turned ? 1 : per) {
            Cell cell = cell_along(lane, i, turned ? length : lines, per);
            if (turned) log.template touch<sizeof(T)>(at(cell.column, cell.row));
            else log.template touch<per * sizeof(T)>(at(cell.row, cell.column));
        }
    }
};

}  // namespace memsim_probe
