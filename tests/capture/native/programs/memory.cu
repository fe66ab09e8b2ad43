// Memory: allocation, copies, fills, pinned, registered and managed memory, arrays, pools.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.h"

extern "C" __global__ void add(int* data, int n, int by) {
  if (threadIdx.x < n) data[threadIdx.x] += by;
}

static void linear() {
  char *a, *b, host[256];
  OK(cudaMalloc(&a, 256));
  OK(cudaMalloc(&b, 256));
  OK(cudaMemset(a, 3, 256));
  OK(cudaMemcpy(b, a, 256, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(host, b, 256, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 3 && host[255] == 3);
  FAILS(cudaMemcpy(a, host, 257, cudaMemcpyHostToDevice), cudaErrorInvalidValue);  // behind the allocation
  FAILS(cudaMemcpy(host, host + 10, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  FAILS(cudaMemcpy(a, host, 4, cudaMemcpyKind(9)), cudaErrorInvalidMemcpyDirection);
  FAILS(cudaMemset(a, 0, 300), cudaErrorInvalidValue);
  OK(cudaMemcpy(a, host, 0, cudaMemcpyHostToDevice));
  OK(cudaFree(a));
  FAILS(cudaFree(a), cudaErrorInvalidValue);
  FAILS(cudaFree(b + 8), cudaErrorInvalidValue);
  OK(cudaFree(nullptr));
  OK(cudaFree(b));
  void* none = host;
  OK(cudaMalloc(&none, 0));
  EXPECT(none == nullptr);
  size_t unused, total, later;
  OK(cudaMemGetInfo(&unused, &total));
  FAILS(cudaMalloc(&none, unused + 1), cudaErrorMemoryAllocation);
  cudaGetLastError();
  OK(cudaMalloc(&none, 1 << 20));
  OK(cudaMemGetInfo(&later, &total));
  EXPECT(total == size_t(8) << 30 && later == unused - (1 << 20));
  OK(cudaFree(none));
}

static void pitched() {
  char* data;
  size_t pitch;
  OK(cudaMallocPitch(&data, &pitch, 100, 7));
  EXPECT(pitch >= 100 && pitch % 512 == 0);
  OK(cudaMemset2D(data, pitch, 1, 100, 7));
  std::vector<char> host(700, 0);
  OK(cudaMemcpy2D(host.data(), 100, data, pitch, 100, 7, cudaMemcpyDeviceToHost));
  for (char one : host) EXPECT(one == 1);
  FAILS(cudaMemcpy2D(host.data(), 90, data, pitch, 100, 7, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
  OK(cudaFree(data));
  cudaPitchedPtr box;
  OK(cudaMalloc3D(&box, make_cudaExtent(40, 5, 3)));
  OK(cudaMemset3D(box, 9, make_cudaExtent(40, 5, 3)));
  std::vector<char> cube(40 * 5 * 3, 0);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(cube.data(), 40, 40, 5);
  copy.extent = make_cudaExtent(40, 5, 3);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  for (char one : cube) EXPECT(one == 9);
  OK(cudaFree(box.ptr));
}

static void host_memory() {
  int* pinned;
  OK(cudaMallocHost(&pinned, 400));
  pinned[0] = 1;
  add<<<1, 32>>>(pinned, 1, 5);
  OK(cudaDeviceSynchronize());
  EXPECT(pinned[0] == 6);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, pinned + 3));
  EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned + 3);
  int local;
  OK(cudaPointerGetAttributes(&attributes, &local));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered && attributes.devicePointer == nullptr);
  FAILS(cudaFree(pinned), cudaErrorInvalidValue);
  OK(cudaFreeHost(pinned));

  std::vector<int> own(50000, 2);  // two ranges with a page between them in common
  OK(cudaHostRegister(&own[100], 4000, cudaHostRegisterDefault));
  OK(cudaHostRegister(&own[1200], 40000, cudaHostRegisterMapped));
  FAILS(cudaHostRegister(&own[1300], 10, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
  int* device;
  OK(cudaHostGetDevicePointer(&device, &own[1200], 0));
  add<<<1, 32>>>(device, 10000, 1);
  add<<<1, 32>>>(&own[100], 1000, 1);
  OK(cudaDeviceSynchronize());
  EXPECT(own[99] == 2 && own[100] == 3 && own[1099] == 3 && own[1100] == 2 && own[1200] == 3 && own[11199] == 3 &&
         own[11200] == 2);
  own[100] = 77;
  add<<<1, 32>>>(&own[100], 1, 1);
  EXPECT(own[100] == 78);
  OK(cudaHostUnregister(&own[100]));
  OK(cudaHostUnregister(&own[1200]));
  FAILS(cudaHostUnregister(&own[1200]), cudaErrorHostMemoryNotRegistered);
  EXPECT(own[100] == 78 && own[1200] == 3 && own[49999] == 2);
}

static void managed() {
  int* data;
  OK(cudaMallocManaged(&data, 4000));
  data[5] = 4;
  add<<<1, 32>>>(data, 1000, 2);
  OK(cudaDeviceSynchronize());
  EXPECT(data[5] == 6);
#if CUDART_VERSION >= 13000
  cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemAdvise(data, 4000, cudaMemAdviseSetPreferredLocation, place));
  OK(cudaMemPrefetchAsync(data, 4000, place, 0));
  void* range = data;
  size_t bytes = 4000, index = 0;
  OK(cudaMemPrefetchBatchAsync(&range, &bytes, 1, &place, &index, 1, 0, 0));
#else
  OK(cudaMemAdvise(data, 4000, cudaMemAdviseSetPreferredLocation, 0));
  OK(cudaMemPrefetchAsync(data, 4000, 0));
#endif
  int where = -5;
  OK(cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributePreferredLocation, data, 4000));
  EXPECT(where == 0);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, data));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  OK(cudaFree(data));
  FAILS(cudaMallocManaged(&data, 0), cudaErrorInvalidValue);
}

