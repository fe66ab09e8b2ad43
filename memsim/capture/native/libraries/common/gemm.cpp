// The product's inner loops: panels of A and B are packed so that a tile of the result stays in registers (K. Goto and
// R. van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34(3), 2008).
#include "gemm.h"

#include <string.h>

#include <algorithm>

// One copy of a tile's loop per instruction set, chosen when the library is loaded. All give the same bits.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define MEMSIM_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MEMSIM_CLONES
#endif

namespace standin {
namespace {

constexpr int vector_bytes = 32, tile_columns = 4, block_depth = 256;

template <class T>
struct Tile {
    typedef T Vector __attribute__((vector_size(vector_bytes)));
    static constexpr int lanes = vector_bytes / sizeof(T), rows = 2 * lanes;
};

// out[column][row] of a tile: the sum over k of a[l][row] * b[l][column].
template <class T>
__attribute__((always_inline)) inline void tile_loop(int64_t k, const T* a, const T* b, T* out) {
    using Vector = typename Tile<T>::Vector;
    constexpr int lanes = Tile<T>::lanes;
    Vector sum[tile_columns][2] = {};
    for (int64_t l = 0; l < k; ++l, a += 2 * lanes, b += tile_columns) {
        Vector low, high;
        memcpy(&low, a, vector_bytes);
        memcpy(&high, a + lanes, vector_bytes);
#pragma GCC unroll 4
        for (int j = 0; j < tile_columns; ++j) {
            sum[j][0] += low * b[j];
            sum[j][1] += high * b[j];
        }
    }
    memcpy(out, sum, sizeof sum);
}
MEMSIM_CLONES void tile(int64_t k, const float* a, const float* b, float* out) { tile_loop(k, a, b, out); }
MEMSIM_CLONES void tile(int64_t k, const double* a, const double* b, double* out) { tile_loop(k, a, b, out); }
MEMSIM_CLONES void tile(int64_t k, const int32_t* a, const int32_t* b, int32_t* out) { tile_loop(k, a, b, out); }

// Strips of `width` rows of a matrix, each with one column after another; rows beyond the matrix are zero.
template <class T, class Read>
void pack(int64_t rows, int64_t depth, int width, T* to, Read&& read) {
    for (int64_t start = 0; start < rows; start += width)
        for (int64_t l = 0; l < depth; ++l)
            for (int i = 0; i < width; ++i) *to++ = start + i < rows ? read(start + i, l) : T(0);
}

template <class T>
void multiply_blocks(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* sum, T sign) {
    constexpr int rows = Tile<T>::rows, columns = tile_columns;
    int64_t strips = (m + rows - 1) / rows, column_strips = (n + columns - 1) / columns;
    std::vector<T> left(size_t(strips) * rows * block_depth), right(size_t(column_strips) * columns * block_depth);
    T out[rows * columns];
    for (int64_t start = 0; start < k; start += block_depth) {
        int64_t depth = std::min<int64_t>(block_depth, k - start);
        pack(m, depth, rows, left.data(), [&](int64_t i, int64_t l) { return a[(start + l) * m + i]; });
        pack(n, depth, columns, right.data(), [&](int64_t j, int64_t l) { return b[j * k + start + l]; });
        for (int64_t j = 0; j < n; j += columns)
            for (int64_t i = 0; i < m; i += rows) {
                tile(depth, &left[size_t(i) * depth], &right[size_t(j) * depth], out);
                int height = int(std::min<int64_t>(rows, m - i)), width = int(std::min<int64_t>(columns, n - j));
                for (int c = 0; c < width; ++c)
                    for (int r = 0; r < height; ++r) sum[(j + c) * m + i + r] += sign * out[c * rows + r];
            }
    }
}

}  // namespace

void multiply_add(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* sum, int sign) {
    multiply_blocks(m, n, k, a, b, sum, float(sign));
}
void multiply_add(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* sum, int sign) {
    multiply_blocks(m, n, k, a, b, sum, double(sign));
}
void multiply_add(int64_t m, int64_t n, int64_t k, const int32_t* a, const int32_t* b, int32_t* sum, int sign) {
    multiply_blocks(m, n, k, a, b, sum, int32_t(sign));
}

}  // namespace standin
