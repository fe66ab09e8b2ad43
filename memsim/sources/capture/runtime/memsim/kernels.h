// What the CUDA runtime API tells of kernels, and launches that are calls.
#pragma once

#include "device_api.h"

// Kernels: attributes and occupancy.
template <class K>
inline cudaError_t cudaFuncSetCacheConfig(K*, cudaFuncCache) {
    return cudaSuccess;
}
template <class K>
inline cudaError_t cudaFuncSetSharedMemConfig(K*, cudaSharedMemConfig) {
    return cudaSuccess;
}
template <class K>
inline cudaError_t cudaFuncSetAttribute(K*, cudaFuncAttribute, int) {
    return cudaSuccess;
}
template <class K>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, K*) {
    *out = {0, 0, 0, 1024, 32, 80, 80, 0, 48 << 10, -1};
    return cudaSuccess;
}
template <class K>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K*, int threads, size_t shared_bytes) {
    return *blocks = memsim_probe::blocks_per_sm(threads, shared_bytes), cudaSuccess;
}
template <class K>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, K*, int threads,
                                                                          size_t shared_bytes, unsigned) {
    return *blocks = memsim_probe::blocks_per_sm(threads, shared_bytes), cudaSuccess;
}
template <class K>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* threads, K*, size_t = 0, int limit = 0) {
    *threads = limit > 0 && limit < 1024 ? limit : 1024;
    *grid = memsim_probe::host_multiprocessors * memsim_probe::blocks_per_sm(*threads, 0);
    return cudaSuccess;
}
template <class F, class K>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* threads, K* kernel, F,
                                                                  int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, threads, kernel, 0, limit);
}
template <class K>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* threads, K* kernel, size_t shared = 0,
                                                               int limit = 0, unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, threads, kernel, shared, limit);
}
template <class F, class K>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid, int* threads, K* kernel, F,
                                                                           int limit = 0, unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, threads, kernel, 0, limit);
}

// A launch from an array of pointers to the arguments.
namespace memsim_probe {
template <size_t... I>
struct Indices {};
template <size_t N, size_t... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <size_t... I>
struct MakeIndices<0, I...> {
    using Type = Indices<I...>;
};

template <class... P, size_t... I>
void launch_from(const Place& at, const Shape& shape, void (*kernel)(P...), void** arguments, Indices<I...>) {
    (void)arguments;
    launch(at.kernel, at.file, at.line, kernel, shape, *static_cast<std::remove_const_t<P>*>(arguments[I])...);
}
template <class... P>
cudaError_t launch_kernel(const Place& at, void (*kernel)(P...), const Shape& shape, void** arguments) {
    launch_from(at, shape, kernel, arguments, typename MakeIndices<sizeof...(P)>::Type{});
    return memsim_peek();
}

// Kernels whose type was lost on the way to a launch: the front end has each told where it is cast to void*.
class KernelsKnown {
  public:
    using Launcher = void (*)(const Place&, const Shape&, const void* kernel, void** arguments);

    void add(const void* kernel, Launcher launcher) {
        if (find(kernel)) return;
        list = static_cast<Known*>(realloc(list, (count + 1) * sizeof *list));
        list[count++] = {kernel, launcher};
    }
    void launch(Place at, const Shape& shape, const void* kernel, void** arguments) const {
        Launcher launcher = find(kernel);
        if (!launcher)
            fail("%s:%d: a launch of a kernel whose type is not known here (cast to void*)", at.file, at.line);
        at.kernel = name_of_function(kernel, at.kernel);
        launcher(at, shape, kernel, arguments);
    }
    // The launch, with its arguments as they are now, to be run later.
    Work* bind(const void* kernel, const Shape& shape, void** arguments) const {
        static Work* bound;
        auto before = record;
        record = [](Work* work, cudaGraphNodeType) { bound = work; };
        launch({"kernel", "", 0}, shape, kernel, arguments);
        record = before;
        return bound;
    }

  private:
    struct Known {
        const void* kernel;
        Launcher launcher;
    };
    Launcher find(const void* kernel) const {
        for (size_t i = 0; i < count; ++i)
            if (list[i].kernel == kernel) return list[i].launcher;
        return nullptr;
    }
    Known* list = nullptr;
    size_t count = 0;
};
inline KernelsKnown kernels_known;

template <class... P>
auto known(void (*kernel)(P...)) -> void (*)(P...) {
    kernels_known.add(reinterpret_cast<const void*>(kernel),
                      [](const Place& at, const Shape& shape, const void* it, void** arguments) {
                          auto typed = reinterpret_cast<void (*)(P...)>(const_cast<void*>(it));
                          launch_from(at, shape, typed, arguments, typename MakeIndices<sizeof...(P)>::Type{});
                      });
    return kernel;
}
inline cudaError_t launch_kernel(const Place& at, const void* kernel, const Shape& shape, void** arguments) {
    kernels_known.launch(at, shape, kernel, arguments);
    return memsim_peek();
}
}  // namespace memsim_probe

template <class K>
inline cudaError_t cudaLaunchKernel(K kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                    cudaStream_t = nullptr) {
    return memsim_probe::launch_kernel({"kernel", "", 0}, kernel, {grid, block, shared_bytes}, arguments);
}
template <class K>
inline cudaError_t cudaLaunchCooperativeKernel(K kernel, dim3 grid, dim3 block, void** arguments,
                                               size_t shared_bytes = 0, cudaStream_t = nullptr) {
    return memsim_probe::launch_kernel({"kernel", "", 0}, kernel, {grid, block, shared_bytes, true}, arguments);
}
#if !defined(__clang__)
template <class K>
inline cudaError_t memsim_launch_kernel(const char* name, const char* file, int line, bool cooperative, K kernel,
                                        dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                        cudaStream_t = nullptr) {
    return memsim_probe::launch_kernel({memsim_probe::name_of(kernel, name), file, line}, kernel,
                                       {grid, block, shared_bytes, cooperative}, arguments);
}
#define cudaLaunchKernel(kernel, ...) memsim_launch_kernel(#kernel, __FILE__, __LINE__, false, kernel, __VA_ARGS__)
#define cudaLaunchCooperativeKernel(kernel, ...)                                                                       \
    memsim_launch_kernel(#kernel, __FILE__, __LINE__, true, kernel, __VA_ARGS__)
#endif

// How clang understands <<<...>>>.
extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                                cudaStream_t stream = nullptr);
