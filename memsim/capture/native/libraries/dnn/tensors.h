// Descriptors of tensors and operations (cuDNN documentation, "cudnn_ops Library").
#pragma once

#include <stdint.h>

#include <vector>

#include "../common/data_types.h"
#include "../common/report.h"

namespace standin {

enum { SUCCESS = 0, BAD_PARAM = 2000 };
enum { NCHW = 0, NHWC = 1 };
constexpr int most_dimensions = 8;

// cudnnDataType_t as a type of data; -1: not implemented.
inline int element_type(int type) {
    switch (type) {
        case 0: return R_32F;
        case 1: return R_64F;
        case 2: return R_16F;
        case 3: return R_8I;
        case 4: return R_32I;
        case 6: return R_8U;
        case 9: return R_16BF;
        case 10: return R_64I;
        default: return -1;
    }
}

// A tensor or a filter.
struct Tensor {
    int type = 0, dimensions = 4, format = NCHW;
    int64_t size[most_dimensions] = {}, stride[most_dimensions] = {};

    int64_t elements() const {
        int64_t n = 1;
        for (int d = 0; d < dimensions; ++d) n *= size[d];
        return n;
    }
    // Packed, the channels (dimension 1) innermost or not.
    void pack(int with_format) {
        format = with_format;
        int64_t step = 1;
        if (format == NHWC) stride[1] = 1, step = size[1];
        for (int d = dimensions; d-- > 0;) {
            if (format == NHWC && d == 1) continue;
            stride[d] = step;
            step *= size[d];
        }
    }
    // Place of the i-th element in the order of dimensions; a dimension of size 1 here is repeated over `whole`.
    int64_t place(int64_t i, const Tensor& whole) const {
        int64_t at = 0;
        for (int d = whole.dimensions; d-- > 0;) {
            int64_t index = i % whole.size[d];
            i /= whole.size[d];
            if (d < dimensions && size[d] > 1) at += index * stride[d];
        }
        return at;
    }
};
struct Convolution {
    int pad[2] = {}, stride[2] = {1, 1}, dilation[2] = {1, 1}, flipped = 0, compute_type = 0, groups = 1, math = 0;
    int64_t output(int64_t in, int64_t filter, int d) const {
        return 1 + (in + 2 * pad[d] - ((filter - 1) * dilation[d] + 1)) / stride[d];
    }
};
struct Activation {
    int mode = 0;
    double limit = 0;
};
struct Pooling {
    int mode = 0, window[2] = {1, 1}, pad[2] = {}, stride[2] = {1, 1};
};

// All elements of a tensor as double, in the order of dimensions.
inline std::vector<double> read_tensor(const Tensor& t, const void* data) {
    std::vector<double> all(static_cast<size_t>(t.elements()));
    visit_type(element_type(t.type), [&](auto tag) {
        auto* values = static_cast<const typename decltype(tag)::type*>(data);
        for (int64_t i = 0; i < t.elements(); ++i) all[size_t(i)] = convert<double>(values[t.place(i, t)]);
    });
    return all;
}
// alpha and beta have the type double for double tensors, else float.
inline double scalar(const void* pointer, int type) {
    return type == 1 ? *static_cast<const double*>(pointer) : double(*static_cast<const float*>(pointer));
}
// y = alpha values + beta y.
inline int write_tensor(const Tensor& t, void* data, const std::vector<double>& values, double alpha, double beta) {
    bool known = visit_type(element_type(t.type), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* to = static_cast<T*>(data);
        for (int64_t i = 0; i < t.elements(); ++i) {
            T& one = to[t.place(i, t)];
            double value = alpha * values[size_t(i)];
            one = convert<T>(beta != 0 ? value + beta * convert<double>(one) : value);
        }
    });
    return known ? (count_call(), SUCCESS) : not_supported("cuDNN (of this type)");
}

}  // namespace standin
