// libnvJitLink without functions. cuda.core and Numba-CUDA link with the driver's cuLink functions where nvJitLink lacks
// its own: the driver keeps PTX, while nvJitLink makes machine code alone. Python programs load this library first.

namespace {
[[maybe_unused]] const int nothing = 0;
}
