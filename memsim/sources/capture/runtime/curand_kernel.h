// cuRAND in kernels (cuRAND documentation, "Device API"): XORWOW and Philox4x32-10. Their states have cuRAND's sizes. The
// other generators are declared and refused at the call.
#pragma once

#include "cuda_runtime.h"
#include "curand.h"
#include "memsim/math.h"
#include "memsim/random.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

struct curandStateXORWOW {
    unsigned d, v[5];
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
};
struct __attribute__((aligned(16))) curandStatePhilox4_32_10 {
    unsigned counter[4], output[4], key[2], next;
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
struct curandStateMRG32k3a {
    unsigned s1[3], s2[3];
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
};
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

MEMSIM_CUDA void skipahead(unsigned long long n, curandStateXORWOW* state) {
    memsim_probe::Words words;
    for (int i = 0; i < 5; ++i) words.v[i] = state->v[i];
    memsim_probe::skip_words(words, n, 0);
    for (int i = 0; i < 5; ++i) state->v[i] = words.v[i];
    state->d += 362437 * static_cast<unsigned>(n);
}
MEMSIM_CUDA void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
    memsim_probe::Words words;
    for (int i = 0; i < 5; ++i) words.v[i] = state->v[i];
    memsim_probe::skip_words(words, n, 67);
    for (int i = 0; i < 5; ++i) state->v[i] = words.v[i];
}
MEMSIM_CUDA void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                             curandStateXORWOW* state) {
    unsigned low = 1099087573u * (static_cast<unsigned>(seed) ^ 0xAAD26B49u);
    unsigned high = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xF7DCEFDDu);
    *state = {6615241u + high + low, {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high,
                                      5783321u + low}, 0, 0, 0, 0};
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
MEMSIM_CUDA unsigned curand(curandStateXORWOW* state) {
    memsim_probe::Words words;
    for (int i = 0; i < 5; ++i) words.v[i] = state->v[i];
    words.step();
    for (int i = 0; i < 5; ++i) state->v[i] = words.v[i];
    return state->v[4] + (state->d += 362437);
}

namespace memsim_probe {
inline __host__ __device__ Philox philox_of(const curandStatePhilox4_32_10* state) {
    Philox one;
    for (int i = 0; i < 4; ++i) one.counter[i] = state->counter[i];
    one.key[0] = state->key[0], one.key[1] = state->key[1];
    return one;
}
// The state's counter moves on; its numbers are those that come next.
inline __host__ __device__ void philox_move(curandStatePhilox4_32_10* state, int first, unsigned long long n) {
    Philox one = philox_of(state);
    one.skip(first, n);
    for (int i = 0; i < 4; ++i) state->counter[i] = one.counter[i];
    one.numbers(state->output);
}
}  // namespace memsim_probe
MEMSIM_CUDA void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
    unsigned long long place = state->next + n % 4;
    state->next = place % 4;
    memsim_probe::philox_move(state, 0, n / 4 + place / 4);
}
MEMSIM_CUDA void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
    memsim_probe::philox_move(state, 2, n);
}
MEMSIM_CUDA void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                             curandStatePhilox4_32_10* state) {
    *state = {};
    state->key[0] = static_cast<unsigned>(seed), state->key[1] = static_cast<unsigned>(seed >> 32);
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
MEMSIM_CUDA unsigned curand(curandStatePhilox4_32_10* state) {
    unsigned number = state->output[state->next++];
    if (state->next == 4) {
        state->next = 0;
        memsim_probe::philox_move(state, 0, 1);
    }
    return number;
}
MEMSIM_CUDA uint4 curand4(curandStatePhilox4_32_10* state) {
    unsigned x = curand(state), y = curand(state), z = curand(state), w = curand(state);
    return {x, y, z, w};
}

// Numbers of (0, 1], and of normal distributions by Box and Muller's method.
namespace memsim_probe {
inline __host__ __device__ float to_uniform(unsigned x) { return x * 0x1p-32f + 0x1p-33f; }
inline __host__ __device__ double to_uniform(unsigned x, unsigned y) {
    unsigned long long bits = x ^ static_cast<unsigned long long>(y) << 21;
    return bits * 0x1p-53 + 0x1p-54;
}
inline __host__ __device__ float2 to_normal(unsigned x, unsigned y) {
    float radius = sqrtf(-2 * logf(to_uniform(x))), angle = to_uniform(y) * 6.2831853071795865f;
    return {radius * sinf(angle), radius * cosf(angle)};
}
}  // namespace memsim_probe
template <class State>
MEMSIM_CUDA_TEMPLATE float curand_uniform(State* state) {
    return memsim_probe::to_uniform(curand(state));
}
template <class State>
MEMSIM_CUDA_TEMPLATE double curand_uniform_double(State* state) {
    unsigned x = curand(state), y = curand(state);
    return memsim_probe::to_uniform(x, y);
}
template <class State>
MEMSIM_CUDA_TEMPLATE float2 curand_normal2(State* state) {
    unsigned x = curand(state), y = curand(state);
    return memsim_probe::to_normal(x, y);
}
template <class State>
MEMSIM_CUDA_TEMPLATE float curand_normal(State* state) {
    if (state->has_normal) {
        state->has_normal = 0;
        return state->normal;
    }
    float2 pair = curand_normal2(state);
    state->has_normal = 1;
    state->normal = pair.y;
    return pair.x;
}
template <class State>
MEMSIM_CUDA_TEMPLATE double2 curand_normal2_double(State* state) {
    double u = curand_uniform_double(state), v = curand_uniform_double(state);
    double radius = sqrt(-2 * log(u)), angle = 6.283185307179586477 * v;
    return {radius * sin(angle), radius * cos(angle)};
}
template <class State>
MEMSIM_CUDA_TEMPLATE double curand_normal_double(State* state) {
    if (state->has_normal_double) {
        state->has_normal_double = 0;
        return state->normal_double;
    }
    double2 pair = curand_normal2_double(state);
    state->has_normal_double = 1;
    state->normal_double = pair.y;
    return pair.x;
}
template <class State>
MEMSIM_CUDA_TEMPLATE float curand_log_normal(State* state, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(state));
}
template <class State>
MEMSIM_CUDA_TEMPLATE double curand_log_normal_double(State* state, double mean, double deviation) {
    return exp(mean + deviation * curand_normal_double(state));
}
MEMSIM_CUDA float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    uint4 n = curand4(state);
    using memsim_probe::to_uniform;
    return {to_uniform(n.x), to_uniform(n.y), to_uniform(n.z), to_uniform(n.w)};
}
MEMSIM_CUDA float4 curand_normal4(curandStatePhilox4_32_10* state) {
    uint4 n = curand4(state);
    float2 a = memsim_probe::to_normal(n.x, n.y), b = memsim_probe::to_normal(n.z, n.w);
    return {a.x, a.y, b.x, b.y};
}
MEMSIM_CUDA void curand_init(unsigned long long, unsigned long long, unsigned long long, curandStateMRG32k3a*) {
    memsim_probe::refuse_call("curand_init(..., curandStateMRG32k3a*");
}
MEMSIM_CUDA unsigned curand(curandStateMRG32k3a*) {
    memsim_probe::refuse_call("curand(curandStateMRG32k3a*");
}
template <class State>
MEMSIM_CUDA_TEMPLATE unsigned curand_poisson(State*, double) {
    memsim_probe::refuse_call("curand_poisson");
}

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
