// Matrix instructions of warps (CUDA C++ Programming Guide, "Warp Matrix Functions"): the types. Which lane holds which
// element is not documented, so what they access cannot be told from the source; each function is refused at the call.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "memsim/library_calls.h"

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
template <class T>
struct Stored {
    using Type = T;
};
template <>
struct Stored<precision::tf32> {
    using Type = float;
};
template <class Use>
constexpr int elements(int m, int n, int k) {
    return (__is_same(Use, matrix_a) ? m * k : __is_same(Use, matrix_b) ? k * n : m * n) / 32;
}
}  // namespace memsim_parts

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
    using element_type = typename memsim_parts::Stored<T>::Type;
    static constexpr int num_elements = memsim_parts::elements<Use>(m, n, k);
    element_type x[num_elements];
};
template <class... A>
inline __device__ void load_matrix_sync(A&&...) {
    memsim_probe::refuse_call("wmma::load_matrix_sync");
}
template <class... A>
inline __device__ void store_matrix_sync(A&&...) {
    memsim_probe::refuse_call("wmma::store_matrix_sync");
}
template <class... A>
inline __device__ void mma_sync(A&&...) {
    memsim_probe::refuse_call("wmma::mma_sync");
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
