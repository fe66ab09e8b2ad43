// Plans and their execution (cuFFT documentation, "cuFFT API Reference"). A plan is a small number, as in cuFFT.
#include <map>
#include <mutex>
#include <vector>

#include "../common/data_types.h"
#include "../common/report.h"
#include "transform.h"

namespace standin {
namespace {

enum Result { SUCCESS = 0, INVALID_PLAN = 1, INVALID_TYPE = 3, INVALID_VALUE = 4, INVALID_SIZE = 8, NOT_SUPPORTED = 16 };
// cufftType: bit 6 says double precision.
enum Type { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };
constexpr int forward = -1, inverse = 1;

// One side of a transform in memory: distances in elements.
struct Side {
    std::vector<int64_t> embed;  // storage dimensions; the first is not used
    int64_t stride = 1, distance = 0;
    int64_t index(const std::vector<int64_t>& at) const {
        int64_t sum = 0;
        for (size_t d = 0; d < at.size(); ++d) sum = sum * (d ? embed[d] : 1) + at[d];
        return sum * stride;
    }
};
struct Plan {
    int type = 0;
    std::vector<int64_t> shape;  // empty: not made yet
    int64_t batch = 1;
    Side in, out;
    void* stream = nullptr;
};

std::mutex lock;
int next_plan = 1;
std::map<int, Plan>& plans() {
    static auto* all = new std::map<int, Plan>;
    return *all;
}
Plan* plan_of(int handle) {
    auto found = plans().find(handle);
    return found == plans().end() ? nullptr : &found->second;
}
int create(int* handle) {
    if (!handle) return INVALID_VALUE;
    std::lock_guard<std::mutex> hold(lock);
    *handle = next_plan++;
    plans()[*handle];
    return SUCCESS;
}

int64_t product_of(const std::vector<int64_t>& shape) {
    int64_t product = 1;
    for (int64_t one : shape) product *= one;
    return product;
}
// The half of a spectrum that real data has: n / 2 + 1 numbers in the last dimension.
std::vector<int64_t> half_of(std::vector<int64_t> shape) {
    shape.back() = shape.back() / 2 + 1;
    return shape;
}
bool real_input(int type) { return type == R2C || type == D2Z; }
bool real_output(int type) { return type == C2R || type == Z2D; }

template <class I>
Side side_of(const std::vector<int64_t>& storage, const I* embed, int64_t stride, int64_t distance) {
    // Without `embed` the data is packed, and stride and distance are not looked at.
    if (!embed) return {storage, 1, product_of(storage)};
    return {std::vector<int64_t>(embed, embed + storage.size()), stride, distance};
}
template <class I>
int make(int handle, int rank, const I* n, const I* in_embed, int64_t in_stride, int64_t in_distance,
         const I* out_embed, int64_t out_stride, int64_t out_distance, int type, int64_t batch, size_t* work) {
    std::lock_guard<std::mutex> hold(lock);
    Plan* plan = plan_of(handle);
    if (!plan) return INVALID_PLAN;
    if (type != R2C && type != C2R && type != C2C && type != D2Z && type != Z2D && type != Z2Z) return INVALID_TYPE;
    if (rank < 1 || rank > 3 || batch < 1) return INVALID_VALUE;
    for (int d = 0; d < rank; ++d)
        if (n[d] < 1) return INVALID_SIZE;
    plan->type = type;
    plan->shape.assign(n, n + rank);
    plan->batch = batch;
    std::vector<int64_t> half = half_of(plan->shape);
    plan->in = side_of(real_output(type) ? half : plan->shape, out_embed ? in_embed : nullptr, in_stride, in_distance);
    plan->out = side_of(real_input(type) ? half : plan->shape, in_embed ? out_embed : nullptr, out_stride, out_distance);
    if (work) *work = 0;
    return SUCCESS;
}
int make_packed(int handle, std::vector<int> n, int type, int64_t batch, size_t* work) {
    const int* none = nullptr;
    return make(handle, int(n.size()), n.data(), none, 1, 0, none, 1, 0, type, batch, work);
}
// A plan that is created and made at once; the handle is only good if that worked.
int create_packed(int* handle, std::vector<int> n, int type, int64_t batch) {
    if (int failed = create(handle)) return failed;
    int failed = make_packed(*handle, std::move(n), type, batch, nullptr);
    if (failed) plans().erase(*handle);
    return failed;
}

template <class Visit>
void for_each(const std::vector<int64_t>& shape, Visit&& visit) {
    std::vector<int64_t> at(shape.size());
    for (int64_t left = product_of(shape), i = 0; i < left; ++i) {
        visit(at, i);
        for (size_t d = shape.size(); d-- > 0;) {
            if (++at[d] < shape[d]) break;
            at[d] = 0;
        }
    }
}
// All dimensions of a packed array, one after the other.
void transform_all(std::vector<Complex>& data, const std::vector<int64_t>& shape, std::vector<Transform>& lines) {
    int64_t inner = 1;
    std::vector<Complex> line;
    for (size_t d = shape.size(); d-- > 0;) {
        int64_t n = shape[d], outer = int64_t(data.size()) / (n * inner);
        line.resize(size_t(n));
        for (int64_t o = 0; o < outer; ++o)
            for (int64_t i = 0; i < inner; ++i) {
                Complex* first = data.data() + o * n * inner + i;
                for (int64_t k = 0; k < n; ++k) line[size_t(k)] = first[k * inner];
                lines[d].run(line.data());
                for (int64_t k = 0; k < n; ++k) first[k * inner] = line[size_t(k)];
            }
        inner *= n;
    }
}

template <class R>
void run_plan(const Plan& plan, const void* in, void* out, int direction) {
    std::vector<Transform> lines;
    for (int64_t n : plan.shape) lines.emplace_back(n, direction);
    std::vector<Complex> data(size_t(product_of(plan.shape)));
    std::vector<int64_t> mirrored(plan.shape.size()), half = half_of(plan.shape);
    for (int64_t b = 0; b < plan.batch; ++b) {
        const R* real_in = static_cast<const R*>(in) + b * plan.in.distance;
        auto* complex_in = static_cast<const std::complex<R>*>(in) + b * plan.in.distance;
        for_each(plan.shape, [&](const std::vector<int64_t>& at, int64_t i) {
            if (real_input(plan.type)) {
                data[size_t(i)] = double(real_in[plan.in.index(at)]);
            } else if (real_output(plan.type) && at.back() >= half.back()) {
                // The other half of the spectrum of real data is the conjugate.
                for (size_t d = 0; d < at.size(); ++d) mirrored[d] = (plan.shape[d] - at[d]) % plan.shape[d];
                data[size_t(i)] = std::conj(Complex(complex_in[plan.in.index(mirrored)]));
            } else {
                data[size_t(i)] = Complex(complex_in[plan.in.index(at)]);
            }
        });
        transform_all(data, plan.shape, lines);
        R* real_out = static_cast<R*>(out) + b * plan.out.distance;
        auto* complex_out = static_cast<std::complex<R>*>(out) + b * plan.out.distance;
        for_each(plan.shape, [&](const std::vector<int64_t>& at, int64_t i) {
            Complex value = data[size_t(i)];
            if (real_output(plan.type)) real_out[plan.out.index(at)] = R(value.real());
            else if (!real_input(plan.type) || at.back() < half.back())
                complex_out[plan.out.index(at)] = std::complex<R>(R(value.real()), R(value.imag()));
        });
    }
}
// In place, the real side of a packed transform is padded to the complex side's rows (cuFFT, "Data Layout").
void pad_real_side(Plan& plan) {
    Side& real = real_input(plan.type) ? plan.in : plan.out;
    if (real.stride != 1 || real.distance != product_of(plan.shape) || real.embed != plan.shape) return;
    real.embed.back() = 2 * (plan.shape.back() / 2 + 1);
    real.distance = product_of(real.embed);
}
int execute(int handle, const void* in, void* out, int direction, int type) {
    std::unique_lock<std::mutex> hold(lock);
    Plan* found = plan_of(handle);
    if (!found || found->shape.empty()) return INVALID_PLAN;
    Plan plan = *found;
    hold.unlock();
    if (plan.type != type) return INVALID_TYPE;
    if (!in || !out) return INVALID_VALUE;
    bool is_real = real_input(type) || real_output(type);
    if (is_real) direction = real_input(type) ? forward : inverse;
    if (is_real && in == out) pad_real_side(plan);
    if (type & 0x40) run_plan<double>(plan, in, out, direction);
    else run_plan<float>(plan, in, out, direction);
    return count_call(), SUCCESS;
}

}  // namespace

MEMSIM_EXPORT int cufftCreate(int* handle) { return create(handle); }
MEMSIM_EXPORT int cufftDestroy(int handle) {
    std::lock_guard<std::mutex> hold(lock);
    return plans().erase(handle) ? SUCCESS : INVALID_PLAN;
}
MEMSIM_EXPORT int cufftPlan1d(int* handle, int n, int type, int batch) { return create_packed(handle, {n}, type, batch); }
MEMSIM_EXPORT int cufftPlan2d(int* handle, int rows, int columns, int type) {
    return create_packed(handle, {rows, columns}, type, 1);
}
MEMSIM_EXPORT int cufftPlan3d(int* handle, int x, int y, int z, int type) {
    return create_packed(handle, {x, y, z}, type, 1);
}
MEMSIM_EXPORT int cufftPlanMany(int* handle, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                                int* out_embed, int out_stride, int out_distance, int type, int batch) {
    if (int failed = create(handle)) return failed;
    return make(*handle, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type, batch,
                nullptr);
}
MEMSIM_EXPORT int cufftMakePlan1d(int handle, int n, int type, int batch, size_t* work) {
    return make_packed(handle, {n}, type, batch, work);
}
MEMSIM_EXPORT int cufftMakePlan2d(int handle, int rows, int columns, int type, size_t* work) {
    return make_packed(handle, {rows, columns}, type, 1, work);
}
MEMSIM_EXPORT int cufftMakePlan3d(int handle, int x, int y, int z, int type, size_t* work) {
    return make_packed(handle, {x, y, z}, type, 1, work);
}
MEMSIM_EXPORT int cufftMakePlanMany(int handle, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                                    int* out_embed, int out_stride, int out_distance, int type, int batch,
                                    size_t* work) {
    return make(handle, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type, batch, work);
}
MEMSIM_EXPORT int cufftMakePlanMany64(int handle, int rank, long long* n, long long* in_embed, long long in_stride,
                                      long long in_distance, long long* out_embed, long long out_stride,
                                      long long out_distance, int type, long long batch, size_t* work) {
    return make(handle, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type, batch, work);
}
// The types of the data decide the type of the transform (cudaDataType: 0 and 1 real, 4 and 5 complex).
MEMSIM_EXPORT int cufftXtMakePlanMany(int handle, int rank, long long* n, long long* in_embed, long long in_stride,
                                      long long in_distance, int in_type, long long* out_embed, long long out_stride,
                                      long long out_distance, int out_type, long long batch, size_t* work, int) {
    int type = in_type == R_32F && out_type == C_32F ? R2C : in_type == C_32F && out_type == R_32F ? C2R
             : in_type == C_32F && out_type == C_32F ? C2C : in_type == R_64F && out_type == C_64F ? D2Z
             : in_type == C_64F && out_type == R_64F ? Z2D : in_type == C_64F && out_type == C_64F ? Z2Z : 0;
    if (!type) return not_supported("cufftXtMakePlanMany (of this type)");
    return make(handle, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type, batch, work);
}
MEMSIM_EXPORT int cufftXtExec(int handle, void* in, void* out, int direction) {
    Plan* plan = plan_of(handle);
    return plan ? execute(handle, in, out, direction, plan->type) : INVALID_PLAN;
}
MEMSIM_EXPORT int cufftExecC2C(int handle, void* in, void* out, int d) { return execute(handle, in, out, d, C2C); }
MEMSIM_EXPORT int cufftExecZ2Z(int handle, void* in, void* out, int d) { return execute(handle, in, out, d, Z2Z); }
MEMSIM_EXPORT int cufftExecR2C(int handle, void* in, void* out) { return execute(handle, in, out, forward, R2C); }
MEMSIM_EXPORT int cufftExecD2Z(int handle, void* in, void* out) { return execute(handle, in, out, forward, D2Z); }
MEMSIM_EXPORT int cufftExecC2R(int handle, void* in, void* out) { return execute(handle, in, out, inverse, C2R); }
MEMSIM_EXPORT int cufftExecZ2D(int handle, void* in, void* out) { return execute(handle, in, out, inverse, Z2D); }

MEMSIM_EXPORT int cufftSetStream(int handle, void* stream) {
    Plan* plan = plan_of(handle);
    return plan ? (plan->stream = stream, SUCCESS) : INVALID_PLAN;
}
MEMSIM_EXPORT int cufftGetVersion(int* version) { return *version = 12000, SUCCESS; }
MEMSIM_EXPORT int cufftGetProperty(int type, int* value) { return *value = type == 0 ? 12 : 0, SUCCESS; }

}  // namespace standin
