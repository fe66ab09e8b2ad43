// Kernels that access memory in the ways that C++ has. What they compute does not matter. Two ways are missing, as g++ -O0
// is no oracle for them: it reads again what `a[i] = b[i] = c` and `k = --a[i]` have just stored, and its sanitizer does not
// see a structure that is passed by value straight from memory.
#include <cstdio>
#include <type_traits>

struct Body {
    float x, y, z;
    int next;
};
struct Pair {
    double value;
    int keys[3];
    char tag;
};

__constant__ float weights[16];
__device__ int counters[64];
__device__ float scale = 2;

__device__ float weighted(float value, int k) { return value * weights[k & 15] + scale; }
__device__ void bump(int& what, int by) { what += by; }
__device__ float norm(Body body) { return body.x * body.x + body.y * body.y; }
__device__ const float& larger(const float& a, const float& b) { return a < b ? b : a; }
__device__ int last(const int* list, int n) {
    if (n <= 0) return -1;
    return list[n - 1] > 0 ? list[n - 1] : last(list, n - 1);
}

template <class T>
struct Plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T, class F>
__device__ void combine(T* out, const T* a, const T* b, int i, F f) {
    out[i] = f(a[i], b[i]);
}

__global__ void assignments(const float* x, float* y, int* n, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    float a = 2.5f;
    y[i] = a * x[i] + y[i];
    y[i] += x[i];
    y[i] /= 2, n[i] <<= 1;
    n[i]++;
    int before = n[i]--;
    --n[i];
    n[(i + before) & 63] = before;
    y[i] = x[i] > 1 ? x[(i + 1) % size] : -x[i];
    const float* p = x + i;
    float sum = *p++;
    if (i + 1 < size) sum += *p, sum += p[-1];
    float& mine = y[i];
    mine = sum;
    mine -= 1;
    y[i] = larger(x[i], y[i]) + larger(sum, a);
    size_t bytes = sizeof(x[i]) + sizeof n[0];
    y[i] += float(bytes) + float(&x[i] - x);
}

__global__ void loops(const int* next, const int* lengths, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, total = 0;
    for (int j = next[i], steps = 0; next[j] != j && steps < 20; j = next[j], ++steps) {
        if (lengths[j] == 7) break;
        if (lengths[j] & 1) continue;
        total += lengths[j];
    }
    int k = 0;
    while (k < lengths[i] && out[i] >= 0) out[i] -= k++;
    do {
        total += next[k];
    } while (lengths[k & 63] > ++k && k < 40);
    switch (lengths[i] & 3) {
        case 0: total += next[i];
        case 1: total += out[i]; break;
        case 2: out[i] = 5;
        default: total--;
    }
    if ((next[i] > 3 && lengths[i] > 4) || out[i]) out[i] = total + last(lengths, i & 7);
    bump(out[i], next[i]);
    out[i] = out[next[lengths[i] & 63] & 63];
}

__global__ void structures(Body* bodies, Pair* pairs, float* out, float4* quads, const short* shorts, const double* wide) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Body* body = bodies + i;
    body->x = bodies[(i + 1) & 63].y + 1;
    bodies[i].z += body->x;
    bodies[i] = bodies[body->next & 63];
    Body copy = *body;
    out[i] = norm(copy);
    copy.y = pairs[i].value;
    pairs[i].keys[i % 3] = copy.next;
    pairs[i].tag = 'x';
    pairs[i].value += wide[i] + shorts[i];
    float4 quad = quads[i];
    quad.x += quad.w;
    quads[i] = quad;
    quads[i].y = quads[(i + 5) & 63].z;
    out[i] += weighted(out[i], i);
    counters[i & 63] = counters[(i + 1) & 63] + 1;
}

__global__ void shared_memory(const float* a, float* b, const int* rows) {
    __shared__ float tile[8][9];
    __shared__ int count;
    extern __shared__ float more[];
    int x = threadIdx.x, y = threadIdx.y, at = y * 8 + x;
    if (at == 0) count = rows[0];
    tile[y][x] = a[at];
    more[at] = weights[x];
    __syncthreads();
    atomicAdd(&count, rows[at]);
    for (int step = 4; step > 0; step /= 2) {
        if (x < step) tile[y][x] += tile[y][x + step] * more[at ^ 1];
        __syncthreads();
    }
    float* row = tile[y];
    float(*all)[9] = tile;
    b[at] = row[0] + all[x][y] + count + *more;
    combine(b, a, more, at, Plus<float>());
}

__global__ void atomics(const int* keys, int* bins, unsigned* most, float* sums, int* seen) {
    __shared__ int local_bins[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 8) local_bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&local_bins[keys[i] & 7], 1);
    atomicAdd(bins + (keys[i] & 15), keys[i]);
    atomicMax(most, unsigned(keys[i]));
    int old = atomicExch(&seen[i], keys[i]);
    if (old & 1) atomicAdd(&sums[old & 7], 0.5f);
    if (atomicCAS(&seen[i], keys[i], -1) == keys[i]) seen[i]++;
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&bins[threadIdx.x], local_bins[threadIdx.x]);
}

