// Launches that each show one mechanism of the memory system or of an SM in a profiler's counters. A group has a plan of
// launches: ./mechanisms GROUP [ROW]; prints CSV, a row per launch in their order; with ROW only that one, from 0.
#include "compute_kernels.h"
#include "memory_kernels.h"
#include <functional>
#include <string>

constexpr int SMS = 132;  // of the H100
constexpr size_t MB = size_t(1) << 20;

static char* memory;      // 1 GB, all zero
static char* other;       // 1 GB
static float* sink;
static std::string chosen;
static int only = -1, row = 0;

// A row of the plan; a, b and c are what differs between the launches of a kernel.
static void launch(const char* name, long a, long b, long c, const std::function<void()>& body) {
    if (row++ != only && only >= 0)
        return;
    printf("%s,%s,%ld,%ld,%ld\n", chosen.c_str(), name, a, b, c);
    body();
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("FAILED: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static void launches() {
    for (int threads : {32, 128, 1024})
        for (int blocks : {1, 132, 1056, 10560, 105600})
            launch("empty", blocks, threads, 0, [=] { empty<<<blocks, threads>>>(); });
    for (int threads : {32, 64, 128, 256, 512, 1024})
        launch("barriers", threads, 256, 0, [=] { barriers<<<SMS, threads>>>(sink, 256); });
}
template <class T> static void streams_of(const char* read, const char* write, const char* copy, std::initializer_list<int> sizes) {
    T* a = (T*)memory; T* b = (T*)other;
    for (int mb : sizes) {
        int blocks = mb * MB / sizeof(T) / 256 / 4;
        launch(read, mb, blocks, 0, [=] { stream_read<T, 4><<<blocks, 256>>>(a, sink); });
        launch(write, mb, blocks, 0, [=] { stream_write<T, 4><<<blocks, 256>>>(b, T{}); });
        launch(copy, mb, blocks, 0, [=] { stream_copy<T, 4><<<blocks, 256>>>(a, b); });
    }
}
static void streams() {
    streams_of<float4>("read16", "write16", "copy16", {1, 4, 16, 32, 64, 256, 1024});
    streams_of<float>("read4", "write4", "copy4", {4, 64, 256});
    for (int warps : {1, 2, 4, 8, 16, 32, 64}) {
        int blocks = SMS * ((warps + 31) / 32), threads = 32 * (warps > 32 ? 32 : warps);
        size_t n = 64 * MB / 4 * (warps < 4 ? 1 : 4) / 4;
        launch("persistent1", warps, n / 262144, 1, [=] { persistent_read<1><<<blocks, threads>>>((float*)memory, sink, n); });
        launch("persistent4", warps, n / 262144, 4, [=] { persistent_read<4><<<blocks, threads>>>((float*)memory, sink, n); });
    }
}
static void l2() {
    for (int rounds : {2, 6})
        for (int mb : {2, 8, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96})
            launch("read_again", mb, rounds, 0, [=] { read_again<<<SMS * 2, 1024>>>((float4*)memory, sink, mb * MB / 16, rounds); });
}
static void stores() {
    for (int parts : {1, 2, 3, 4})
        launch("store_parts", parts, 16, 0, [=] { store_parts<<<16 * MB / 16 / 256, 256>>>((float*)memory, parts); });
    for (int stride : {1, 2, 4, 8, 16, 32})
        launch("store_bytes", stride, 1, 0, [=] { store_bytes<<<1 * MB / 256, 256>>>(memory, stride); });
    launch("store_half_sectors", 32, 0, 0, [=] { store_half_sectors<<<32 * MB / 32 / 256, 256>>>((float4*)memory); });
    for (int stride : {1, 8, 64})
        for (int targets : {1, 2, 8, 64, 1024})
            launch("store_same", targets, stride, 64, [=] { store_same<<<SMS * 2, 1024>>>((int*)memory, targets, stride, 64); });
    launch("store_same_lanes", 64, 0, 0, [=] { store_same_lanes<<<SMS * 2, 1024>>>((int*)memory, 64); });
    for (int lanes : {1, 32})
        for (int targets : {1, 32, 1024, 65536, 1 << 22})
            launch("reduce_to", targets, lanes, 8, [=] { reduce_to<<<SMS * 2, 1024>>>((int*)memory, targets, 1, 8, lanes); });
    for (int targets : {32, 1024, 65536})
        launch("reduce_to_sectors", targets, 32, 8, [=] { reduce_to<<<SMS * 2, 1024>>>((int*)memory, targets, 8, 8, 32); });
    for (int targets : {1, 1024, 1 << 22})
        launch("fetch_add", targets, 32, 8, [=] { fetch_add<<<SMS * 2, 1024>>>((int*)memory, targets, 1, 8, 32, (int*)sink); });
    for (int targets : {1, 1024, 1 << 22})
        launch("reduce_float", targets, 32, 8, [=] { reduce_float<<<SMS * 2, 1024>>>((float*)memory, targets, 8); });
}
static void l1() {
    for (int stride : {0, 4, 8, 16, 32, 64, 128, 132, 256})
        launch("l1_strided4", stride, 1024, 128, [=] { l1_strided<float><<<SMS, 1024>>>(memory, sink, stride, 128, 128); });
    for (int stride : {16, 32, 64, 128, 144})
        launch("l1_strided16", stride, 1024, 128, [=] { l1_strided<float4><<<SMS, 1024>>>(memory, sink, stride, 512, 128); });
    for (int warps : {1, 4, 16})
        launch("l1_strided4_few", 4, warps * 32, 128, [=] { l1_strided<float><<<SMS, warps * 32>>>(memory, sink, 4, 128, 128); });
    for (int kb : {4, 8, 16, 32, 64})
        for (int lines : {4, 8, 16, 32, 64, 128})
            launch("l1_sets", lines, kb, 16, [=] { l1_sets<<<SMS, 32>>>(memory, sink, lines, size_t(kb) << 10, 16); });
    cudaFuncSetAttribute(l1_capacity, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10);
    for (int kb : {96, 128, 160, 184, 192, 200, 208, 216, 220, 224, 228, 232, 240, 248, 256})
        launch("l1_capacity", kb, 0, 4, [=] { l1_capacity<<<SMS, 256>>>((float*)memory, sink, kb * 8, 4); });
    for (int shared : {8, 32, 64, 100, 164, 200, 227})
        for (int kb : {8, 16, 24, 28, 32, 48, 64, 96, 128, 160, 192, 216})
            if (kb + shared < 272 && kb + shared > 140)
                launch("l1_capacity", kb, shared, 4, [=] { l1_capacity<<<SMS, 256, shared << 10>>>((float*)memory, sink, kb * 8, 4); });
}
static void shared() {
    for (int stride : {0, 1, 2, 3, 4, 8, 16, 32}) {
        launch("shared_loads1", stride, 256, 0, [=] { shared_loads<1><<<SMS, 1024, 32768>>>(sink, stride, 256); });
        launch("shared_loads2", stride, 256, 0, [=] { shared_loads<2><<<SMS, 1024, 32768>>>(sink, stride, 256); });
        launch("shared_loads4", stride, 256, 0, [=] { shared_loads<4><<<SMS, 1024, 32768>>>(sink, stride, 256); });
        launch("shared_stores1", stride, 256, 0, [=] { shared_stores<1><<<SMS, 1024, 32768>>>(sink, stride, 256); });
        launch("shared_stores4", stride, 256, 0, [=] { shared_stores<4><<<SMS, 1024, 32768>>>(sink, stride, 256); });
    }
    for (int warps : {1, 4, 8}) {
        launch("shared_loads1_few", warps, 256, 0, [=] { shared_loads<1><<<SMS, warps * 32, 32768>>>(sink, 1, 256); });
        launch("shared_loads4_few", warps, 256, 0, [=] { shared_loads<4><<<SMS, warps * 32, 32768>>>(sink, 1, 256); });
    }
}
#define RATES(NAME, TYPE, Y)                                                                                       \
    launch(#NAME, 1, 32, 64, [=] { NAME<1><<<SMS, 32>>>((TYPE*)sink, TYPE(Y), 64); });                              \
    launch(#NAME, 4, 512, 64, [=] { NAME<4><<<SMS, 512>>>((TYPE*)sink, TYPE(Y), 64); });
static void pipes() {
    RATES(op_ffma, float, 1.5) RATES(op_fadd, float, 1.5) RATES(op_iadd, int, 3) RATES(op_imad, int, 3)
    RATES(op_logic, int, 3) RATES(op_shift, int, 3) RATES(op_min, int, 3) RATES(op_popc, int, 3)
    RATES(op_ex2, float, 1.5) RATES(op_rsqrt, float, 1.5) RATES(op_convert, float, 1.5) RATES(op_dfma, double, 1.5)
    RATES(op_hfma2, unsigned, 3) RATES(op_shuffle, int, 3) RATES(op_vote, unsigned, 3) RATES(op_compare, int, 3)
    RATES(op_divide, int, 3) RATES(op_fdivide, float, 1.5)
    launch("diverging", 32, 64, 0, [=] { diverging<<<SMS, 32>>>(sink, 1.5f, 64); });
    launch("diverging", 512, 64, 0, [=] { diverging<<<SMS, 512>>>(sink, 1.5f, 64); });
    for (int threads : {32, 512}) {
        launch("long_code", 8, threads, 8, [=] { long_code<8><<<SMS, threads>>>(sink, 1.5f, 8); });
        launch("long_code", 32, threads, 8, [=] { long_code<32><<<SMS, threads>>>(sink, 1.5f, 8); });
        launch("long_code", 64, threads, 8, [=] { long_code<64><<<SMS, threads>>>(sink, 1.5f, 8); });
        launch("long_code", 128, threads, 8, [=] { long_code<128><<<SMS, threads>>>(sink, 1.5f, 8); });
        launch("long_code", 256, threads, 8, [=] { long_code<256><<<SMS, threads>>>(sink, 1.5f, 8); });
    }
}
static void more() {
    for (int mb : {20, 24, 28, 40, 48})
        launch("write16", mb, 0, 0, [=] { stream_write<float4, 4><<<mb * MB / 16 / 1024, 256>>>((float4*)other, float4{}); });
    for (int mb : {8, 12, 20, 24, 28})
        launch("copy16", mb, 0, 0, [=] { stream_copy<float4, 4><<<mb * MB / 16 / 1024, 256>>>((float4*)memory, (float4*)other); });
    for (int kilo : {96, 128, 160, 192, 256, 384})  // thousands of sectors of which one byte is written
        launch("store_bytes", 32, kilo, 0, [=] { store_bytes<<<kilo * 4, 256>>>(memory, 32); });
    for (int mb : {2, 4, 6, 8, 12, 16})
        launch("store_half_sectors", mb, 0, 0, [=] { store_half_sectors<<<mb * MB / 32 / 256, 256>>>((float4*)memory); });
    for (int warps : {1, 4, 16, 32})
        launch("read_again", 4, 8, warps, [=] { read_again<<<SMS, warps * 32>>>((float4*)memory, sink, 4 * MB / 16, 8); });
    for (int stride : {1, 8, 32}) {
        launch("store_then_load", stride, 1024, 0, [=] { store_then_load<<<1024, 256>>>((float*)memory, sink, stride); });
        launch("load_store_load", stride, 1024, 0, [=] { load_store_load<<<1024, 256>>>((float*)memory, sink, stride); });
    }
    for (int blocks : {132, 1056, 1057, 2112, 4224})
        launch("lasting", blocks, 256, 2000, [=] { lasting<<<blocks, 256>>>(sink, 2000); });
    for (int blocks : {132, 264, 1056})
        launch("lasting", blocks, 1024, 2000, [=] { lasting<<<blocks, 1024>>>(sink, 2000); });
    launch("op_mma", 1, 32, 64, [=] { op_mma<1><<<SMS, 32>>>(sink, 64); });
    launch("op_mma", 4, 512, 64, [=] { op_mma<4><<<SMS, 512>>>(sink, 64); });
}
// Chains of loads whose address is the value loaded before, which is zero: no other group may have written memory.
static void latency() {
    launch("l1_latency", 1, 32, 512, [=] { l1_latency<<<SMS, 32>>>((int*)memory, (int*)sink, 512); });
    launch("l2_latency", 0, 32, 512, [=] { l2_latency<<<SMS, 32>>>((int*)memory, (int*)sink, 512, 0); });
    launch("l2_latency", 32, 32, 512, [=] { l2_latency<<<1, 32>>>((int*)memory, (int*)sink, 512, 32); });
    launch("shared_latency", 1, 32, 512, [=] { shared_latency<<<SMS, 32, 32768>>>((int*)sink, 512); });
    for (int stride : {0, 1, 2, 32})
        launch("shared_atomics", stride, 1024, 32, [=] { shared_atomics<<<SMS, 1024, 32768>>>(sink, stride, 32); });
}
// How much of an SM's memory the driver gives to shared memory.
static void carve() {
    cudaFuncSetAttribute(with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10);
    for (int threads : {32, 64, 128, 256, 512, 1024})
        for (int kb : {0, 1, 2, 4, 8, 16, 32, 48})
            launch("with_shared", threads, kb, 0, [=] { with_shared<<<SMS * 4, threads, kb << 10>>>(sink); });
    for (int threads : {128, 256, 1024})
        for (int kb : {3, 6, 12, 24, 40, 72, 96, 128, 160, 200})
            launch("with_shared", threads, kb, 0, [=] { with_shared<<<SMS * 4, threads, kb << 10>>>(sink); });
}
static void dram() {
    for (int lanes : {1, 8, 16, 32})
        for (int mb : {64, 1024})
            launch("random_read", lanes, mb, 4, [=] { random_read<<<SMS * 8, 256>>>((float*)memory, sink, mb * MB / 4 / lanes, lanes, 4); });
    for (int lanes : {1, 8, 16, 32})
        launch("random_write", lanes, 1024, 1, [=] { random_write<<<SMS * 32, 256>>>((float*)memory, 1024 * MB / 4 / lanes, lanes); });
    for (int stride : {8, 16, 32, 64, 128, 1024})
        launch("strided_read", stride * 4, 524288, 0, [=] { strided_read<<<2048, 128>>>((float*)memory, sink, stride); });
    for (int stride : {8, 16, 32, 64, 128, 1024})
        launch("strided_write", stride * 4, 524288, 0, [=] { strided_write<<<2048, 128>>>((float*)memory, stride); });
}

int main(int argc, char** argv) {
    chosen = argc > 1 ? argv[1] : "";
    only = argument(argc, argv, 2, -1);
    const std::pair<const char*, void (*)()> groups[] = {
        {"launches", launches}, {"streams", streams}, {"l2", l2},     {"stores", stores}, {"l1", l1},           {"shared", shared},
        {"pipes", pipes},       {"dram", dram},       {"more", more}, {"carve", carve},   {"latency", latency},
    };
    for (auto& [name, run] : groups) {
        if (chosen != name)
            continue;
        cudaMalloc(&memory, 1024 * MB), cudaMalloc(&other, 1024 * MB), cudaMalloc(&sink, 4096);
        cudaMemset(memory, 0, 1024 * MB), cudaMemset(sink, 0, 4096);
        printf("group,kernel,a,b,c\n");
        run();
        return 0;
    }
    fprintf(stderr, "usage: mechanisms launches|streams|l2|stores|l1|shared|pipes|dram|more|carve|latency [ROW]\n");
    return 2;
}
