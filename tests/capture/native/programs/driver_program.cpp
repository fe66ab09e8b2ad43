// A program of the driver API, linked with libcuda.so.1. It declares what it calls, so that it builds without CUDA.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int*, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuCtxGetCurrent(void**);
int cuCtxPushCurrent_v2(void*);
int cuCtxPopCurrent_v2(void**);
int cuCtxSynchronize();
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuModuleGetGlobal_v2(uint64_t*, size_t*, void*, const char*);
int cuModuleUnload(void*);
int cuLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryGetKernel(void**, void*, const char*);
int cuFuncGetAttribute(int*, int, void*);
int cuFuncGetParamInfo(void*, size_t, size_t*, size_t*);
int cuFuncGetName(const char**, void*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
int cuMemAlloc_v2(uint64_t*, size_t);
int cuMemAllocPitch_v2(uint64_t*, size_t*, size_t, size_t, unsigned);
int cuMemFree_v2(uint64_t);
int cuMemsetD32_v2(uint64_t, unsigned, size_t);
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t);
int cuMemcpyDtoH_v2(void*, uint64_t, size_t);
int cuMemcpyDtoHAsync_v2(void*, uint64_t, size_t, void*);
int cuMemAllocManaged(uint64_t*, size_t, unsigned);
int cuMemHostAlloc(void**, size_t, unsigned);
int cuMemHostGetDevicePointer_v2(uint64_t*, void*, unsigned);
int cuMemFreeHost(void*);
int cuMemGetAddressRange_v2(uint64_t*, size_t*, uint64_t);
int cuMemAllocAsync(uint64_t*, size_t, void*);
int cuMemFreeAsync(uint64_t, void*);
int cuPointerGetAttribute(void*, int, uint64_t);
int cuStreamCreate(void**, unsigned);
int cuStreamSynchronize(void*);
int cuStreamDestroy_v2(void*);
int cuStreamBeginCapture_v2(void*, int);
int cuStreamEndCapture(void*, void**);
int cuGraphGetNodes(void*, void**, size_t*);
int cuGraphNodeGetType(void*, int*);
int cuGraphKernelNodeGetParams_v2(void*, void*);
int cuGraphExecKernelNodeSetParams_v2(void*, void*, const void*);
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long);
int cuGraphLaunch(void*, void*);
int cuEventCreate(void**, unsigned);
int cuEventRecord(void*, void*);
int cuEventSynchronize(void*);
int cuEventElapsedTime(float*, void*, void*);
int cuMemAddressReserve(uint64_t*, size_t, size_t, uint64_t, unsigned long long);
int cuMemCreate(uint64_t*, size_t, const void*, unsigned long long);
int cuMemMap(uint64_t, size_t, size_t, uint64_t, unsigned long long);
int cuMemUnmap(uint64_t, size_t);
int cuMemRelease(uint64_t);
int cuMemAddressFree(uint64_t, size_t);
int cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);
int cuGetErrorName(int, const char**);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, void*, int, size_t);
int cuArrayCreate_v2(void**, const void*);
int cuMemcpy2D_v2(const void*);
int cuArrayDestroy(void*);
}

#define CHECK(call)                                                 \
  if (int failed = (call)) {                                        \
    printf("line %d: %s returned %d\n", __LINE__, #call, failed);   \
    return 1;                                                       \
  }
#define EXPECT(condition)                                \
  if (!(condition)) {                                    \
    printf("line %d: not %s\n", __LINE__, #condition);   \
    return 1;                                            \
  }

static const char ptx[] = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .f32 offset = 0f40400000;
.visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 n)
{
  .reg .pred %p<2>; .reg .f32 %f<6>; .reg .b32 %r<6>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data]; ld.param.f32 %f1, [factor]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd2, %rd1; mul.wide.s32 %rd3, %r5, 4; add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4]; ld.global.f32 %f4, [offset];
  mul.f32 %f3, %f2, %f1; add.f32 %f5, %f3, %f4; st.global.f32 [%rd4], %f5;
DONE:
  ret;
}
)";

constexpr int n = 1000;
static float host[n];

static bool all_are(uint64_t data, float value) {
  cuMemcpyDtoH_v2(host, data, sizeof host);
  for (float one : host)
    if (one != value) return false;
  return true;
}
static unsigned bits_of(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  return bits;
}

