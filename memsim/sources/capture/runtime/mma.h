// Matrix instructions of warps (CUDA C++ Programming Guide, "Warp Matrix Functions"), computed on the CPU.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "memsim/fragments.h"
#include "memsim/library_calls.h"
#include "memsim/watched.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
struct u4 {};
struct s4 {};
struct b1 {};
}  // namespace precision

namespace memsim_parts {
using memsim_probe::Cell;

template <class T>
struct Stored {
    using Type = T;
};
template <>
struct Stored<precision::tf32> {
    using Type = float;
};

// Which matrix a fragment is of: its size, and which element lies where.
template <class Use, int m, int n, int k, class T>
struct Part {
    static constexpr bool is_sum = __is_same(Use, accumulator), is_right = __is_same(Use, matrix_b);
    static constexpr int rows = is_right ? k : m, columns = __is_same(Use, matrix_a) ? k : n;
    static constexpr int per = is_sum ? 2 : sizeof(T) < 4 ? 4 / sizeof(T) : 1;
    static constexpr int elements = rows * columns / 32;

    static constexpr Cell cell(int lane, int i) {
        if (!is_right) return memsim_probe::cell_along(lane, i, rows, per);
        Cell turned = memsim_probe::cell_along(lane, i, columns, per);
        return {turned.column, turned.row};
    }
};

// What products are summed in.
template <class T>
struct Sum {
    using Type = float;
};
template <>
struct Sum<double> {
    using Type = double;
};
template <>
struct Sum<int> {
    using Type = int;
};
}  // namespace memsim_parts

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
    using element_type = typename memsim_parts::Stored<T>::Type;
    using storage_element_type = element_type;
    using Part = memsim_parts::Part<Use, m, n, k, element_type>;
    static constexpr int num_elements = Part::elements, num_storage_elements = num_elements;
    element_type x[num_elements];
};

namespace memsim_parts {

// What a fragment's elements are in memory: `turned` where lines in memory are the matrix's columns.
template <class Fragment, class Tile>
void touch(const Fragment&, Tile tile, unsigned pitch, bool turned) {
    using Part = typename Fragment::Part;
    using T = typename Fragment::element_type;
    int lines = turned ? Part::columns : Part::rows, length = turned ? Part::rows : Part::columns;
    auto base = reinterpret_cast<const char*>(tile.pointer);
    memsim_probe::Touched<T> touched{base, pitch, lines, length, int(memsim_probe::block.lane())};
    if constexpr (!Part::is_sum && sizeof(T) < 4) touched.words(tile);
    else touched.template elements<Part::per>(tile, turned != Part::is_right);
}

template <class Fragment, class Each>
void each_element(Fragment& fragment, unsigned pitch, bool turned, Each each) {
    for (int i = 0; i < Fragment::num_elements; ++i) {
        Cell cell = Fragment::Part::cell(memsim_probe::block.lane(), i);
        each(fragment.x[i], turned ? size_t(cell.column) * pitch + cell.row : size_t(cell.row) * pitch + cell.column);
    }
}

template <class Fragment, class Tile>
void load(Fragment& fragment, Tile tile, unsigned pitch, bool turned) {
    touch(fragment, tile, pitch, turned);
    each_element(fragment, pitch, turned, [&](auto& element, size_t at) { element = tile.pointer[at]; });
}

// The lanes of a warp bring their fragments, and the last one multiplies.
template <class D, class A, class B, class C>
struct Product : memsim_probe::Meeting {
    D* d;
    const A* a;
    const B* b;
    const C* c;

    static void done(memsim_probe::Meeting* const* lanes, uint32_t) {
        using Number = typename Sum<typename C::element_type>::Type;
        constexpr int m = A::Part::rows, n = B::Part::columns, depth = A::Part::columns;
        Number left[m][depth], right[depth][n], sum[m][n];
        for (int lane = 0; lane < 32; ++lane) {
            auto& each = *static_cast<Product*>(lanes[lane]);
            spread(*each.a, lane, left);
            spread(*each.b, lane, right);
            spread(*each.c, lane, sum);
        }
        for (int i = 0; i < m; ++i)
            for (int k = 0; k < depth; ++k)
                for (int j = 0; j < n; ++j) sum[i][j] += left[i][k] * right[k][j];
        for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < D::num_elements; ++i) {
                Cell cell = D::Part::cell(lane, i);
                static_cast<Product*>(lanes[lane])->d->x[i] = sum[cell.row][cell.column];
            }
    }

    template <class Fragment, class Matrix>
    static void spread(const Fragment& fragment, int lane, Matrix& matrix) {
        for (int i = 0; i < Fragment::num_elements; ++i) {
            Cell cell = Fragment::Part::cell(lane, i);
            matrix[cell.row][cell.column] = fragment.x[i];
        }
    }
};
}  // namespace memsim_parts

template <class Use, int m, int n, int k, class T, class Layout, class P>
inline __device__ void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& to, P from, unsigned pitch) {
    memsim_parts::load(to, memsim_probe::watched(from), pitch, __is_same(Layout, col_major));
}
template <int m, int n, int k, class T, class P>
inline __device__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, P from, unsigned pitch, layout_t layout) {
    memsim_parts::load(to, memsim_probe::watched(from), pitch, layout == mem_col_major);
}
template <class P, int m, int n, int k, class T>
inline __device__ void store_matrix_sync(P to, const fragment<accumulator, m, n, k, T>& from, unsigned pitch,
                                         layout_t layout) {
    auto tile = memsim_probe::watched(to);
    bool turned = layout == mem_col_major;
    memsim_parts::touch(from, tile, pitch, turned);
    memsim_parts::each_element(from, pitch, turned, [&](auto& element, size_t at) { tile.pointer[at] = element; });
}
template <int m, int n, int k, class TA, class LA, class TB, class LB, class TC, class TD>
inline __device__ void mma_sync(fragment<accumulator, m, n, k, TD>& d, const fragment<matrix_a, m, n, k, TA, LA>& a,
                                const fragment<matrix_b, m, n, k, TB, LB>& b,
                                const fragment<accumulator, m, n, k, TC>& c, bool = false) {
    using Product = memsim_parts::Product<fragment<accumulator, m, n, k, TD>, fragment<matrix_a, m, n, k, TA, LA>,
                                          fragment<matrix_b, m, n, k, TB, LB>, fragment<accumulator, m, n, k, TC>>;
    auto meeting = memsim_probe::new_meeting<Product>(~0u, 0);
    meeting.d = &d, meeting.a = &a, meeting.b = &b, meeting.c = &c;
    memsim_probe::block.meet(meeting, "wmma::mma_sync()");
}
template <class... A>
inline __device__ void bmma_sync(A&&...) {
    memsim_probe::refuse_call("wmma::bmma_sync");
}
template <class Fragment, class T>
inline __device__ void fill_fragment(Fragment& fragment, const T& value) {
    for (auto& x : fragment.x) x = value;
}
MEMSIM_CUDA float __float_to_tf32(float x) {
    unsigned bits = __float_as_uint(x);
    return __uint_as_float((bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu);
}

}  // namespace wmma
}  // namespace nvcuda

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
