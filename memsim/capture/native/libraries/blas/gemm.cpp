// Matrix products by every name that cuBLAS gives them ("cublas<t>gemm()" and "cublasGemmEx()" in the documentation).
#include "../common/scaled_product.h"
#include "blas.h"

namespace standin {
namespace {

template <class T> constexpr int type_of();
template <> constexpr int type_of<float>() { return R_32F; }
template <> constexpr int type_of<double>() { return R_64F; }
template <> constexpr int type_of<C>() { return C_32F; }
template <> constexpr int type_of<Z>() { return C_64F; }
template <> constexpr int type_of<Half>() { return R_16F; }

int compute_of(int data_type) {
    return data_type == R_64F || data_type == C_64F ? COMPUTE_64F : data_type == R_16F ? COMPUTE_16F : 68;
}

// Shape and types of a product, for those that come in batches.
struct Shape {
    int a_op, b_op;
    int64_t m, n, k;
    int a_type;
    int64_t lda;
    int b_type;
    int64_t ldb;
    int c_type;
    int64_t ldc;
    int compute;
    int scale_type = -1;

    bool valid() const {
        return m >= 0 && n >= 0 && k >= 0 && lda >= (a_op == OP_N ? m : k) && ldb >= (b_op == OP_N ? k : n) && ldc >= m;
    }
    bool run(const void* alpha, const void* a, const void* b, const void* beta, void* c) const {
        return scaled_product(compute, m, n, k, alpha, {a, a_type, lda, a_op}, {b, b_type, ldb, b_op}, beta,
                              {c, c_type, ldc}, scale_type);
    }
};

// `locate(i, a, b, c)` sets the matrices of the i-th product.
template <class Locate>
int run_batch(const Shape& shape, const void* alpha, const void* beta, int64_t count, Locate locate) {
    if (!shape.valid()) return INVALID_VALUE;
    for (int64_t i = 0; i < count; ++i) {
        const void *a, *b;
        void* c;
        locate(i, a, b, c);
        if (!shape.run(alpha, a, b, beta, c)) return not_supported("cublasGemmEx (of this combination of types)");
    }
    return done();
}
int run_one(const Shape& shape, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
    return run_batch(shape, alpha, beta, 1, [=](int64_t, const void*& x, const void*& y, void*& z) { x = a, y = b, z = c; });
}
int run_strided(const Shape& shape, const void* alpha, const void* a, int64_t a_step, const void* b, int64_t b_step,
                const void* beta, void* c, int64_t c_step, int64_t count) {
    int64_t a_bytes = int64_t(bytes_of(shape.a_type)) * a_step, b_bytes = int64_t(bytes_of(shape.b_type)) * b_step;
    int64_t c_bytes = int64_t(bytes_of(shape.c_type)) * c_step;
    return run_batch(shape, alpha, beta, count, [=](int64_t i, const void*& x, const void*& y, void*& z) {
        x = static_cast<const char*>(a) + i * a_bytes;
        y = static_cast<const char*>(b) + i * b_bytes;
        z = static_cast<char*>(c) + i * c_bytes;
    });
}
int run_pointers(const Shape& shape, const void* alpha, const void* const a[], const void* const b[], const void* beta,
                 void* const c[], int64_t count) {
    return run_batch(shape, alpha, beta, count,
                     [=](int64_t i, const void*& x, const void*& y, void*& z) { x = a[i], y = b[i], z = c[i]; });
}
template <class T>
Shape shape_of(int ta, int tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc) {
    constexpr int type = type_of<T>();
    return {ta, tb, m, n, k, type, lda, type, ldb, type, ldc, compute_of(type), type};
}

// Before CUDA 11 the type that is computed with was given as a type of data; those numbers are below 64.
int compute_type(int given) { return given >= 64 ? given : given == R_32I ? COMPUTE_32I : compute_of(given); }

}  // namespace

#define GEMM(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int ta, int tb, I m, I n, I k, const T* alpha, const T* a, I lda, const T* b, I ldb, \
                           const T* beta, T* c, I ldc) {                                                               \
        return run_one(shape_of<T>(ta, tb, m, n, k, lda, ldb, ldc), alpha, a, b, beta, c);                             \
    }