static void arrays() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  OK(cudaMallocArray(&array, &format, 16, 8));
  float host[8][16], back[8][16] = {};
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 16; ++x) host[y][x] = y * 100 + x;
  OK(cudaMemcpy2DToArray(array, 0, 0, host, 64, 64, 8, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DFromArray(back, 64, array, 8, 2, 16, 3, cudaMemcpyDeviceToHost));
  EXPECT(back[0][0] == 202 && back[2][3] == 405);
  cudaExtent extent;
  unsigned flags;
  OK(cudaArrayGetInfo(&format, &extent, &flags, array));
  EXPECT(extent.width == 16 && extent.height == 8 && extent.depth == 0 && format.x == 32);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc settings = {};
  cudaTextureObject_t texture = 0;
  OK(cudaCreateTextureObject(&texture, &resource, &settings, nullptr));
  EXPECT(texture != 0);
  OK(cudaDestroyTextureObject(texture));
  cudaSurfaceObject_t surface = 0;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaFreeArray(array));
  cudaMipmappedArray_t mipmapped;
  OK(cudaMallocMipmappedArray(&mipmapped, &format, make_cudaExtent(16, 8, 0), 3));
  OK(cudaGetMipmappedArrayLevel(&array, mipmapped, 2));
  OK(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
  EXPECT(extent.width == 4 && extent.height == 2);
  FAILS(cudaGetMipmappedArrayLevel(&array, mipmapped, 3), cudaErrorInvalidValue);
  OK(cudaFreeMipmappedArray(mipmapped));
}

#if CUDART_VERSION >= 13000
// A box of pinned memory, with gaps behind rows and layers, to an array, and from there to memory without gaps.
static void batch_of_boxes() {
  constexpr size_t row = 12, layer = 6, depth = 3;
  int* host;
  OK(cudaMallocHost(&host, row * layer * depth * sizeof(int)));
  for (size_t i = 0; i < row * layer * depth; ++i) host[i] = int(i);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(16, 8, 4), 0));
  cudaMemcpy3DBatchOp copy = {};
  copy.src.type = cudaMemcpyOperandTypePointer;
  copy.src.op.ptr.ptr = host;
  copy.src.op.ptr.rowLength = row;
  copy.src.op.ptr.layerHeight = layer;
  copy.dst.type = cudaMemcpyOperandTypeArray;
  copy.dst.op.array.array = array;
  copy.dst.op.array.offset = {2, 1, 1};
  copy.extent = make_cudaExtent(10, 4, 3);
  copy.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemcpy3DBatchAsync(1, &copy, 0, stream));
  std::vector<int> back(10 * 4 * 3);
  cudaMemcpy3DBatchOp again = copy;
  again.src = copy.dst;
  again.dst = {};
  again.dst.type = cudaMemcpyOperandTypePointer;
  again.dst.op.ptr.ptr = back.data();
  OK(cudaMemcpy3DBatchAsync(1, &again, 0, stream));
  OK(cudaStreamSynchronize(stream));
  for (size_t z = 0; z < 3; ++z)
    for (size_t y = 0; y < 4; ++y)
      for (size_t x = 0; x < 10; ++x) EXPECT(back[(z * 4 + y) * 10 + x] == host[(z * layer + y) * row + x]);
  copy.src.op.ptr.rowLength = 9;  // shorter than the width
  FAILS(cudaMemcpy3DBatchAsync(1, &copy, 0, stream), cudaErrorInvalidValue);
  copy.src.op.ptr.rowLength = 0;
  copy.dst.op.array.offset.z = 2;  // behind the array
  FAILS(cudaMemcpy3DBatchAsync(1, &copy, 0, stream), cudaErrorInvalidValue);
  FAILS(cudaMemcpy3DBatchAsync(1, &copy, 1, stream), cudaErrorInvalidValue);
  OK(cudaStreamDestroy(stream));
  OK(cudaFreeArray(array));
  OK(cudaFreeHost(host));
}
#endif

static void pools() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  cudaMemPool_t pool;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 1 << 30, used = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  void* data;
  OK(cudaMallocAsync(&data, 1000, stream));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 1000);
  OK(cudaFreeAsync(data, stream));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  OK(cudaStreamDestroy(stream));
}

int main() {
  linear();
  pitched();
  host_memory();
  managed();
  arrays();
#if CUDART_VERSION >= 13000
  batch_of_boxes();
#endif
  pools();
  FAILS(cudaIpcGetMemHandle(nullptr, nullptr), cudaErrorNotSupported);
  FAILS(cudaGraphicsUnregisterResource(nullptr), cudaErrorNotSupported);
  FAILS(cudaGraphicsUnregisterResource(nullptr), cudaErrorNotSupported);
  return failures;
}