static int test_launches(void* module, uint64_t data) {
  void* function;
  CHECK(cuModuleGetFunction(&function, module, "scale"));
  EXPECT(cuModuleGetFunction(&function, module, "missing") == 500);
  CHECK(cuModuleGetFunction(&function, module, "scale"));
  const char* name;
  CHECK(cuFuncGetName(&name, function));
  EXPECT(!strcmp(name, "scale"));
  size_t at, bytes;
  CHECK(cuFuncGetParamInfo(function, 2, &at, &bytes));
  EXPECT(at == 12 && bytes == 4);
  EXPECT(cuFuncGetParamInfo(function, 3, &at, &bytes) == 1);
  int value;
  CHECK(cuFuncGetAttribute(&value, 0, function));
  EXPECT(value == 1024);
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 256, 0));
  EXPECT(value == 8);
  float factor = 2;
  int count = n;
  void* arguments[] = {&data, &factor, &count};
  CHECK(cuMemsetD32_v2(data, bits_of(1), n));
  CHECK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuCtxSynchronize());
  EXPECT(all_are(data, 5));
  struct {
    uint64_t data;
    float factor;
    int n;
  } packed{data, 3, n};
  size_t size = sizeof packed;
  void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &size, nullptr};
  CHECK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT(all_are(data, 18));
  EXPECT(cuLaunchKernel(function, 4, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr) == 1);
  EXPECT(cuLaunchKernel(nullptr, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr) == 400);
  return 0;
}

static int test_variables(void* module, uint64_t data) {
  uint64_t address;
  size_t bytes;
  CHECK(cuModuleGetGlobal_v2(&address, &bytes, module, "offset"));
  EXPECT(bytes == 4);
  float value;
  CHECK(cuMemcpyDtoH_v2(&value, address, 4));
  EXPECT(value == 3);
  value = 0;
  CHECK(cuMemcpyHtoD_v2(address, &value, 4));
  void* function;
  CHECK(cuModuleGetFunction(&function, module, "scale"));
  float factor = 4;
  int count = n;
  void* arguments[] = {&data, &factor, &count};
  CHECK(cuMemsetD32_v2(data, bits_of(1), n));
  CHECK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT(all_are(data, 4));
  return 0;
}

// CUDA_KERNEL_NODE_PARAMS_v2.
struct NodeParameters {
  void* function;
  unsigned grid[3], block[3], shared;
  void **arguments, **extra;
  void *kernel, *context;
};

static int test_graphs(void* module, uint64_t data) {
  void *stream, *graph, *exec, *function, *start, *stop;
  CHECK(cuModuleGetFunction(&function, module, "scale"));
  CHECK(cuStreamCreate(&stream, 1));
  CHECK(cuEventCreate(&start, 0));
  CHECK(cuEventCreate(&stop, 0));
  float factor = 2;
  int count = n;
  void* arguments[] = {&data, &factor, &count};
  CHECK(cuMemsetD32_v2(data, bits_of(1), n));
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  CHECK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  CHECK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  CHECK(cuStreamEndCapture(stream, &graph));
  EXPECT(all_are(data, 1));
  size_t nodes = 0;
  CHECK(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 2);
  void* node[2];
  CHECK(cuGraphGetNodes(graph, node, &nodes));
  int type;
  CHECK(cuGraphNodeGetType(node[0], &type));
  EXPECT(type == 0);
  CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  CHECK(cuEventRecord(start, stream));
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuEventRecord(stop, stream));
  CHECK(cuEventSynchronize(stop));
  EXPECT(all_are(data, 4));
  float milliseconds;
  CHECK(cuEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds > 0);
  NodeParameters parameters;
  CHECK(cuGraphKernelNodeGetParams_v2(node[1], &parameters));
  EXPECT(*static_cast<float*>(parameters.arguments[1]) == 2);
  factor = 5;
  parameters.arguments = arguments;
  CHECK(cuGraphExecKernelNodeSetParams_v2(exec, node[1], &parameters));
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(all_are(data, 40));
  return cuStreamDestroy_v2(stream);
}

static int test_memory() {
  uint64_t base, managed, device, pooled;
  size_t bytes, pitch;
  CHECK(cuMemAllocPitch_v2(&base, &pitch, 100, 10, 4));
  EXPECT(pitch % 512 == 0 && pitch >= 100);
  CHECK(cuMemGetAddressRange_v2(&device, &bytes, base + 700));
  EXPECT(device == base && bytes == 10 * pitch);
  CHECK(cuMemFree_v2(base));
  EXPECT(cuMemFree_v2(base) == 1);
  CHECK(cuMemAllocManaged(&managed, 4096, 1));
  *reinterpret_cast<int*>(managed) = 7;
  unsigned is_managed, type;
  CHECK(cuPointerGetAttribute(&is_managed, 8, managed));
  EXPECT(is_managed == 1);
  void* pinned;
  CHECK(cuMemHostAlloc(&pinned, 4096, 2));
  CHECK(cuMemHostGetDevicePointer_v2(&device, pinned, 0));
  CHECK(cuPointerGetAttribute(&type, 2, device));
  EXPECT(type == 1);
  CHECK(cuMemFreeHost(pinned));
  CHECK(cuMemAllocAsync(&pooled, 1 << 20, nullptr));
  CHECK(cuPointerGetAttribute(&type, 2, pooled));
  EXPECT(type == 2);
  CHECK(cuMemFreeAsync(pooled, nullptr));
  int on_stack;
  EXPECT(cuPointerGetAttribute(&type, 2, reinterpret_cast<uint64_t>(&on_stack)) == 1);
  return 0;
}

