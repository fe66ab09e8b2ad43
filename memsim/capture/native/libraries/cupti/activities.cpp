// CUPTI: kernels with their simulated times, for profilers such as Triton's Proton.
//
// A launch is reported as a call of cuLaunchKernel, whichever function made it, and as one activity. Launches of a CUDA
// graph are reported as if the program made them. Other activities, counters and samples of program counters do not
// exist: operations that memsim computes on the host take no simulated time.
#include <dlfcn.h>

#include <mutex>
#include <set>
#include <vector>

#include "../../launch_reports.h"
#include "../common/report.h"
#include "cupti.h"

namespace standin {
namespace {

using Callback = void (*)(void* user, int domain, uint32_t function, const void* data);
using RequestBuffer = void (*)(uint8_t** buffer, size_t* bytes, size_t* most_records);
using CompleteBuffer = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t bytes, size_t used);

constexpr uint32_t api_version = 26;  // CUPTI 12.8
constexpr int every_function = -1;

struct Profiler {
    std::recursive_mutex lock;
    Callback callback = nullptr;
    void* user = nullptr;
    std::set<std::pair<int, int>> callbacks;  // domain and function, or every function
    bool records_kernels = false;
    RequestBuffer request = nullptr;
    CompleteBuffer complete = nullptr;
    std::vector<KernelActivity> activities;  // since the last flush
    uint64_t correlation_data = 0;

    bool wants(int domain, int function) const {
        return callback && (callbacks.count({domain, every_function}) || callbacks.count({domain, function}));
    }
};

// Never freed: a program may launch kernels while it ends.
Profiler& profiler() {
    static auto* only = new Profiler;
    return *only;
}
using Hold = std::lock_guard<std::recursive_mutex>;

KernelActivity activity_of(const MemsimLaunchReport& launch) {
    KernelActivity made{};
    made.kind = KIND_CONCURRENT_KERNEL;
    made.registers = uint16_t(launch.registers);
    made.start = launch.start_ns;
    made.end = made.completed = launch.end_ns;
    made.context = 1;
    made.stream = uint32_t(launch.stream);
    for (int d = 0; d < 3; ++d) {
        made.grid[d] = int32_t(launch.grid[d]);
        made.block[d] = int32_t(launch.block[d]);
    }
    made.static_shared = int32_t(launch.static_shared);
    made.dynamic_shared = int32_t(launch.dynamic_shared);
    made.local_per_thread = launch.local_bytes;
    made.correlation = uint32_t(launch.number);
    made.grid_id = int64_t(launch.number);
    made.name = launch.kernel;
    return made;
}

void observe(const MemsimLaunchReport* launch, int ends) {
    Profiler& p = profiler();
    Hold hold(p.lock);
    if (ends && p.records_kernels) p.activities.push_back(activity_of(*launch));
    if (!p.wants(DOMAIN_DRIVER_API, CBID_CU_LAUNCH_KERNEL)) return;
    CallbackData data{};
    int result = 0;
    data.site = ends ? API_EXIT : API_ENTER;
    data.function = "cuLaunchKernel";
    data.result = &result;
    data.symbol = launch->kernel;
    data.context_id = 1;
    data.correlation_data = &p.correlation_data;
    data.correlation = uint32_t(launch->number);
    p.callback(p.user, DOMAIN_DRIVER_API, CBID_CU_LAUNCH_KERNEL, &data);
}

template <class Function>
Function* of_core(const char* name) {
    void* core = dlopen("libcuda.so.1", RTLD_LAZY);
    return core ? reinterpret_cast<Function*>(dlsym(core, name)) : nullptr;
}

void observe_launches(bool on) {
    if (auto* function = of_core<void(MemsimLaunchObserver)>("memsim_observe_launches")) function(on ? &observe : nullptr);
}

void observe_as_needed() {
    Profiler& p = profiler();
    observe_launches(p.callback || p.records_kernels);
}

int enable(int kind, bool on) {
    if (kind == KIND_KERNEL || kind == KIND_CONCURRENT_KERNEL) {
        profiler().records_kernels = on;
        observe_as_needed();
    } else if (on) {
        note_once("CUPTI: launches of kernels are the only activities that memsim reports");
    }
    return SUCCESS;
}

// Hands the activities over, in as many of the client's buffers as they need.
void flush() {
    Profiler& p = profiler();
    std::vector<KernelActivity> ready;
    {
        Hold hold(p.lock);
        ready.swap(p.activities);
    }
    if (!p.request || !p.complete) return;
    for (size_t done = 0; done < ready.size();) {
        uint8_t* buffer = nullptr;
        size_t bytes = 0, most = 0;
        p.request(&buffer, &bytes, &most);
        size_t n = bytes / sizeof(KernelActivity);
        if (most && most < n) n = most;
        if (ready.size() - done < n) n = ready.size() - done;
        if (!buffer || !n) return;
        auto* to = reinterpret_cast<KernelActivity*>(buffer);
        for (size_t i = 0; i < n; ++i) to[i] = ready[done + i];
        p.complete(nullptr, 0, buffer, bytes, n * sizeof(KernelActivity));
        done += n;
    }
}

}  // namespace

