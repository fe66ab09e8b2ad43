// What the programs here share: vectors on the device, and a verdict that is also the exit status.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// SplitMix64's n-th number (Steele, Lea and Flood, OOPSLA 2014): the same data wherever a program runs.
inline uint64_t hashed(uint64_t n) {
    uint64_t z = n * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

template <class T> T* upload(const std::vector<T>& host) {
    T* device;
    cudaMalloc(&device, host.size() * sizeof(T));
    cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

template <class T> void download(std::vector<T>& host, const T* device) {
    cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
}

// Prints a verdict for the first element that is wrong, or for all; returns the exit status.
template <class T, class F> int verdict(const std::vector<T>& found, F expected, double tolerance = 0) {
    for (size_t i = 0; i < found.size(); ++i) {
        double right = expected(i);
        if (!(std::fabs(found[i] - right) <= tolerance * (1 + std::fabs(right)))) {
            printf("FAILED: element %zu is %g, not %g\n", i, double(found[i]), right);
            return 1;
        }
    }
    printf("PASSED: %zu elements\n", found.size());
    return 0;
}

inline int argument(int argc, char** argv, int which, int otherwise) {
    return argc > which ? atoi(argv[which]) : otherwise;
}
