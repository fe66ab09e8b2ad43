// CUB's functions of blocks, warps and arrays beside the C++ library's: prints what is wrong, or "all right".
#include <cub/cub.cuh>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(what) if (!(what)) { printf("wrong: %s (line %d)\n", #what, __LINE__); exit(1); }

const int threads = 128, items = 4, per_block = threads * items, blocks = 3, n = blocks * per_block - 100;

template <class T>
T* array(int count) {
    T* made;
    cudaMallocManaged(&made, count * sizeof(T));
    return made;
}

template <int Threads>
__global__ void collectives(const int* in, int* sums, int* scanned, int* sorted, int* striped, int* of_warps) {
    typedef cub::BlockLoad<int, Threads, items, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockReduce<int, Threads> Reduce;
    typedef cub::BlockScan<int, Threads> Scan;
    typedef cub::BlockRadixSort<int, Threads, items> Sort;
    typedef cub::BlockExchange<int, Threads, items> Exchange;
    typedef cub::BlockStore<int, Threads, items, cub::BLOCK_STORE_TRANSPOSE> Store;
    typedef cub::WarpReduce<int> Warp;
    __shared__ union {
        typename Load::TempStorage load;
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
        typename Sort::TempStorage sort;
        typename Exchange::TempStorage exchange;
        typename Store::TempStorage store;
    } room;
    __shared__ typename Warp::TempStorage of_warp[Threads / 32];
    int mine[items], before[items], total, start = blockIdx.x * per_block;
    Load(room.load).Load(in + start, mine, n - start, 0);
    __syncthreads();
    int sum = Reduce(room.reduce).Sum(mine);
    if (threadIdx.x == 0) sums[2 * blockIdx.x] = sum;
    __syncthreads();
    Scan(room.scan).ExclusiveSum(mine, before, total);
    if (threadIdx.x == 5) sums[2 * blockIdx.x + 1] = total;
    __syncthreads();
    Store(room.store).Store(scanned + start, before);
    __syncthreads();
    int lanes = Warp(of_warp[threadIdx.x / 32]).Sum(mine[0]);
    if (threadIdx.x % 32 == 0) of_warps[(blockIdx.x * Threads + threadIdx.x) / 32] = lanes;
    Sort(room.sort).SortDescending(mine);
    __syncthreads();
    int copy[items];
    for (int i = 0; i < items; ++i) copy[i] = mine[i];
    Store(room.store).Store(sorted + start, copy);  // which may reorder what it stores
    __syncthreads();
    Exchange(room.exchange).BlockedToStriped(mine);
    cub::StoreDirectStriped<Threads>(threadIdx.x, striped + start, mine);
}

// Scans without an initial value, with the sum of all; and sorts of pairs into a striped arrangement.
__global__ void others(const int* in, int* before, int* lane_before, int* totals, int* keys, int* places) {
    typedef cub::BlockScan<int, threads, cub::BLOCK_SCAN_WARP_SCANS> Scan;
    typedef cub::WarpScan<int> Warp;
    typedef cub::BlockRadixSort<int, threads, 2, int> Sort;
    __shared__ Scan::TempStorage scan;
    __shared__ Warp::TempStorage warp[threads / 32];
    __shared__ Sort::TempStorage sort;
    int t = threadIdx.x, mine = in[t], total, of_warp;
    Scan(scan).ExclusiveScan(mine, before[t], cuda::maximum<>(), total);
    Warp(warp[t / 32]).ExclusiveScan(mine, lane_before[t], cuda::maximum<>(), of_warp);
    if (t == 0) totals[0] = total, totals[1] = of_warp;
    int key[2] = {in[2 * t], in[2 * t + 1]}, place[2] = {2 * t, 2 * t + 1};
    Sort(sort).SortDescendingBlockedToStriped(key, place);
    cub::StoreDirectStriped<threads>(t, keys, key);
    cub::StoreDirectStriped<threads>(t, places, place);
}

struct Positive {
    __host__ __device__ bool operator()(int x) const { return x > 0; }
};

void check_others(const int* in) {
    int *before = array<int>(threads), *lane_before = array<int>(threads), *totals = array<int>(2);
    int *keys = array<int>(2 * threads), *places = array<int>(2 * threads);
    others<<<1, threads>>>(in, before, lane_before, totals, keys, places);
    cudaDeviceSynchronize();
    for (int t = 1; t < threads; ++t) {
        CHECK(before[t] == *std::max_element(in, in + t));
        CHECK(t % 32 == 0 || lane_before[t] == *std::max_element(in + t / 32 * 32, in + t));
    }
    CHECK(totals[0] == *std::max_element(in, in + threads));
    CHECK(totals[1] == *std::max_element(in, in + 32));
    std::vector<int> expected(2 * threads);
    for (int i = 0; i < 2 * threads; ++i) expected[i] = i;
    std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) { return in[a] > in[b]; });
    for (int i = 0; i < 2 * threads; ++i) CHECK(places[i] == expected[i] && keys[i] == in[expected[i]]);
}

