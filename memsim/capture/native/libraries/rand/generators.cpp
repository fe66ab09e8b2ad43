// cuRAND's host API (cuRAND documentation, "Host API Overview"). Every pseudorandom generator is Philox4x32-10, seeded by
// its type, the program's seed and the offset: numbers have the distribution that is asked for and are the same in every
// run, but they are not the numbers of NVIDIA's library. Quasirandom generators give
// Sobol points in the first ten dimensions and pseudorandom numbers in further ones.
#include <math.h>

#include "../common/report.h"
#include "philox.h"

namespace standin {
namespace {

enum { SUCCESS = 0, NOT_INITIALIZED = 101, TYPE_ERROR = 103, OUT_OF_RANGE = 104, LENGTH_NOT_MULTIPLE = 105 };
enum { QUASI = 200, QUASI_64 = 203, LAST_TYPE = 204 };

struct Generator {
    int type;
    uint64_t seed = 0, offset = 0;
    unsigned dimensions = 1;
    int ordering = 101;
    void* stream = nullptr;

    bool quasi() const { return type >= QUASI; }
    Philox philox() const {
        uint64_t mixed = seed ^ uint64_t(type) * 0x9E3779B97F4A7C15;
        return {{uint32_t(mixed), uint32_t(mixed >> 32)}};
    }
};
double unit(uint32_t bits) { return (bits + 1.0) * 0x1p-32; }  // (0, 1], as cuRAND has it
double unit(uint64_t bits) { return (double(bits >> 11) + 1.0) * 0x1p-53; }

// The n-th number of the sequence as 64 uniform bits.
uint64_t bits_at(const Generator& g, uint64_t index) {
    uint32_t out[4];
    g.philox().block(index >> 1, out);
    return index & 1 ? uint64_t{out[3]} << 32 | out[2] : uint64_t{out[1]} << 32 | out[0];
}

// Direction numbers of the first dimensions: degree and coefficients of the primitive polynomial, and first numbers (S.
// Joe and F. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30, 2008).
struct Polynomial {
    unsigned degree, coefficients, first[5];
};
const Polynomial polynomials[] = {
    {1, 0, {1}}, {2, 1, {1, 3}}, {3, 1, {1, 3, 1}}, {3, 2, {1, 1, 1}}, {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}}, {5, 2, {1, 1, 5, 5, 17}}, {5, 4, {1, 1, 5, 5, 5}}, {5, 7, {1, 1, 7, 11, 19}},
};
constexpr unsigned sobol_dimensions = 1 + sizeof polynomials / sizeof *polynomials;

uint64_t sobol_bits(uint64_t point, unsigned dimension) {
    uint64_t directions[64], result = 0;
    for (unsigned i = 0; i < 64; ++i) {
        if (dimension == 0) {
            directions[i] = uint64_t{1} << (63 - i);
            continue;
        }
        const Polynomial& p = polynomials[dimension - 1];
        if (i < p.degree) {
            directions[i] = uint64_t{p.first[i]} << (63 - i);
            continue;
        }
        directions[i] = directions[i - p.degree] ^ directions[i - p.degree] >> p.degree;
        for (unsigned k = 1; k < p.degree; ++k)
            if (p.coefficients >> (p.degree - 1 - k) & 1) directions[i] ^= directions[i - k];
    }
    for (unsigned i = 0; point; point >>= 1, ++i)
        if (point & 1) result ^= directions[i];
    return result;
}
// The first point of a sequence, zero, is left out. Scrambled sequences are shifted by a constant of the dimension.
uint64_t quasi_bits(const Generator& g, uint64_t index, unsigned dimension) {
    if (dimension >= sobol_dimensions) return bits_at(g, (uint64_t{dimension} << 40) + index);
    bool scrambled = g.type == 202 || g.type == 204;
    return sobol_bits(index + 1, dimension) ^ (scrambled ? bits_at(g, ~uint64_t{dimension}) : 0);
}

// Calls put(i, bits) for n numbers and moves the sequence on.
template <class Put>
int generate(Generator* g, size_t n, Put&& put) {
    if (!g) return NOT_INITIALIZED;
    if (g->quasi()) {
        if (n % g->dimensions) return LENGTH_NOT_MULTIPLE;
        size_t points = n / g->dimensions;
        for (unsigned d = 0; d < g->dimensions; ++d)
            for (size_t i = 0; i < points; ++i) put(d * points + i, quasi_bits(*g, g->offset + i, d));
        g->offset += points;
    } else {
        for (size_t i = 0; i < n; ++i) put(i, bits_at(*g, g->offset + i));
        g->offset += n;
    }
    return count_call(), SUCCESS;
}

// Acklam's rational approximation of the inverse of the normal distribution, then one step of Halley's method: each
// number comes from one uniform number, so quasirandom points keep their order. Error below 1e-15.
double normal_of(double p) {
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                               1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    if (p >= 1) p = 1 - 0x1p-54;
    double x;
    if (p < 0.02425 || p > 1 - 0.02425) {
        double q = sqrt(-2 * log(p < 0.5 ? p : 1 - p));
        x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
            ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
        if (p > 0.5) x = -x;
    } else {
        double q = p - 0.5, r = q * q;
        x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
            (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
    }
    double error = 0.5 * erfc(-x / sqrt(2.0)) - p, u = error * sqrt(2 * M_PI) * exp(x * x / 2);
    return x - u / (1 + x * u / 2);
}

// The Poisson distribution by inversion: sums of probabilities around the mean for a large mean.
unsigned poisson_of(double p, double mean) {
    if (mean > 700) {
        double value = mean + sqrt(mean) * normal_of(p) + 0.5;
        return value < 0 ? 0 : unsigned(value);
    }
    double term = exp(-mean), sum = term;
    unsigned k = 0;
    while (sum < p && k < 10000) term *= mean / ++k, sum += term;
    return k;
}

int create(Generator** made, int type) {
    if (type == 100) type = 101;
    if (type == QUASI) type = 201;
    bool known = type == 101 || type == 121 || type == 141 || type == 142 || type == 161 || (type > QUASI && type <= LAST_TYPE);
    if (!made || !known) return TYPE_ERROR;
    return *made = new Generator{type}, SUCCESS;
}
template <class T, class Of>
int fill(Generator* g, T* out, size_t n, Of of) {
    return generate(g, n, [=](size_t i, uint64_t bits) { out[i] = T(of(bits)); });
}
double single_unit(uint64_t bits) { return double(float(unit(uint32_t(bits >> 32)))); }
double wide_unit(uint64_t bits) { return unit(bits); }

}  // namespace

MEMSIM_EXPORT int curandCreateGenerator(Generator** made, int type) { return create(made, type); }
MEMSIM_EXPORT int curandDestroyGenerator(Generator* g) { return g ? (delete g, SUCCESS) : int(NOT_INITIALIZED); }
MEMSIM_EXPORT int curandGetVersion(int* version) { return *version = 10400, SUCCESS; }
MEMSIM_EXPORT int curandGetProperty(int type, int* value) { return *value = type == 0 ? 10 : type == 1 ? 4 : 0, SUCCESS; }
MEMSIM_EXPORT int curandSetStream(Generator* g, void* stream) { return g->stream = stream, SUCCESS; }
MEMSIM_EXPORT int curandGetStream(Generator* g, void** stream) { return *stream = g->stream, SUCCESS; }
MEMSIM_EXPORT int curandSetPseudoRandomGeneratorSeed(Generator* g, unsigned long long seed) {
    if (!g) return NOT_INITIALIZED;
    if (g->quasi()) return TYPE_ERROR;
    return g->seed = seed, g->offset = 0, SUCCESS;
}
MEMSIM_EXPORT int curandGetPseudoRandomGeneratorSeed(Generator* g, unsigned long long* seed) {
    return *seed = g->seed, SUCCESS;
}
MEMSIM_EXPORT int curandSetGeneratorOffset(Generator* g, unsigned long long offset) {
    return g ? (g->offset = offset, SUCCESS) : int(NOT_INITIALIZED);
}
MEMSIM_EXPORT int curandGetGeneratorOffset(Generator* g, unsigned long long* offset) {
    return *offset = g->offset, SUCCESS;
}
MEMSIM_EXPORT int curandSetGeneratorOrdering(Generator* g, int ordering) { return g->ordering = ordering, SUCCESS; }
MEMSIM_EXPORT int curandGetGeneratorOrdering(Generator* g, int* ordering) { return *ordering = g->ordering, SUCCESS; }
MEMSIM_EXPORT int curandSetQuasiRandomGeneratorDimensions(Generator* g, unsigned dimensions) {
    if (!g || !g->quasi()) return g ? int(TYPE_ERROR) : int(NOT_INITIALIZED);
    if (!dimensions || dimensions > 20000) return OUT_OF_RANGE;
    return g->dimensions = dimensions, SUCCESS;
}
MEMSIM_EXPORT int curandGetQuasiRandomGeneratorDimensions(Generator* g, unsigned* dimensions) {
    return *dimensions = g->dimensions, SUCCESS;
}

MEMSIM_EXPORT int curandGenerate(Generator* g, unsigned* out, size_t n) {
    if (g && g->type >= QUASI_64) return TYPE_ERROR;
    return fill(g, out, n, [](uint64_t bits) { return bits >> 32; });
}
MEMSIM_EXPORT int curandGenerateLongLong(Generator* g, unsigned long long* out, size_t n) {
    if (g && g->type < QUASI_64) return TYPE_ERROR;
    return fill(g, out, n, [](uint64_t bits) { return bits; });
}
MEMSIM_EXPORT int curandGenerateUniform(Generator* g, float* out, size_t n) { return fill(g, out, n, single_unit); }
MEMSIM_EXPORT int curandGenerateUniformDouble(Generator* g, double* out, size_t n) { return fill(g, out, n, wide_unit); }
// Normal numbers of a pseudorandom generator come in pairs, so their count must be even.
#define NORMAL(name, T, uniform, value)                                                      \
    MEMSIM_EXPORT int name(Generator* g, T* out, size_t n, T mean, T deviation) {            \
        if (g && !g->quasi() && n % 2) return LENGTH_NOT_MULTIPLE;                           \
        return fill(g, out, n, [=](uint64_t bits) {                                          \
            double x = double(mean) + double(deviation) * normal_of(uniform(bits));          \
            return value;                                                                    \
        });                                                                                  \
    }
NORMAL(curandGenerateNormal, float, wide_unit, x)
NORMAL(curandGenerateNormalDouble, double, wide_unit, x)
NORMAL(curandGenerateLogNormal, float, wide_unit, exp(x))
NORMAL(curandGenerateLogNormalDouble, double, wide_unit, exp(x))
MEMSIM_EXPORT int curandGeneratePoisson(Generator* g, unsigned* out, size_t n, double mean) {
    if (!(mean > 0)) return OUT_OF_RANGE;
    return fill(g, out, n, [=](uint64_t bits) { return poisson_of(wide_unit(bits), mean); });
}

}  // namespace standin