// Operands in templates: of plain types they are loaded, of classes their operators load what they want.
struct Complex {
    float re, im;
    __device__ Complex operator*(const Complex& other) const { return {re * other.re - im * other.im, re * other.im}; }
    __device__ Complex& operator+=(const Complex& other) {
        re += other.re;
        return *this;
    }
    friend __device__ bool operator<(const Complex& a, const Complex& b) { return a.re < b.re; }
};
__device__ Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
template <class T>
__device__ void operate(const T* a, const T* b, T* out, int i) {
    T product = a[i] * b[i];
    T sum = a[i] + b[i];
    out[i] = sum;
    out[i] += product;
    if (a[i] < b[i]) out[i] += b[(i + 1) & 63];
    product += a[i];
    sum = product - b[i];
    out[i] = sum;
    sum = -out[i];
    out[i] = sum;
}
__device__ Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im}; }  // declared too late for clang
__device__ Complex operator-(const Complex& a) { return {-a.re, a.im}; }
__global__ void operators(const Complex* a, const Complex* b, Complex* c, const float* x, const float* y, float* z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    operate(a, b, c, i);
    operate(x, y, z, i);
}

struct Cell {
    float value;
    __device__ Cell(const float* from, int k) : value(from[k]) {}
    __device__ Cell(const float* from) : Cell(from, 0) { value += from[1]; }
};
struct Pointed {
    Cell cell;
    const float* data;
    __device__ explicit Pointed(const float* from, const int* at) : cell(from, *at), data(from + *at) {}
};
__global__ void objects(const float* x, const int* at, float* out) {
    static __device__ int visits[4];
    static const float factors[4] = {1, 2, 3, 4};
    int i = threadIdx.x;
    const Cell one(x, i), two(x);
    Pointed three{x, at + i};
    Cell four = Cell(x + i, 3);
    if (i & 1) {
        Cell five = x;
        out[i] = five.value + Cell(x).value;
    }
    visits[i & 3] += 1;
    out[i] = one.value + two.value + three.cell.value * factors[0] + three.data[1] + four.value;
}

// In a class template a member may be an array or overload the operator; what stands in types is evaluated nowhere.
template <int N>
struct Buffer {
    int d[N];
    __device__ int& operator[](const int i) { return d[i]; }
    __device__ int& operator*() { return d[0]; }
    __device__ Buffer* operator->() { return this; }
    __device__ operator int() const { return d[1]; }
};
template <class B, int N>
struct Keeper {
    typedef Buffer<N> Own;
    Own buffer;
    B other;
    __device__ void put(int i, int v) {
        buffer[i] = v;
        other[i] = other[i] + buffer[i ^ 1];
        *buffer = buffer->d[2];
        int first = buffer;
        if (first < v) buffer[i] = first;
    }
};
template <class T>
struct Has {
    static const bool value = true;
    static constexpr int size() { return 2; }
};
template <class F>
__device__ typename std::enable_if<Has<F>::value == true && true, void>::type fill(F& f, int i) {
    const int n = Has<F>::size() * 2;
    Buffer<n> local;
    local[i & 1] = i;
    f.put(i, local[i & 1] + Buffer<(Has<F>::size() > 1) + 3>{{1, 2}}[i & 1]);
}
__global__ void members(int* x, Keeper<int*, 32>* keeper) {
    __shared__ Keeper<int[32], 32> kept;
    int i = threadIdx.x;
    kept.buffer[i] = i;
    kept.other[i] = i;
    if (i == 0) keeper->other = x;
    __syncthreads();
    fill(kept, i);
    fill(*keeper, i);
}

template <class T>
static T* zeros(int n = 64) {
    T* pointer;
    cudaMalloc(&pointer, n * sizeof(T));
    return pointer;
}
// Numbers from 0 to 60: good as indices, too.
template <class T>
static T* numbers(int factor, int n = 64) {
    T* pointer = zeros<T>(n);
    for (int i = 0; i < n; ++i) {
        T value = (i * factor + factor) % 61;
        cudaMemcpy(pointer + i, &value, sizeof value, cudaMemcpyHostToDevice);
    }
    return pointer;
}

int main() {
    float host[16];
    for (int k = 0; k < 16; ++k) host[k] = 0.25f * k;
    cudaMemcpyToSymbol(weights, host, sizeof host);
    int *a = numbers<int>(3), *b = numbers<int>(7);
    float *x = numbers<float>(11), *y = numbers<float>(13);
    assignments<<<2, 32>>>(x, y, numbers<int>(5), 50);
    loops<<<1, 64>>>(a, b, numbers<int>(17));
    structures<<<2, 32>>>(zeros<Body>(), zeros<Pair>(), y, zeros<float4>(), numbers<short>(2), numbers<double>(9));
    shared_memory<<<1, dim3(8, 8), 64 * sizeof(float)>>>(x, y, a);
    atomics<<<2, 32>>>(a, numbers<int>(19), zeros<unsigned>(), x, numbers<int>(23));
    Complex *c = (Complex*)numbers<float>(7, 128), *d = (Complex*)numbers<float>(29, 128);
    operators<<<2, 32>>>(c, d, zeros<Complex>(), x, y, zeros<float>());
    objects<<<1, 64>>>(zeros<float>(256), a, y);
    Keeper<int*, 32>* keeper = (Keeper<int*, 32>*)zeros<char>(1024);
    members<<<1, 32>>>(a, keeper);
    cudaDeviceSynchronize();
    return 0;
}