void check_blocks(const int* in) {
    int *sums = array<int>(2 * blocks), *scanned = array<int>(blocks * per_block), *sorted = array<int>(blocks * per_block);
    int *striped = array<int>(blocks * per_block), *of_warps = array<int>(blocks * threads / 32);
    collectives<threads><<<blocks, threads>>>(in, sums, scanned, sorted, striped, of_warps);
    cudaDeviceSynchronize();
    for (int b = 0; b < blocks; ++b) {
        std::vector<int> own(in + b * per_block, in + (b + 1) * per_block);
        int sum = 0;
        for (int i = 0; i < per_block; ++i) {
            CHECK(scanned[b * per_block + i] == sum);
            sum += own[i];
        }
        CHECK(sums[2 * b] == sum);
        CHECK(sums[2 * b + 1] == sum);
        for (int w = 0; w < threads / 32; ++w) {
            int lanes = 0;
            for (int lane = 0; lane < 32; ++lane) lanes += own[(w * 32 + lane) * items];
            CHECK(of_warps[b * threads / 32 + w] == lanes);
        }
        std::sort(own.begin(), own.end(), [](int x, int y) { return y < x; });
        CHECK(std::equal(own.begin(), own.end(), sorted + b * per_block));
        CHECK(std::equal(own.begin(), own.end(), striped + b * per_block));
    }
}

void check_arrays(const int* in) {
    int *result = array<int>(n), *selected = array<int>(1), *places = array<int>(n), *order = array<int>(n);
    float *keys = array<float>(n), *sorted = array<float>(n);
    void* room = nullptr;
    size_t bytes = 0, enough = 1 << 20;  // for all that follow
    cub::DeviceReduce::Sum(room, bytes, in, result, n);
    CHECK(bytes <= enough);
    cudaMalloc(&room, bytes = enough);
    cub::DeviceReduce::Sum(room, bytes, in, result, n);
    int sum = 0, most = in[0];
    for (int i = 0; i < n; ++i) sum += in[i], most = std::max(most, in[i]);
    CHECK(result[0] == sum);
    cub::DeviceReduce::Max(room, bytes, in, result, n);
    CHECK(result[0] == most);
    cub::DeviceScan::InclusiveSum(room, bytes, in, result, n);
    CHECK(result[n - 1] == sum);
    cub::DeviceScan::ExclusiveSum(room, bytes, in, result, n);
    CHECK(result[0] == 0 && result[n - 1] == sum - in[n - 1]);
    cub::DeviceSelect::If(room, bytes, in, result, selected, n, Positive());
    CHECK(*selected == std::count_if(in, in + n, [](int x) { return x > 0; }));
    std::vector<int> expected(n);
    for (int i = 0; i < n; ++i) keys[i] = in[i] / 8.0f, places[i] = expected[i] = i;
    cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted, places, order, n);
    std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    for (int i = 0; i < n; ++i) CHECK(order[i] == expected[i] && sorted[i] == keys[expected[i]]);
    const float zeros[4] = {0.0f, -0.0f, 1.0f, -1.0f};  // equal whatever their signs, so in their old order
    const int sorted_zeros[4] = {3, 0, 1, 2};
    std::copy(zeros, zeros + 4, keys);
    cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted, places, order, 4);
    CHECK(std::equal(order, order + 4, sorted_zeros));
    cub::DoubleBuffer<float> both(keys, sorted);
    cub::DeviceRadixSort::SortKeysDescending(room, bytes, both, 4);
    CHECK(both.Current()[0] == 1.0f && both.Current()[3] == -1.0f);
    cub::KeyValuePair<int, int>* best = array<cub::KeyValuePair<int, int>>(1);
    const int* nothing = nullptr;
    cub::DeviceReduce::Max(room, bytes, nothing, result, 0);
    cub::DeviceReduce::ArgMin(room, bytes, nothing, best, 0);
    CHECK(*result == INT_MIN && best->key == 1 && best->value == INT_MAX);
}

int main() {
    int* in = array<int>(blocks * per_block);
    for (int i = 0; i < blocks * per_block; ++i) in[i] = i < n ? i * 7919 % 1009 - 500 : 0;
    check_blocks(in);
    check_others(in);
    check_arrays(in);
    printf("all right\n");
}
