// Runs walks through memory on a GPU, one thread alone, and times every access; and streams of many warps, as a whole. Commands come line by line on standard
// input, or from the file that is named; answers go to standard output. memsim/calibration/board.py is the other end.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t status = (call);                                                       \
        if (status != cudaSuccess) {                                                       \
            printf("error %s\n", cudaGetErrorString(status));                              \
            return 1;                                                                      \
        }                                                                                  \
    } while (0)

const int MOST_SEGMENTS = 1024;
const int MOST_GROUPS = 32;
const int BINS = 128;
const int BIN_CYCLES = 8;

struct Segment {  // `count` addresses from `start` on, `stride` bytes apart, counted in `group`; -1: in none
    unsigned start;
    int stride;
    int count;
    int group;
};

// Lists and counts lie in shared memory, so that nothing but the walk itself passes through the caches while it lasts.
// They take their part of an L1 that is one memory with shared memory; `properties` tells how much they are.
template <bool USE_L1>
__global__ void walk(const unsigned* memory, const Segment* list, int segments, unsigned long long* sums,
                     unsigned* counts) {
    __shared__ Segment order[MOST_SEGMENTS];
    __shared__ unsigned histogram[MOST_GROUPS * BINS];
    __shared__ unsigned long long sum[MOST_GROUPS];
    __shared__ volatile unsigned sink;
    for (int i = 0; i < segments; i++) order[i] = list[i];
    for (int i = 0; i < MOST_GROUPS * BINS; i++) histogram[i] = 0;
    for (int i = 0; i < MOST_GROUPS; i++) sum[i] = 0;
    unsigned long long overhead = ~0ull;  // of the two readings of the clock and the store between them
    for (int i = 0; i < 16; i++) {
        unsigned long long begin = clock64();
        sink = static_cast<unsigned>(begin >> 63);
        unsigned long long taken = clock64() - begin;
        overhead = taken < overhead ? taken : overhead;
    }
    unsigned value = 0;  // always: all of the memory is 0, which the compiler does not know
    for (int s = 0; s < segments; s++) {
        Segment now = order[s];
        for (int i = 0; i < now.count; i++) {
            unsigned place = (now.start + i * now.stride) / 4 + value;
            unsigned long long begin = clock64();
            place += static_cast<unsigned>(begin >> 63);  // 0; the load comes after the clock was read
            value = USE_L1 ? __ldca(memory + place) : __ldcg(memory + place);
            sink = value;  // waits for it
            unsigned long long taken = clock64() - begin;
            taken = taken > overhead ? taken - overhead : 0;
            if (now.group >= 0) {
                int bin = taken / BIN_CYCLES < BINS ? static_cast<int>(taken / BIN_CYCLES) : BINS - 1;
                histogram[now.group * BINS + bin] += 1;
                sum[now.group] += taken;
            }
        }
    }
    for (int i = 0; i < MOST_GROUPS; i++) sums[i] = sum[i];
    for (int i = 0; i < MOST_GROUPS * BINS; i++) counts[i] = histogram[i];
}

// Reads more than L2 holds, so that a walk begins with nothing of its own in it.
__global__ void flush(const unsigned* memory, size_t words, unsigned* out) {
    unsigned sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        sum += __ldcg(memory + i);
    if (sum != 0) out[0] = sum;
}

enum Kind { LOAD, ATOMIC, REDUCTION };

// Access i of warp w, of n, goes to unit (w + i n) mod units; none waits for another. The memory stays 0.
template <Kind KIND>
__global__ void stream(unsigned* memory, int accesses, unsigned units, unsigned stride, unsigned lanes, unsigned zero,
                       unsigned long long* taken, unsigned* out) {
    unsigned warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
    unsigned unit = (blockIdx.x * blockDim.x + threadIdx.x) / 32 % units, step = warps % units, sum = 0;
    __syncthreads();
    unsigned long long begin = clock64();
    if (lane < lanes) {
#pragma unroll 8
        for (int i = 0; i < accesses; i++) {
            unsigned* place = memory + static_cast<size_t>(unit) * (stride / 4) + lane;
            if (KIND == LOAD)
                sum += __ldcg(place);
            else if (KIND == ATOMIC)
                sum += atomicAdd(place, zero);
            else
                atomicAdd(place, zero);
            unit += step;
            if (unit >= units) unit -= units;
        }
    }
    if (KIND == REDUCTION) __threadfence();  // whose results nobody waits for else
    if (sum != 0) out[0] = sum;
    __syncthreads();
    if (threadIdx.x == 0) taken[blockIdx.x] = clock64() - begin;
}

__global__ void nothing() {}

struct Buffers {
    unsigned* memory = nullptr;
    size_t bytes = 0;
    unsigned* other = nullptr;
    size_t other_bytes = 0;
    Segment* list = nullptr;
    unsigned long long* sums = nullptr;
    unsigned* counts = nullptr;
};

