// Structures of CUPTI that its clients read (CUPTI documentation, "Activity API" and "Callback API").
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace standin {

enum { SUCCESS = 0, INVALID_PARAMETER = 1, MAX_LIMIT_REACHED = 12, INVALID_KIND = 21, MULTIPLE_SUBSCRIBERS = 39 };
enum { KIND_KERNEL = 3, KIND_CONCURRENT_KERNEL = 10, DOMAIN_DRIVER_API = 1, API_ENTER = 0, API_EXIT = 1 };
enum { CBID_CU_LAUNCH_KERNEL = 307 };

// CUpti_ActivityKernel9. Earlier versions begin with the same fields.
struct KernelActivity {
    int kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    int cache_requested, cache_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char* name;
    void* reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t shared_limit, graph;
    uint8_t later[48];  // access policies, channels, clusters: none
};
static_assert(offsetof(KernelActivity, start) == 16 && offsetof(KernelActivity, correlation) == 92);
static_assert(offsetof(KernelActivity, name) == 104 && offsetof(KernelActivity, graph) == 156);
static_assert(sizeof(KernelActivity) == 208);

// CUpti_CallbackData.
struct CallbackData {
    int site;
    const char* function;
    const void* parameters;
    void* result;
    const char* symbol;
    void* context;
    uint32_t context_id;
    uint64_t* correlation_data;
    uint32_t correlation;
};
static_assert(offsetof(CallbackData, correlation) == 64);

}  // namespace standin
