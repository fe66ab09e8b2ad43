// cuRAND from the host (cuRAND documentation, "Host API"). Whatever generator is asked for, numbers are Philox4x32-10's:
// of the distribution that is asked for, and the same in every run.
#pragma once

#include "cuda_runtime.h"
#include "memsim/library_calls.h"
#include "memsim/random.h"

#define CURAND_H_  // by which the samples' headers know that it was included

typedef enum curandStatus {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;
typedef enum curandRngType {
    CURAND_RNG_TEST = 0,
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
    CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
    CURAND_RNG_QUASI_SOBOL64 = 203,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
} curandRngType_t;
typedef enum curandOrdering {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_SEEDED = 102,
    CURAND_ORDERING_QUASI_DEFAULT = 201
} curandOrdering_t;

struct curandGenerator_st {
    memsim_probe::Philox philox;
    uint32_t numbers[4];
    unsigned next;

    void seed(unsigned long long value) {
        philox = {{0, 0, 0, 0}, {uint32_t(value), uint32_t(value >> 32)}};
        next = 4;
    }
    uint32_t number() {
        if (next == 4) {
            philox.numbers(numbers);
            philox.skip(0, 1);
            next = 0;
        }
        return numbers[next++];
    }
    double uniform() { return (number() + 0.5) * 0x1p-32; }
    double normal() {
        double u = uniform(), v = uniform();
        return sqrt(-2 * log(u)) * cos(6.283185307179586477 * v);
    }
};
typedef curandGenerator_st* curandGenerator_t;

inline curandStatus_t curandCreateGenerator(curandGenerator_t* made, curandRngType_t type) {
    if (type >= CURAND_RNG_QUASI_DEFAULT) memsim_probe::refuse_call("curandCreateGenerator(CURAND_RNG_QUASI_...");
    *made = new curandGenerator_st{};
    (*made)->seed(0);
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* made, curandRngType_t type) {
    return curandCreateGenerator(made, type);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t one) { return delete one, CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t one, unsigned long long seed) {
    return one->seed(seed), CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t one, unsigned long long offset) {
    return one->philox.skip(0, offset / 4), CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandGenerateSeeds(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandGetVersion(int* version) { return *version = 10300, CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandGenerate(curandGenerator_t one, unsigned* out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = one->number();
    return CURAND_STATUS_SUCCESS;
}
#define MEMSIM_RANDOM(name, real, expression, ...)                                                                     \
    inline curandStatus_t name(curandGenerator_t one, real* out, size_t n __VA_ARGS__) {                               \
        for (size_t i = 0; i < n; ++i) out[i] = real(expression);                                                      \
        return CURAND_STATUS_SUCCESS;                                                                                  \
    }
#define MEMSIM_COMMA ,
MEMSIM_RANDOM(curandGenerateUniform, float, one->uniform())
MEMSIM_RANDOM(curandGenerateUniformDouble, double, one->uniform())
MEMSIM_RANDOM(curandGenerateNormal, float, mean + deviation * one->normal(), MEMSIM_COMMA float mean MEMSIM_COMMA float deviation)
MEMSIM_RANDOM(curandGenerateNormalDouble, double, mean + deviation * one->normal(), MEMSIM_COMMA double mean MEMSIM_COMMA double deviation)
MEMSIM_RANDOM(curandGenerateLogNormal, float, exp(mean + deviation * one->normal()), MEMSIM_COMMA float mean MEMSIM_COMMA float deviation)
MEMSIM_RANDOM(curandGenerateLogNormalDouble, double, exp(mean + deviation * one->normal()), MEMSIM_COMMA double mean MEMSIM_COMMA double deviation)
#undef MEMSIM_COMMA
#undef MEMSIM_RANDOM
MEMSIM_REFUSED(curandStatus_t, curandGenerateLongLong)
MEMSIM_REFUSED(curandStatus_t, curandGeneratePoisson)
MEMSIM_REFUSED(curandStatus_t, curandSetQuasiRandomGeneratorDimensions)