int properties(Buffers* b) {
    cudaDeviceProp p;
    int clock_khz = 0, memory_khz = 0, bus_bits = 0;
    CHECK(cudaGetDeviceProperties(&p, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    b->other_bytes = 2 * static_cast<size_t>(p.l2CacheSize);
    CHECK(cudaMalloc(&b->other, b->other_bytes));
    CHECK(cudaMemset(b->other, 0, b->other_bytes));
    CHECK(cudaMalloc(&b->list, MOST_SEGMENTS * sizeof(Segment)));
    CHECK(cudaMalloc(&b->sums, MOST_GROUPS * sizeof(unsigned long long)));
    CHECK(cudaMalloc(&b->counts, MOST_GROUPS * BINS * sizeof(unsigned)));
    // The least that holds the walk's one block, not what would hold as many as fit an SM; a hint, where there is a choice.
    const cudaFuncAttribute carve_out = cudaFuncAttributePreferredSharedMemoryCarveout;
    CHECK(cudaFuncSetAttribute(walk<true>, carve_out, cudaSharedmemCarveoutMaxL1));
    cudaFuncAttributes walks;
    CHECK(cudaFuncGetAttributes(&walks, walk<true>));
    printf("walk_shared_bytes %zu\n", walks.sharedSizeBytes);
    printf("name %s\ncapability %d.%d\nsms %d\nthreads %d\nwarp %d\n", p.name, p.major, p.minor, p.multiProcessorCount,
           p.maxThreadsPerMultiProcessor, p.warpSize);
    printf("blocks %d\nregisters %d\nshared_bytes %zu\nl2_bytes %d\nclock_khz %d\nmemory_khz %d\nbus_bits %d\nend\n",
           p.maxBlocksPerMultiProcessor, p.regsPerMultiprocessor, p.sharedMemPerMultiprocessor, p.l2CacheSize,
           clock_khz, memory_khz, bus_bits);
    return 0;
}

int hold(Buffers* b, size_t bytes) {
    if (bytes <= b->bytes) return 0;
    if (b->memory != nullptr) CHECK(cudaFree(b->memory));
    CHECK(cudaMalloc(&b->memory, bytes));
    CHECK(cudaMemset(b->memory, 0, bytes));
    b->bytes = bytes;
    return 0;
}

int walked(Buffers* b, FILE* in, int use_l1, int groups, int segments, size_t bytes) {
    std::vector<Segment> list(segments);
    for (Segment& one : list)
        if (fscanf(in, "%u %d %d %d", &one.start, &one.stride, &one.count, &one.group) != 4) return 1;
    if (hold(b, bytes)) return 1;
    CHECK(cudaMemcpy(b->list, list.data(), segments * sizeof(Segment), cudaMemcpyHostToDevice));
    flush<<<128, 256>>>(b->other, b->other_bytes / 4, b->counts);
    if (use_l1)
        walk<true><<<1, 1>>>(b->memory, b->list, segments, b->sums, b->counts);
    else
        walk<false><<<1, 1>>>(b->memory, b->list, segments, b->sums, b->counts);
    std::vector<unsigned long long> sums(MOST_GROUPS);
    std::vector<unsigned> counts(MOST_GROUPS * BINS);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(sums.data(), b->sums, sums.size() * sizeof(sums[0]), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(counts.data(), b->counts, counts.size() * sizeof(counts[0]), cudaMemcpyDeviceToHost));
    for (int group = 0; group < groups; group++) {
        printf("%llu", sums[group]);
        for (int bin = 0; bin < BINS; bin++) printf(" %u", counts[group * BINS + bin]);
        printf("\n");
    }
    return 0;
}

int streamed(Buffers* b, FILE* in) {
    char kind[16];
    int blocks = 0, warps = 0, accesses = 0;
    unsigned units = 0, stride = 0, width = 0;
    if (fscanf(in, "%15s %d %d %d %u %u %u", kind, &blocks, &warps, &accesses, &units, &stride, &width) != 7) return 1;
    if (hold(b, static_cast<size_t>(units) * stride)) return 1;
    unsigned long long* taken = nullptr;
    CHECK(cudaMalloc(&taken, blocks * sizeof(unsigned long long)));
    flush<<<128, 256>>>(b->other, b->other_bytes / 4, b->counts);
    if (!strcmp(kind, "load"))
        stream<LOAD><<<blocks, 32 * warps>>>(b->memory, accesses, units, stride, width / 4, 0, taken, b->counts);
    else if (!strcmp(kind, "atomic"))
        stream<ATOMIC><<<blocks, 32 * warps>>>(b->memory, accesses, units, stride, width / 4, 0, taken, b->counts);
    else
        stream<REDUCTION><<<blocks, 32 * warps>>>(b->memory, accesses, units, stride, width / 4, 0, taken, b->counts);
    std::vector<unsigned long long> all(blocks);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(all.data(), taken, blocks * sizeof(all[0]), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(taken));
    printf("%llu\n", *std::max_element(all.begin(), all.end()));
    return 0;
}

int launches(int number) {
    cudaEvent_t begin, end;
    float ms = 0;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    nothing<<<1, 1>>>();
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < number; i++) nothing<<<1, 1>>>();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    printf("%.3f\n", ms * 1e6 / number);  // ns
    return 0;
}

int main(int argc, char** argv) {
    FILE* in = argc > 1 ? fopen(argv[1], "r") : stdin;
    Buffers buffers;
    char command[16];
    while (in != nullptr && fscanf(in, "%15s", command) == 1) {
        int use_l1 = 0, groups = 0, segments = 0, number = 0, failed = 1;
        size_t bytes = 0;
        if (!strcmp(command, "properties"))
            failed = properties(&buffers);
        else if (!strcmp(command, "walk") && fscanf(in, "%d %d %d %zu", &use_l1, &groups, &segments, &bytes) == 4 &&
                 groups <= MOST_GROUPS && segments <= MOST_SEGMENTS)
            failed = walked(&buffers, in, use_l1, groups, segments, bytes);
        else if (!strcmp(command, "launch") && fscanf(in, "%d", &number) == 1)
            failed = launches(number);
        else if (!strcmp(command, "stream"))
            failed = streamed(&buffers, in);
        fflush(stdout);
        if (failed) return 1;
    }
    return 0;
}
