#include "transform.h"

#include <cmath>

namespace standin {
namespace {

constexpr int64_t largest_factor = 31;

std::vector<int64_t> factors_of(int64_t n) {
    std::vector<int64_t> factors;
    for (int64_t p : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31})
        while (n % p == 0) factors.push_back(p), n /= p;
    if (n > 1) factors.push_back(n);
    return factors;
}
Complex root(int64_t k, int64_t n, int direction) {
    double angle = direction * 2 * M_PI * double(k % n) / double(n);
    return {std::cos(angle), std::sin(angle)};
}

}  // namespace

Transform::Transform(int64_t n, int direction) : n_(n), direction_(direction), factors_(factors_of(n)) {
    if (factors_.empty() || factors_.back() <= largest_factor) {
        for (int64_t k = 0; k < n; ++k) roots_.push_back(root(k, n, direction));
        work_.resize(size_t(n));
        return;
    }
    int64_t length = 1;
    while (length < 2 * n - 1) length *= 2;
    inner_.emplace_back(length, -1);
    inner_.emplace_back(length, 1);
    kernel_.assign(size_t(length), 0);
    padded_.resize(size_t(length));
    for (int64_t k = 0; k < n; ++k) {
        // k^2 / 2 of a turn, reduced in integers: k^2 would lose digits in floating point.
        chirp_.push_back(root(int64_t(__int128(k) * k % (2 * n)), 2 * n, direction));
        Complex inverse = std::conj(chirp_.back());
        kernel_[size_t(k)] = inverse;
        if (k) kernel_[size_t(length - k)] = inverse;
    }
    inner_[0].run(kernel_.data());
}

void Transform::run(Complex* data) {
    if (n_ <= 1) return;
    if (!chirp_.empty()) return convolve(data);
    work_.assign(data, data + n_);
    split(work_.data(), data, n_, 1, 0);
}

// Transforms in[0], in[step], ... into out, which is contiguous.
void Transform::split(const Complex* in, Complex* out, int64_t n, int64_t step, size_t factor) {
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    int64_t p = factors_[factor], part = n / p;
    for (int64_t r = 0; r < p; ++r) split(in + r * step, out + r * part, part, step * p, factor + 1);
    // The parts' k-th numbers, turned, are a transform of length p.
    Complex turned[largest_factor];
    for (int64_t k = 0; k < part; ++k) {
        for (int64_t r = 0; r < p; ++r) turned[r] = out[r * part + k] * roots_[size_t(r * k * step)];
        if (p == 2) {
            out[k] = turned[0] + turned[1];
            out[part + k] = turned[0] - turned[1];
            continue;
        }
        if (p == 4) {
            Complex even = turned[0] + turned[2], odd = turned[1] + turned[3];
            Complex low = turned[0] - turned[2], high = turned[1] - turned[3];
            high = direction_ < 0 ? Complex(high.imag(), -high.real()) : Complex(-high.imag(), high.real());
            out[k] = even + odd, out[2 * part + k] = even - odd;
            out[part + k] = low + high, out[3 * part + k] = low - high;
            continue;
        }
        for (int64_t q = 0; q < p; ++q) {
            Complex sum = turned[0];
            for (int64_t r = 1; r < p; ++r) sum += turned[r] * roots_[size_t(r * q % p * (n_ / p))];
            out[q * part + k] = sum;
        }
    }
}

void Transform::convolve(Complex* data) {
    size_t length = padded_.size();
    for (size_t k = 0; k < length; ++k) padded_[k] = int64_t(k) < n_ ? data[k] * chirp_[k] : 0;
    inner_[0].run(padded_.data());
    for (size_t k = 0; k < length; ++k) padded_[k] *= kernel_[k];
    inner_[1].run(padded_.data());
    for (int64_t k = 0; k < n_; ++k) data[k] = padded_[size_t(k)] * chirp_[size_t(k)] / double(length);
}

}  // namespace standin
