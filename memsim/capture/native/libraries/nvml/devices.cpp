// NVML (NVML API reference): one device, the chosen GPU, described by the driver API of libcuda.so.1. What only hardware
// has (temperature, power, fans) is not supported.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../common/report.h"

namespace standin {
namespace {

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9,
       LIBRARY_NOT_FOUND = 12 };
// CUdevice_attribute.
enum { CLOCK_KHZ = 13, SM_COUNT = 16, MEMORY_CLOCK_KHZ = 36, MEMORY_BUS_BITS = 37, MAJOR = 75, MINOR = 76 };

void* core() {
    static void* library = dlopen("libcuda.so.1", RTLD_LAZY);
    return library;
}
template <class... Arguments>
int call(const char* name, Arguments... arguments) {
    auto* function = core() ? reinterpret_cast<int (*)(Arguments...)>(dlsym(core(), name)) : nullptr;
    return function ? function(arguments...) : 999;
}
int attribute(int number) {
    int value = 0;
    call("cuDeviceGetAttribute", &value, number, 0);
    return value;
}
int start() {
    if (!core()) return LIBRARY_NOT_FOUND;
    return call("cuInit", 0u) ? int(DRIVER_NOT_LOADED) : int(SUCCESS);
}
int write(char* to, unsigned length, const char* text) {
    if (!to) return INVALID_ARGUMENT;
    if (strlen(text) >= length) return INSUFFICIENT_SIZE;
    return strcpy(to, text), SUCCESS;
}

// The handle of the only device.
char the_device;

struct Memory {
    unsigned long long total, free, used;
};
struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
struct Pci {
    char legacy_bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct Utilization {
    unsigned gpu, memory;
};
int get_memory(unsigned long long* total, unsigned long long* available) {
    size_t bytes = 0, free_bytes = 0, all = 0;
    if (call("cuDeviceTotalMem_v2", &bytes, 0)) return NOT_SUPPORTED;
    *total = *available = bytes;
    if (!call("cuMemGetInfo_v2", &free_bytes, &all)) *available = free_bytes;
    return SUCCESS;
}
// nvmlClockType_t: 0 graphics, 1 SM, 2 memory, 3 video.
int get_clock(int type, unsigned* mhz) {
    return *mhz = unsigned(attribute(type == 2 ? MEMORY_CLOCK_KHZ : CLOCK_KHZ)) / 1000, SUCCESS;
}
int get_pci(Pci* pci) {
    *pci = {};
    pci->bus = 1;
    snprintf(pci->legacy_bus_id, sizeof pci->legacy_bus_id, "0000:01:00.0");
    snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:01:00.0");
    return SUCCESS;
}

}  // namespace

MEMSIM_EXPORT int nvmlInit_v2() { return start(); }
MEMSIM_EXPORT const char* nvmlErrorString(int status) {
    return status == SUCCESS ? "Success" : status == NOT_SUPPORTED ? "Not Supported" : "Unknown Error";
}
MEMSIM_EXPORT int nvmlSystemGetDriverVersion(char* to, unsigned n) { return write(to, n, "580.65.06"); }
MEMSIM_EXPORT int nvmlSystemGetNVMLVersion(char* to, unsigned n) { return write(to, n, "13.580.65.06"); }
MEMSIM_EXPORT int nvmlSystemGetCudaDriverVersion(int* version) {
    return call("cuDriverGetVersion", version) ? int(NOT_SUPPORTED) : int(SUCCESS);
}
MEMSIM_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    return index ? int(INVALID_ARGUMENT) : (*device = &the_device, int(SUCCESS));
}
MEMSIM_EXPORT int nvmlDeviceGetHandleByUUID(const char*, void** device) { return *device = &the_device, SUCCESS; }
MEMSIM_EXPORT int nvmlDeviceGetName(void*, char* to, unsigned n) {
    char name[256] = "";
    if (call("cuDeviceGetName", &name[0], 256, 0)) return NOT_SUPPORTED;
    return write(to, n, name);
}
MEMSIM_EXPORT int nvmlDeviceGetUUID(void*, char* to, unsigned n) {
    unsigned char u[16] = {};
    if (call("cuDeviceGetUuid_v2", &u[0], 0)) return NOT_SUPPORTED;
    char text[64];
    snprintf(text, sizeof text, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
             u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    return write(to, n, text);
}
MEMSIM_EXPORT int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
    int failed = get_memory(&memory->total, &memory->free);
    return memory->used = memory->total - memory->free, failed;
}
MEMSIM_EXPORT int nvmlDeviceGetMemoryInfo_v2(void*, MemoryV2* memory) {
    int failed = get_memory(&memory->total, &memory->free);
    memory->reserved = 0;
    return memory->used = memory->total - memory->free, failed;
}
MEMSIM_EXPORT int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) { return get_clock(type, mhz); }
MEMSIM_EXPORT int nvmlDeviceGetClock(void*, int type, int, unsigned* mhz) { return get_clock(type, mhz); }
MEMSIM_EXPORT int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
    return *major = attribute(MAJOR), *minor = attribute(MINOR), SUCCESS;
}
MEMSIM_EXPORT int nvmlDeviceGetMemoryBusWidth(void*, unsigned* bits) {
    return *bits = unsigned(attribute(MEMORY_BUS_BITS)), SUCCESS;
}
MEMSIM_EXPORT int nvmlDeviceGetPciInfo_v3(void*, Pci* pci) { return get_pci(pci); }

}  // namespace standin