// A handle keeps its data when it moves to another address.
static int test_virtual_memory() {
  constexpr size_t size = 2 << 20;
  struct {
    int type, handles, location, id;
    void* data;
    uint64_t flags;
  } properties{1, 0, 1, 0, nullptr, 0};
  uint64_t range, handle;
  CHECK(cuMemAddressReserve(&range, 2 * size, 0, 0, 0));
  CHECK(cuMemCreate(&handle, size, &properties, 0));
  CHECK(cuMemMap(range, size, 0, handle, 0));
  CHECK(cuMemsetD32_v2(range, bits_of(6), n));
  CHECK(cuMemUnmap(range, size));
  CHECK(cuMemMap(range + size, size, 0, handle, 0));
  EXPECT(all_are(range + size, 6));
  CHECK(cuMemUnmap(range + size, size));
  CHECK(cuMemRelease(handle));
  return cuMemAddressFree(range, 2 * size);
}

static int test_arrays() {
  struct {
    size_t width, height;
    int format;
    unsigned channels;
  } descriptor{8, 4, 0x20, 1};
  struct Side {
    size_t x, y;
    int type;
    void* host;
    uint64_t device;
    void* array;
    size_t pitch;
  };
  struct {
    Side from, to;
    size_t width, height;
  } copy{};
  float in[32], out[8] = {};
  for (int i = 0; i < 32; ++i) in[i] = float(i);
  void* array;
  CHECK(cuArrayCreate_v2(&array, &descriptor));
  copy.from = {0, 0, 1, in, 0, nullptr, 32};
  copy.to = {0, 0, 3, nullptr, 0, array, 0};
  copy.width = 32, copy.height = 4;
  CHECK(cuMemcpy2D_v2(&copy));
  copy.from = {8, 1, 3, nullptr, 0, array, 0};
  copy.to = {0, 0, 1, out, 0, nullptr, 16};
  copy.width = 16, copy.height = 2;
  CHECK(cuMemcpy2D_v2(&copy));
  EXPECT(out[0] == 10 && out[3] == 13 && out[4] == 18 && out[7] == 21);
  return cuArrayDestroy(array);
}

static int test_entry_points() {
  void* function;
  int found;
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &found));
  EXPECT(found == 0 && function == reinterpret_cast<void*>(&cuMemAlloc_v2));
  CHECK(cuGetProcAddress_v2("cuLaunchKernel", &function, 12000, 2, &found));
  EXPECT(found == 0 && function);
  CHECK(cuGetProcAddress_v2("cuLaunchKernelEx", &function, 11000, 0, &found));
  EXPECT(found == 2 && !function);
  CHECK(cuGetProcAddress_v2("cuNoSuchFunction", &function, 13000, 0, &found));
  EXPECT(found == 1 && !function);
  EXPECT(cuGetProcAddress_v2("cuNoSuchFunction", &function, 13000, 0, nullptr) == 500);
  // A function that memsim lacks is there, says so and is reported.
  CHECK(cuGetProcAddress_v2("cuMulticastCreate", &function, 13000, 0, &found));
  EXPECT(reinterpret_cast<int (*)(void*, void*)>(function)(nullptr, nullptr) == 801);
  const char* name;
  CHECK(cuGetErrorName(700, &name));
  EXPECT(!strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT(cuGetErrorName(12345, &name) == 1);
  return 0;
}

static int test_contexts(void* context) {
  void* current;
  CHECK(cuCtxPushCurrent_v2(context));
  CHECK(cuCtxPopCurrent_v2(&current));
  EXPECT(current == context);
  CHECK(cuCtxSetCurrent(nullptr));
  CHECK(cuCtxGetCurrent(&current));
  EXPECT(!current);
  EXPECT(cuCtxPopCurrent_v2(&current) == 201);
  return cuCtxSetCurrent(context);
}

int main() {
  void *context, *module, *library, *kernel;
  uint64_t data;
  CHECK(cuInit(0));
  int device;
  CHECK(cuDeviceGet(&device, 0));
  EXPECT(cuDeviceGet(&device, 1) == 101);
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  if (test_contexts(context) || test_memory() || test_virtual_memory() || test_arrays() || test_entry_points()) return 1;
  EXPECT(cuModuleLoadData(&module, "no module at all") != 0);
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuMemAlloc_v2(&data, n * sizeof(float)));
  if (test_launches(module, data) || test_variables(module, data) || test_graphs(module, data)) return 1;
  CHECK(cuModuleUnload(module));
  CHECK(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cuLibraryGetKernel(&kernel, library, "scale"));
  CHECK(cuMemFree_v2(data));
  printf("all is well\n");
  return 0;
}
