// What one of the programs uses of PyTorch's C++ library: matrices of test data, and whether two are equal.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <vector>

namespace at {
enum ScalarType { kFloat };

class Tensor {
    std::vector<float> values_;

public:
    explicit Tensor(std::size_t count) : values_(count) {}
    void *data_ptr() const { return const_cast<float *>(values_.data()); }
    // The program transposes its result only to print whether it is right, which is not of interest here.
    Tensor transpose(int, int) const { return *this; }
    Tensor reshape(std::initializer_list<long>) const { return *this; }
    bool allclose(const Tensor &other) const { return values_ == other.values_; }
};

inline Tensor zeros(long count, ScalarType) { return Tensor(count); }

inline Tensor rand(std::initializer_list<long> extents, ScalarType) {
    std::size_t count = 1;
    for (long extent : extents) count *= extent;
    return Tensor(count);
}
}
