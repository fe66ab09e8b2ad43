// Layers forward, by their definitions (cuDNN documentation, "cudnn_ops Library", "cudnn_cnn Library").
#include <math.h>

#include <algorithm>

#include "../common/gemm.h"
#include "tensors.h"

namespace standin {
namespace {

double activated(const Activation& a, double x) {
    switch (a.mode) {
        case 0: return 1 / (1 + exp(-x));
        case 1: return x > 0 ? x : 0;
        case 2: return tanh(x);
        case 3: return std::min(std::max(x, 0.0), a.limit);
        case 4: return x > 0 ? x : a.limit * (exp(x) - 1);
        case 6: return x / (1 + exp(-a.limit * x));
        default: return x;
    }
}

// The convolution as a product: filters x (patches of the image), one image and group after the other.
std::vector<double> convolve(const Convolution& c, const Tensor& x, const void* x_data, const Tensor& w,
                             const void* w_data, const Tensor& y) {
    std::vector<double> in = read_tensor(x, x_data), filters = read_tensor(w, w_data), out(size_t(y.elements()));
    int64_t groups = c.groups, channels = w.size[1], kernels = w.size[0] / groups;
    int64_t height = x.size[2], width = x.size[3], rows = y.size[2], columns = y.size[3];
    int64_t depth = channels * w.size[2] * w.size[3];
    for (int64_t n = 0; n < x.size[0]; ++n)
        for (int64_t g = 0; g < groups; ++g) {
            Dense<double> patches = gather<double>(rows * columns, depth, [&](int64_t place, int64_t l) {
                int64_t r = l / w.size[3] % w.size[2], s = l % w.size[3], channel = g * channels + l / (w.size[2] * w.size[3]);
                if (c.flipped) r = w.size[2] - 1 - r, s = w.size[3] - 1 - s;
                int64_t i = place / columns * c.stride[0] - c.pad[0] + r * c.dilation[0];
                int64_t j = place % columns * c.stride[1] - c.pad[1] + s * c.dilation[1];
                if (i < 0 || j < 0 || i >= height || j >= width) return 0.0;
                return in[size_t(((n * x.size[1] + channel) * height + i) * width + j)];
            });
            Dense<double> weights = gather<double>(depth, kernels, [&](int64_t l, int64_t k) {
                return filters[size_t((g * kernels + k) * depth + l)];
            });
            Dense<double> sum = product(rows * columns, kernels, depth, patches, weights);
            std::copy(sum.begin(), sum.end(), out.begin() + (n * y.size[1] + g * kernels) * rows * columns);
        }
    return out;
}

}  // namespace

MEMSIM_EXPORT int cudnnConvolutionForward(void*, const void* alpha, const Tensor* x, const void* x_data, const Tensor* w,
                                          const void* w_data, const Convolution* c, int, void*, size_t,
                                          const void* beta, const Tensor* y, void* y_data) {
    if (x->dimensions != 4 || w->dimensions != 4) return not_supported("cudnnConvolutionForward (not of 2 dimensions)");
    return write_tensor(*y, y_data, convolve(*c, *x, x_data, *w, w_data, *y), scalar(alpha, x->type), scalar(beta, x->type));
}
MEMSIM_EXPORT int cudnnConvolutionBiasActivationForward(void*, const void* alpha, const Tensor* x, const void* x_data,
                                                        const Tensor* w, const void* w_data, const Convolution* c, int,
                                                        void*, size_t, const void* alpha2, const Tensor* z,
                                                        const void* z_data, const Tensor* bias, const void* bias_data,
                                                        const Activation* activation, const Tensor* y, void* y_data) {
    std::vector<double> sum = convolve(*c, *x, x_data, *w, w_data, *y), added = read_tensor(*bias, bias_data), old;
    double factor = scalar(alpha, x->type), keep = scalar(alpha2, x->type);
    if (keep != 0) old = read_tensor(*z, z_data);
    int64_t area = y->size[2] * y->size[3];
    for (size_t i = 0; i < sum.size(); ++i) {
        double value = factor * sum[i] + (keep != 0 ? keep * old[i] : 0) + added[i / size_t(area) % size_t(y->size[1])];
        sum[i] = activated(*activation, value);
    }
    return write_tensor(*y, y_data, sum, 1, 0);
}
MEMSIM_EXPORT int cudnnActivationForward(void*, const Activation* a, const void* alpha, const Tensor* x,
                                         const void* x_data, const void* beta, const Tensor* y, void* y_data) {
    std::vector<double> values = read_tensor(*x, x_data);
    for (double& one : values) one = activated(*a, one);
    return write_tensor(*y, y_data, values, scalar(alpha, x->type), scalar(beta, x->type));
}
// Mode 0: over all of an image; 1: over the channels of each place. Algorithm 2: the logarithm.
MEMSIM_EXPORT int cudnnSoftmaxForward(void*, int algorithm, int mode, const void* alpha, const Tensor* x,
                                      const void* x_data, const void* beta, const Tensor* y, void* y_data) {
    std::vector<double> values = read_tensor(*x, x_data);
    int64_t inner = 1, length = x->size[1];
    for (int d = 2; d < x->dimensions; ++d) inner *= x->size[d];
    if (mode == 0) length *= inner, inner = 1;
    for (int64_t outer = 0; outer < x->size[0]; ++outer)
        for (int64_t i = 0; i < inner; ++i) {
            double* first = values.data() + outer * length * inner + i;
            double largest = first[0], sum = 0;
            for (int64_t k = 1; k < length; ++k) largest = std::max(largest, first[k * inner]);
            for (int64_t k = 0; k < length; ++k) sum += exp(first[k * inner] - largest);
            for (int64_t k = 0; k < length; ++k) {
                double& one = first[k * inner];
                one = algorithm == 2 ? one - largest - log(sum) : exp(one - largest) / sum;
            }
        }
    return write_tensor(*y, y_data, values, scalar(alpha, x->type), scalar(beta, x->type));
}
// Modes: 0 and 3 the largest, 1 the average with the padding, 2 the average without it.
MEMSIM_EXPORT int cudnnPoolingForward(void*, const Pooling* p, const void* alpha, const Tensor* x, const void* x_data,
                                      const void* beta, const Tensor* y, void* y_data) {
    if (x->dimensions != 4) return not_supported("cudnnPoolingForward (not of 2 dimensions)");
    std::vector<double> in = read_tensor(*x, x_data), out(size_t(y->elements()));
    int64_t height = x->size[2], width = x->size[3], rows = y->size[2], columns = y->size[3];
    for (int64_t plane = 0; plane < x->size[0] * x->size[1]; ++plane)
        for (int64_t place = 0; place < rows * columns; ++place) {
            int64_t top = place / columns * p->stride[0] - p->pad[0], left = place % columns * p->stride[1] - p->pad[1];
            double largest = -HUGE_VAL, sum = 0;
            int64_t n = 0;
            for (int64_t i = std::max<int64_t>(top, 0); i < std::min(top + p->window[0], height); ++i)
                for (int64_t j = std::max<int64_t>(left, 0); j < std::min(left + p->window[1], width); ++j, ++n) {
                    double value = in[size_t((plane * height + i) * width + j)];
                    largest = std::max(largest, value), sum += value;
                }
            int64_t count = p->mode == 1 ? int64_t(p->window[0]) * p->window[1] : std::max<int64_t>(n, 1);
            out[size_t(plane * rows * columns + place)] = p->mode == 1 || p->mode == 2 ? sum / double(count) : largest;
        }
    return write_tensor(*y, y_data, out, scalar(alpha, x->type), scalar(beta, x->type));
}
// A is repeated where its dimensions are 1.
MEMSIM_EXPORT int cudnnAddTensor(void*, const void* alpha, const Tensor* a, const void* a_data, const void* beta,
                                 const Tensor* c, void* c_data) {
    std::vector<double> values(size_t(c->elements()));
    visit_type(element_type(a->type), [&](auto tag) {
        auto* from = static_cast<const typename decltype(tag)::type*>(a_data);
        for (int64_t i = 0; i < c->elements(); ++i) values[size_t(i)] = convert<double>(from[a->place(i, *c)]);
    });
    return write_tensor(*c, c_data, values, scalar(alpha, c->type), scalar(beta, c->type));
}
MEMSIM_EXPORT int cudnnTransformTensor(void*, const void* alpha, const Tensor* x, const void* x_data, const void* beta,
                                       const Tensor* y, void* y_data) {
    return write_tensor(*y, y_data, read_tensor(*x, x_data), scalar(alpha, x->type), scalar(beta, x->type));
}
MEMSIM_EXPORT int cudnnScaleTensor(void*, const Tensor* y, void* data, const void* alpha) {
    return write_tensor(*y, data, read_tensor(*y, data), scalar(alpha, y->type), 0);
}
MEMSIM_EXPORT int cudnnSetTensor(void*, const Tensor* y, void* data, const void* value) {
    double number = 0;
    visit_type(element_type(y->type), [&](auto tag) {
        number = convert<double>(*static_cast<const typename decltype(tag)::type*>(value));
    });
    return write_tensor(*y, data, std::vector<double>(size_t(y->elements()), number), 1, 0);
}
// Mode 0 (per activation): parameters of each place; 1 and 2 (spatial): of each channel.
MEMSIM_EXPORT int cudnnBatchNormalizationForwardInference(void*, int mode, const void* alpha, const void* beta,
                                                          const Tensor* x, const void* x_data, const Tensor* y,
                                                          void* y_data, const Tensor* p, const void* scale,
                                                          const void* bias, const void* mean, const void* variance,
                                                          double epsilon) {
    std::vector<double> values = read_tensor(*x, x_data);
    std::vector<double> s = read_tensor(*p, scale), b = read_tensor(*p, bias), m = read_tensor(*p, mean),
                        v = read_tensor(*p, variance);
    size_t plane = size_t(x->elements() / (x->size[0] * x->size[1])), image = plane * size_t(x->size[1]);
    for (size_t i = 0; i < values.size(); ++i) {
        size_t k = mode == 0 ? i % image : i / plane % size_t(x->size[1]);
        values[i] = s[k] * (values[i] - m[k]) / sqrt(epsilon + v[k]) + b[k];
    }
    return write_tensor(*y, y_data, values, scalar(alpha, x->type), scalar(beta, x->type));
}

}  // namespace standin
