// Handles, their settings, copies between host and device, and names of statuses (cuBLAS documentation, "cuBLAS Helper
// Function Reference").
#include <stdio.h>
#include <string.h>

#include "blas.h"

namespace standin {
namespace {

struct Handle {
    int pointer_mode = 0, atomics = 0, math = 0, sm_target = 0;
    void* stream = nullptr;
};
Handle* handle_of(void* handle) { return static_cast<Handle*>(handle); }

template <class Value, class Field>
int set(void* handle, Field field, Value value) {
    if (!handle) return NOT_INITIALIZED;
    handle_of(handle)->*field = value;
    return SUCCESS;
}
template <class Value, class Field>
int get(void* handle, Field field, Value* value) {
    if (!handle) return NOT_INITIALIZED;
    if (!value) return INVALID_VALUE;
    *value = handle_of(handle)->*field;
    return SUCCESS;
}

int copy_vector(int64_t n, int64_t bytes, const void* x, int64_t incx, void* y, int64_t incy) {
    if (n < 0 || bytes <= 0 || incx <= 0 || incy <= 0) return INVALID_VALUE;
    for (int64_t i = 0; i < n; ++i)
        memcpy(static_cast<char*>(y) + i * incy * bytes, static_cast<const char*>(x) + i * incx * bytes, size_t(bytes));
    return SUCCESS;
}
int copy_matrix(int64_t rows, int64_t columns, int64_t bytes, const void* a, int64_t lda, void* b, int64_t ldb) {
    if (rows < 0 || columns < 0 || bytes <= 0 || lda < rows || ldb < rows) return INVALID_VALUE;
    for (int64_t j = 0; j < columns; ++j)
        memcpy(static_cast<char*>(b) + j * ldb * bytes, static_cast<const char*>(a) + j * lda * bytes,
               size_t(rows * bytes));
    return SUCCESS;
}

struct StatusName {
    int status;
    const char *name, *text;
};
const StatusName status_names[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "the operation completed successfully"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {7, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH", "the function requires a feature absent from the device architecture"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality requested is not supported"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR", "license error"},
};
const StatusName& status_name(int status) {
    static const StatusName unknown = {-1, "unknown status", "unknown status"};
    for (const StatusName& one : status_names)
        if (one.status == status) return one;
    return unknown;
}

constexpr int major = 13, minor = 0, patch = 0;

}  // namespace

MEMSIM_EXPORT int cublasCreate_v2(void** handle) { return *handle = new Handle, SUCCESS; }
MEMSIM_EXPORT int cublasDestroy_v2(void* handle) {
    if (!handle) return NOT_INITIALIZED;
    delete handle_of(handle);
    return SUCCESS;
}
MEMSIM_EXPORT int cublasGetVersion_v2(void*, int* version) {
    return *version = major * 10000 + minor * 100 + patch, SUCCESS;
}
MEMSIM_EXPORT int cublasGetProperty(int type, int* value) {
    if (type < 0 || type > 2 || !value) return INVALID_VALUE;
    return *value = type == 0 ? major : type == 1 ? minor : patch, SUCCESS;
}
MEMSIM_EXPORT size_t cublasGetCudartVersion() { return 13000; }
MEMSIM_EXPORT int cublasSetStream_v2(void* h, void* stream) { return set(h, &Handle::stream, stream); }
MEMSIM_EXPORT int cublasGetStream_v2(void* h, void** stream) { return get(h, &Handle::stream, stream); }
MEMSIM_EXPORT int cublasSetPointerMode_v2(void* h, int mode) { return set(h, &Handle::pointer_mode, mode); }
MEMSIM_EXPORT int cublasGetPointerMode_v2(void* h, int* mode) { return get(h, &Handle::pointer_mode, mode); }
MEMSIM_EXPORT int cublasSetAtomicsMode(void* h, int mode) { return set(h, &Handle::atomics, mode); }
MEMSIM_EXPORT int cublasGetAtomicsMode(void* h, int* mode) { return get(h, &Handle::atomics, mode); }
MEMSIM_EXPORT int cublasSetMathMode(void* h, int mode) { return set(h, &Handle::math, mode); }
MEMSIM_EXPORT int cublasGetMathMode(void* h, int* mode) { return get(h, &Handle::math, mode); }
MEMSIM_EXPORT int cublasSetSmCountTarget(void* h, int count) { return set(h, &Handle::sm_target, count); }
MEMSIM_EXPORT int cublasGetSmCountTarget(void* h, int* count) { return get(h, &Handle::sm_target, count); }
MEMSIM_EXPORT int cublasSetWorkspace_v2(void* h, void*, size_t) { return h ? SUCCESS : NOT_INITIALIZED; }
MEMSIM_EXPORT int cublasGetLoggerCallback(void** callback) { return *callback = nullptr, SUCCESS; }
MEMSIM_EXPORT const char* cublasGetStatusName(int status) { return status_name(status).name; }
MEMSIM_EXPORT const char* cublasGetStatusString(int status) { return status_name(status).text; }
MEMSIM_EXPORT void cublasXerbla(const char* function, int argument) {
    fprintf(stderr, "cuBLAS: argument %d of %s has an illegal value\n", argument, function);
}

#define COPIES(suffix, I)                                                                                              \
    MEMSIM_EXPORT int cublasSetVector##suffix(I n, I bytes, const void* x, I incx, void* y, I incy) {                  \
        return copy_vector(n, bytes, x, incx, y, incy);                                                                \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublasSetMatrix##suffix(I rows, I columns, I bytes, const void* a, I lda, void* b, I ldb) {      \
        return copy_matrix(rows, columns, bytes, a, lda, b, ldb);                                                      \
    }
COPIES(, int)
COPIES(_64, int64_t)

}  // namespace standin