#define GEMM_BATCHED(name, I, T)                                                                                       \
    MEMSIM_EXPORT int name(void*, int ta, int tb, I m, I n, I k, const T* alpha, const void* const a[], I lda,         \
                           const void* const b[], I ldb, const T* beta, void* const c[], I ldc, I count) {             \
        return run_pointers(shape_of<T>(ta, tb, m, n, k, lda, ldb, ldc), alpha, a, b, beta, c, count);                 \
    }
#define GEMM_STRIDED(name, I, T)                                                                                       \
    MEMSIM_EXPORT int name(void*, int ta, int tb, I m, I n, I k, const T* alpha, const T* a, I lda, long long a_step,  \
                           const T* b, I ldb, long long b_step, const T* beta, T* c, I ldc, long long c_step,          \
                           I count) {                                                                                  \
        return run_strided(shape_of<T>(ta, tb, m, n, k, lda, ldb, ldc), alpha, a, a_step, b, b_step, beta, c, c_step,  \
                           count);                                                                                     \
    }
// As gemm, with types of the matrices given and scalars of type T.
#define GEMM_EX(name, I, T)                                                                                            \
    MEMSIM_EXPORT int name(void*, int ta, int tb, I m, I n, I k, const T* alpha, const void* a, int a_type, I lda,     \
                           const void* b, int b_type, I ldb, const T* beta, void* c, int c_type, I ldc) {              \
        return run_one({ta, tb, m, n, k, a_type, lda, b_type, ldb, c_type, ldc, 68, type_of<T>()}, alpha, a, b, beta,  \
                       c);                                                                                             \
    }
#define GEMM_TYPED(suffix, I)                                                                                          \
    MEMSIM_EXPORT int cublasGemmEx##suffix(void*, int ta, int tb, I m, I n, I k, const void* alpha, const void* a,     \
                                           int a_type, I lda, const void* b, int b_type, I ldb, const void* beta,      \
                                           void* c, int c_type, I ldc, int compute, int) {                             \
        return run_one({ta, tb, m, n, k, a_type, lda, b_type, ldb, c_type, ldc, compute_type(compute)}, alpha, a, b,   \
                       beta, c);                                                                                       \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublasGemmBatchedEx##suffix(                                                                     \
        void*, int ta, int tb, I m, I n, I k, const void* alpha, const void* const a[], int a_type, I lda,             \
        const void* const b[], int b_type, I ldb, const void* beta, void* const c[], int c_type, I ldc, I count,       \
        int compute, int) {                                                                                            \
        return run_pointers({ta, tb, m, n, k, a_type, lda, b_type, ldb, c_type, ldc, compute_type(compute)}, alpha, a, \
                            b, beta, c, count);                                                                        \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublasGemmStridedBatchedEx##suffix(                                                              \
        void*, int ta, int tb, I m, I n, I k, const void* alpha, const void* a, int a_type, I lda, long long a_step,   \
        const void* b, int b_type, I ldb, long long b_step, const void* beta, void* c, int c_type, I ldc,              \
        long long c_step, I count, int compute, int) {                                                                 \
        return run_strided({ta, tb, m, n, k, a_type, lda, b_type, ldb, c_type, ldc, compute_type(compute)}, alpha, a,  \
                           a_step, b, b_step, beta, c, c_step, count);                                                 \
    }

ALL_V2(GEMM, gemm)
BOTH_SIZES(GEMM, cublasHgemm, Half)
BOTH_SIZES(GEMM, cublasCgemm3m, C)
BOTH_SIZES(GEMM, cublasZgemm3m, Z)
ALL_PLAIN(GEMM_BATCHED, gemmBatched)
BOTH_SIZES(GEMM_BATCHED, cublasHgemmBatched, Half)
BOTH_SIZES(GEMM_BATCHED, cublasCgemm3mBatched, C)
ALL_PLAIN(GEMM_STRIDED, gemmStridedBatched)
BOTH_SIZES(GEMM_STRIDED, cublasHgemmStridedBatched, Half)
BOTH_SIZES(GEMM_STRIDED, cublasCgemm3mStridedBatched, C)
BOTH_SIZES(GEMM_EX, cublasSgemmEx, float)
BOTH_SIZES(GEMM_EX, cublasCgemmEx, C)
BOTH_SIZES(GEMM_EX, cublasCgemm3mEx, C)
GEMM_TYPED(, int)
GEMM_TYPED(_64, int64_t)

}  // namespace standin
