// Handles and descriptors (cuDNN documentation, "cudnn_ops Library", "cudnn_cnn Library").
#include <string.h>

#include <algorithm>

#include "tensors.h"

namespace standin {
namespace {

constexpr int version = 91000;
struct Handle {
    void* stream = nullptr;
};
int set_sizes(Tensor* t, int type, int format, int n, const int* sizes) {
    if (!t || n < 1 || n > most_dimensions) return BAD_PARAM;
    t->type = type, t->dimensions = n;
    std::copy(sizes, sizes + n, t->size);
    return t->pack(format), SUCCESS;
}
// cudnnConvolutionFwdAlgoPerf_t: the only algorithm there is.
struct Performance {
    int algorithm, status;
    float time;
    size_t memory;
    int determinism, math, reserved[3];
};
int one_algorithm(int wanted, int* found, Performance* results) {
    if (wanted < 1 || !found || !results) return BAD_PARAM;
    *results = {0, SUCCESS, 1, 0, 1, 0, {}};
    return *found = 1, SUCCESS;
}

}  // namespace

MEMSIM_EXPORT size_t cudnnGetVersion() { return version; }
MEMSIM_EXPORT size_t cudnnGetCudartVersion() { return 13000; }
MEMSIM_EXPORT size_t cudnnGetMaxDeviceVersion() { return 1200; }
MEMSIM_EXPORT int cudnnGetProperty(int type, int* value) {
    return *value = type == 0 ? version / 10000 : type == 1 ? version / 100 % 100 : version % 100, SUCCESS;
}
MEMSIM_EXPORT const char* cudnnGetErrorString(int status) {
    return status == SUCCESS ? "CUDNN_STATUS_SUCCESS" : status == BAD_PARAM ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_NOT_SUPPORTED";
}
MEMSIM_EXPORT void cudnnGetLastErrorString(char* text, size_t n) {
    if (n) *text = 0;
}
MEMSIM_EXPORT int cudnnCreate(Handle** handle) { return *handle = new Handle, SUCCESS; }
MEMSIM_EXPORT int cudnnDestroy(Handle* handle) { return delete handle, SUCCESS; }
MEMSIM_EXPORT int cudnnSetStream(Handle* handle, void* stream) { return handle->stream = stream, SUCCESS; }
MEMSIM_EXPORT int cudnnGetStream(Handle* handle, void** stream) { return *stream = handle->stream, SUCCESS; }

#define DESCRIPTOR(name, type)                                                                        \
    MEMSIM_EXPORT int cudnnCreate##name##Descriptor(type** made) { return *made = new type, SUCCESS; } \
    MEMSIM_EXPORT int cudnnDestroy##name##Descriptor(type* one) { return delete one, SUCCESS; }
DESCRIPTOR(Tensor, Tensor)
DESCRIPTOR(Filter, Tensor)
DESCRIPTOR(Convolution, Convolution)
DESCRIPTOR(Activation, Activation)
DESCRIPTOR(Pooling, Pooling)

MEMSIM_EXPORT int cudnnSetTensor4dDescriptor(Tensor* t, int format, int type, int n, int c, int h, int w) {
    int sizes[] = {n, c, h, w};
    return set_sizes(t, type, format, 4, sizes);
}
MEMSIM_EXPORT int cudnnSetTensor4dDescriptorEx(Tensor* t, int type, int n, int c, int h, int w, int ns, int cs, int hs,
                                               int ws) {
    int sizes[] = {n, c, h, w}, strides[] = {ns, cs, hs, ws};
    int failed = set_sizes(t, type, NCHW, 4, sizes);
    if (!failed) std::copy(strides, strides + 4, t->stride);
    return failed;
}
MEMSIM_EXPORT int cudnnSetTensorNdDescriptor(Tensor* t, int type, int n, const int* sizes, const int* strides) {
    int failed = set_sizes(t, type, NCHW, n, sizes);
    if (!failed) std::copy(strides, strides + n, t->stride);
    return failed;
}
MEMSIM_EXPORT int cudnnSetTensorNdDescriptorEx(Tensor* t, int format, int type, int n, const int* sizes) {
    return set_sizes(t, type, format, n, sizes);
}
MEMSIM_EXPORT int cudnnGetTensor4dDescriptor(const Tensor* t, int* type, int* n, int* c, int* h, int* w, int* ns,
                                             int* cs, int* hs, int* ws) {
    *type = t->type;
    int *sizes[] = {n, c, h, w}, *strides[] = {ns, cs, hs, ws};
    for (int d = 0; d < 4; ++d) *sizes[d] = int(t->size[d]), *strides[d] = int(t->stride[d]);
    return SUCCESS;
}
MEMSIM_EXPORT int cudnnGetTensorSizeInBytes(const Tensor* t, size_t* bytes) {
    return *bytes = size_t(t->elements()) * bytes_of(element_type(t->type)), SUCCESS;
}
MEMSIM_EXPORT int cudnnSetFilter4dDescriptor(Tensor* t, int type, int format, int k, int c, int h, int w) {
    int sizes[] = {k, c, h, w};
    return set_sizes(t, type, format, 4, sizes);
}
MEMSIM_EXPORT int cudnnSetFilterNdDescriptor(Tensor* t, int type, int format, int n, const int* sizes) {
    return set_sizes(t, type, format, n, sizes);
}
MEMSIM_EXPORT int cudnnSetConvolution2dDescriptor(Convolution* c, int pad_h, int pad_w, int stride_h, int stride_w,
                                                  int dilation_h, int dilation_w, int mode, int type) {
    int groups = c->groups, math = c->math;
    *c = {{pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}, mode == 0, type, groups, math};
    return SUCCESS;
}
MEMSIM_EXPORT int cudnnSetConvolutionNdDescriptor(Convolution* c, int n, const int* pad, const int* stride,
                                                  const int* dilation, int mode, int type) {
    if (n != 2) return not_supported("cudnnSetConvolutionNdDescriptor (not of 2 dimensions)");
    return cudnnSetConvolution2dDescriptor(c, pad[0], pad[1], stride[0], stride[1], dilation[0], dilation[1], mode, type);
}
MEMSIM_EXPORT int cudnnSetConvolutionGroupCount(Convolution* c, int groups) { return c->groups = groups, SUCCESS; }
MEMSIM_EXPORT int cudnnGetConvolutionGroupCount(Convolution* c, int* groups) { return *groups = c->groups, SUCCESS; }
MEMSIM_EXPORT int cudnnSetConvolutionMathType(Convolution* c, int math) { return c->math = math, SUCCESS; }
MEMSIM_EXPORT int cudnnGetConvolutionMathType(Convolution* c, int* math) { return *math = c->math, SUCCESS; }
MEMSIM_EXPORT int cudnnGetConvolution2dForwardOutputDim(const Convolution* c, const Tensor* x, const Tensor* w, int* n,
                                                        int* k, int* height, int* width) {
    *n = int(x->size[0]), *k = int(w->size[0]);
    *height = int(c->output(x->size[2], w->size[2], 0)), *width = int(c->output(x->size[3], w->size[3], 1));
    return SUCCESS;
}
MEMSIM_EXPORT int cudnnGetConvolutionNdForwardOutputDim(const Convolution* c, const Tensor* x, const Tensor* w, int n,
                                                        int* size) {
    if (n != 4) return BAD_PARAM;
    return cudnnGetConvolution2dForwardOutputDim(c, x, w, size, size + 1, size + 2, size + 3);
}
MEMSIM_EXPORT int cudnnGetConvolutionForwardAlgorithm_v7(Handle*, Tensor*, Tensor*, Convolution*, Tensor*, int wanted,
                                                         int* found, Performance* results) {
    return one_algorithm(wanted, found, results);
}
MEMSIM_EXPORT int cudnnSetActivationDescriptor(Activation* a, int mode, int, double limit) {
    return *a = {mode, limit}, SUCCESS;
}
MEMSIM_EXPORT int cudnnSetPooling2dDescriptor(Pooling* p, int mode, int, int height, int width, int pad_h, int pad_w,
                                              int stride_h, int stride_w) {
    return *p = {mode, {height, width}, {pad_h, pad_w}, {stride_h, stride_w}}, SUCCESS;
}
MEMSIM_EXPORT int cudnnGetPooling2dForwardOutputDim(const Pooling* p, const Tensor* x, int* n, int* c, int* h, int* w) {
    *n = int(x->size[0]), *c = int(x->size[1]);
    *h = int(1 + (x->size[2] + 2 * p->pad[0] - p->window[0]) / p->stride[0]);
    *w = int(1 + (x->size[3] + 2 * p->pad[1] - p->window[1]) / p->stride[1]);
    return SUCCESS;
}

}  // namespace standin