MEMSIM_EXPORT int cuptiGetVersion(uint32_t* version) { return *version = api_version, SUCCESS; }
MEMSIM_EXPORT int cuptiGetTimestamp(uint64_t* ns) {
    auto* function = of_core<uint64_t()>("memsim_host_time_ns");
    if (!ns || !function) return INVALID_PARAMETER;
    return *ns = function(), SUCCESS;
}
MEMSIM_EXPORT int cuptiGetContextId(void*, uint32_t* id) { return *id = 1, SUCCESS; }
MEMSIM_EXPORT int cuptiSubscribe(void** subscriber, Callback callback, void* user) {
    Profiler& p = profiler();
    if (!subscriber || !callback) return INVALID_PARAMETER;
    if (p.callback) return MULTIPLE_SUBSCRIBERS;
    *subscriber = &p;
    p.user = user;
    p.callback = callback;
    return observe_as_needed(), SUCCESS;
}
MEMSIM_EXPORT int cuptiUnsubscribe(void*) {
    Profiler& p = profiler();
    p.callback = nullptr;
    p.callbacks.clear();
    return observe_as_needed(), SUCCESS;
}
MEMSIM_EXPORT int cuptiFinalize() {
    profiler().records_kernels = false;
    return cuptiUnsubscribe(nullptr);
}
MEMSIM_EXPORT int cuptiEnableCallback(uint32_t on, void*, int domain, uint32_t function) {
    Profiler& p = profiler();
    Hold hold(p.lock);
    if (on)
        p.callbacks.insert({domain, int(function)});
    else
        p.callbacks.erase({domain, int(function)});
    return SUCCESS;
}
MEMSIM_EXPORT int cuptiEnableDomain(uint32_t on, void* subscriber, int domain) {
    return cuptiEnableCallback(on, subscriber, domain, uint32_t(every_function));
}
MEMSIM_EXPORT int cuptiActivityEnable(int kind) { return enable(kind, true); }
MEMSIM_EXPORT int cuptiActivityDisable(int kind) { return enable(kind, false); }
MEMSIM_EXPORT int cuptiActivityEnableContext(void*, int kind) { return enable(kind, true); }
MEMSIM_EXPORT int cuptiActivityDisableContext(void*, int kind) { return enable(kind, false); }
MEMSIM_EXPORT int cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
    Profiler& p = profiler();
    p.request = request;
    p.complete = complete;
    return request && complete ? SUCCESS : INVALID_PARAMETER;
}
MEMSIM_EXPORT int cuptiActivityFlushAll(uint32_t) { return flush(), SUCCESS; }
MEMSIM_EXPORT int cuptiActivityGetNextRecord(uint8_t* buffer, size_t used, KernelActivity** record) {
    if (!buffer || !record) return INVALID_PARAMETER;
    auto* first = reinterpret_cast<KernelActivity*>(buffer);
    KernelActivity* next = *record ? *record + 1 : first;
    if (next >= first + used / sizeof(KernelActivity)) return MAX_LIMIT_REACHED;
    return *record = next, SUCCESS;
}
// Only clients see these identifiers, which correlate launches by their numbers.
MEMSIM_EXPORT int cuptiActivityPopExternalCorrelationId(int, uint64_t* last) {
    if (last) *last = 0;
    return SUCCESS;
}

}  // namespace standin
