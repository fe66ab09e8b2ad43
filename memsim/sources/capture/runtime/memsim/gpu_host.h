// The host's part of a capture on a GPU: launches, the buffer of records, the names of arrays. The stream is that of a
// capture on the host, with RECORDS in place of BLOCKs; the window is asked for once, before the kernel runs.
#pragma once

#include "arrays.h"
#include "gpu_device.h"
#include "names.h"

namespace memsim_probe {

inline void need(cudaError_t error, const char* what) {
    if (error != cudaSuccess) fail("%s: %s", what, cudaGetErrorString(error));
}

struct Shape {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};
inline Shape shape(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) {
    return {grid, block, shared, stream};
}

// Numbers for (site, width) pairs, given as they come up.
class GpuVariants {
  public:
    uint32_t number(uint32_t site, uint32_t width) {
        for (uint32_t i = 0; i < count; ++i)
            if (list[i].site == site && list[i].width == width) return i + 1;
        if (count == most) fail("more than %u different accesses in the program", most);
        if ((count & (count - 1)) == 0) list = static_cast<Pair*>(realloc(list, 2 * (count + 1) * sizeof *list));
        list[count++] = {site, width};
        uint32_t message[3] = {count, site, width};
        stream.begin(Message::variant, sizeof message);
        stream.put(message, sizeof message);
        return count;
    }

  private:
    struct Pair {
        uint32_t site, width;
    };
    static constexpr uint32_t most = 0xFEFF;
    Pair* list = nullptr;
    uint32_t count = 0;
};
inline GpuVariants gpu_variants;

// The buffer in device memory, and its way to the stream.
class Records {
  public:
    Recorder begin(unsigned first, unsigned last) {
        wanted = first < last;
        if (!wanted) return {};
        if (!words) allocate();
        need(cudaMemset(counters, 0, 2 * sizeof *counters), "clearing the records");
        return {counters, counters + 1, words, capacity, first, last};
    }

    void send() {
        if (!wanted) return;
        unsigned long long counts[2];
        need(cudaMemcpy(counts, counters, sizeof counts, cudaMemcpyDeviceToHost), "reading the records' number");
        if (counts[1])
            fail(
                "%llu of its warps' accesses found no room in %llu MB; choose fewer blocks or raise MEMSIM_GPU_BUFFER "
                "(in MB)",
                counts[1], capacity >> 18);
        uint32_t* copy = static_cast<uint32_t*>(malloc(counts[0] * sizeof *copy));
        need(cudaMemcpy(copy, words, counts[0] * sizeof *copy, cudaMemcpyDeviceToHost), "reading the records");
        name_variants(copy, counts[0]);
        stream.begin(Message::records, counts[0] * sizeof *copy);
        stream.put(copy, counts[0] * sizeof *copy);
        free(copy);
    }

  private:
    void allocate() {
        const char* megabytes = getenv("MEMSIM_GPU_BUFFER");
        capacity = (megabytes ? strtoull(megabytes, nullptr, 0) : 1024) << 18;
        need((cudaMalloc)(&words, capacity * sizeof *words), "room for the records (MEMSIM_GPU_BUFFER, in MB)");
        need((cudaMalloc)(&counters, 2 * sizeof *counters), "room for the records");
    }

    // Turns each record's site and width into a variant, and leaves the space alone in the last word.
    static void name_variants(uint32_t* record, unsigned long long n_words) {
        for (uint32_t* end = record + n_words; record < end;) {
            uint32_t site = record[1] >> 16;
            if (site >= gpu_latch) {
                record += header_words;
                continue;
            }
            record[1] = (record[1] & 0xFFFF) | gpu_variants.number(site, record[3] >> 8) << 16;
            record[3] &= 0xFF;
            record += header_words + 2 * __builtin_popcount(record[2]);
        }
    }

    uint32_t* words = nullptr;
    unsigned long long* counters = nullptr;
    unsigned long long capacity = 0;
    bool wanted = false;
};
inline Records records;

inline unsigned long long n_launches = 0;
inline bool stops = false;  // after this launch

inline Recorder announce(const Place& at, const Shape& shape) {
    place = at;
    need((cudaFree)(nullptr), "no GPU can be used");
    static char kernel[512], file[2048], json[4096];
    escape(at.kernel, kernel, sizeof kernel);
    escape(at.file, file, sizeof file);
    snprintf(json, sizeof json,
             "{\"kernel\":\"%s\",\"file\":\"%s\",\"line\":%d,\"index\":%llu,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],"
             "\"dynamic_shared\":%zu,\"gpu\":true}",
             kernel, file, at.line, n_launches, shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y,
             shape.block.z, shape.shared);
    stream.text(Message::launch, json);
    unsigned first = 0, last = 0;
    const char* line = stream.ask();
    if (sscanf(line, "%u %u", &first, &last) < 2) fail("the log's reader sent `%s`", line);
    stops = strstr(line, "stop");
    return records.begin(first, last);
}

inline void finish() {
    need(cudaDeviceSynchronize(), "running the kernel");
    records.send();
    if (stops) fflush(nullptr);  // what the program has printed so far is right
    char json[64];
    snprintf(json, sizeof json, "{\"index\":%llu}", n_launches++);
    stream.text(Message::end, json);
    stream.flush();
    if (stops) os::memsim_exit(0);
    place = {};
}

#define MEMSIM_KERNEL(...)                                                                                             \
    [&](const auto& memsim_shape, auto&... memsim_arguments) {                                                         \
        __VA_ARGS__<<<memsim_shape.grid, memsim_shape.block, memsim_shape.shared, memsim_shape.stream>>>(              \
            memsim_arguments...);                                                                                      \
    }

template <class Kernel, class... Arguments>
void launch(const char* name, const char* file, int line, Kernel kernel, const Shape& shape, Arguments... arguments) {
    if (!stream.open()) return kernel(shape, arguments...);
    Recorder wanted = announce({name, file, line}, shape);
    need(cudaMemcpyToSymbol(recorder, &wanted, sizeof wanted), "preparing the records");
    kernel(shape, arguments...);
    finish();
}

template <class T>
cudaError_t named(cudaError_t error, const char* text, T** pointer, size_t bytes) {
    char name[64];
    if (error == cudaSuccess)
        arrays.add(name_in(text, name, sizeof name), global_, *pointer, bytes, ElementBytes<T>::value);
    return error;
}
template <class T>
cudaError_t allocate(const char* text, T** pointer, size_t bytes) {
    return named((cudaMalloc)(pointer, bytes), text, pointer, bytes);
}
template <class T>
cudaError_t allocate_managed(const char* text, T** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
    return named((cudaMallocManaged)(pointer, bytes, flags), text, pointer, bytes);
}
template <class T>
cudaError_t allocate_pitch(const char* text, T** pointer, size_t* pitch, size_t width, size_t height) {
    cudaError_t error = (cudaMallocPitch)(pointer, pitch, width, height);
    return named(error, text, pointer, *pitch * height);
}
inline cudaError_t release(void* pointer) {
    if (pointer) arrays.remove(pointer);
    return (cudaFree)(pointer);
}

}  // namespace memsim_probe

#define cudaMalloc(...) memsim_probe::allocate(#__VA_ARGS__, __VA_ARGS__)
#define cudaMallocManaged(...) memsim_probe::allocate_managed(#__VA_ARGS__, __VA_ARGS__)
#define cudaMallocPitch(...) memsim_probe::allocate_pitch(#__VA_ARGS__, __VA_ARGS__)
#define cudaFree(...) memsim_probe::release(__VA_ARGS__)
