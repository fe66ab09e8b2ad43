// Discrete Fourier transforms of one dimension, of any length, in double precision.
#pragma once

#include <stdint.h>

#include <complex>
#include <vector>

namespace standin {

using Complex = std::complex<double>;

// A transform of n numbers in one direction (-1 forward, 1 inverse; neither is scaled, as in cuFFT). Lengths with prime
// factors up to 31 are split by Cooley and Tukey's method; others go through a convolution (L. Bluestein, 1970).
class Transform {
  public:
    Transform(int64_t n, int direction);
    void run(Complex* data);  // in place, contiguous

  private:
    void split(const Complex* in, Complex* out, int64_t n, int64_t step, size_t factor);
    void convolve(Complex* data);

    int64_t n_;
    int direction_;
    std::vector<int64_t> factors_;
    std::vector<Complex> roots_, work_;
    // Bluestein's method: the chirp, the transform of its inverse, and the padded length.
    std::vector<Complex> chirp_, kernel_, padded_;
    std::vector<Transform> inner_;
};

}  // namespace standin
