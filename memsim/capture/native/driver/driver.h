// What the driver API's files share. Structures have the layout that the CUDA Driver API reference documents; their
// names and fields are ours. A CUfunction and a CUkernel are a Function, a CUmodule and a CUlibrary a Module, a CUstream
// a Stream or one of the numbers 0 to 2, a CUgraphNode a GraphNode and so on: handles are the core's objects.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../gpu.h"

#define CU extern "C" MEMSIM_API int

namespace memsim::driver {

constexpr int first_device = 0;

struct Context;
// The context that is current to the calling thread; nullptr: none.
Context* current_context();
Context* primary_context();
bool is_context(const Context* context);

// The stream of a handle, or nullptr with invalid_handle to return.
inline Stream* stream_of(void* handle) { return find_stream(handle); }

#define MEMSIM_RETURN_IF(failed) \
  if (int memsim_status = (failed)) return memsim_status
#define MEMSIM_REQUIRE(condition, status_name) \
  if (!(condition)) return memsim::status::status_name

// Returns one value to the program.
template <class T, class Value>
int give(T* to, Value value) {
  MEMSIM_REQUIRE(to, invalid_value);
  *to = value;
  return status::success;
}
inline int check_device(int device) {
  if (Status failed = ready()) return failed;
  return device == first_device ? status::success : status::invalid_device;
}
template <class T>
T* as(void* handle) {
  return static_cast<T*>(handle);
}
inline uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// The core tells invalid launch dimensions apart, which the driver API calls an invalid value.
inline int driver_status(Status result) {
  constexpr Status invalid_configuration = 9;  // cudaErrorInvalidConfiguration
  return result == invalid_configuration ? status::invalid_value : result;
}

// CUmemLocation.
struct Location {
  int type, id;  // type: 0 none, 1 device, 2 host, 3 host NUMA node, 4 the thread's NUMA node
};
// CUmemAccessDesc.
struct AccessDescription {
  Location location;
  int flags;  // 0 none, 1 read, 3 read and write
};

// CUDA_ARRAY3D_DESCRIPTOR.
struct Array3DDescriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
// CUDA_ARRAY_DESCRIPTOR.
struct ArrayDescriptor {
  size_t width, height;
  int format;
  unsigned channels;
};
// Sets the core's bits and channel kind from CUarray_format; false: a format that is not implemented.
bool set_format(Array& array, int format, unsigned channels);

// One side of CUDA_MEMCPY2D.
struct Side2D {
  size_t x_bytes, y;
  int memory_type;  // 1 host, 2 device, 3 array, 4 unified
  void* host;
  uint64_t device;
  Array* array;
  size_t pitch;
};
struct Copy2D {
  Side2D source, destination;
  size_t width_bytes, height;
};
// One side of CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER.
struct Side3D {
  size_t x_bytes, y, z, level;
  int memory_type;
  void* host;
  uint64_t device;
  Array* array;
  void* context;
  size_t pitch, height;
};
struct Copy3D {
  Side3D source, destination;
  size_t width_bytes, height, depth;
};
Copy copy_of(const Copy3D& parameters);
// CUmemcpy3DOperand: a pointer (1), with lengths in elements, 0 if rows or layers have no gaps; or an array (2).
struct Operand3D {
  int type;
  union {
    struct {
      uint64_t address;
      size_t row_length, layer_height;
      Location hint;
    } pointer;
    struct {
      Array* array;
      size_t x, y, z;
    } array;
  };
};
// CUDA_MEMCPY3D_BATCH_OP, with lengths in elements: those of the array, else bytes.
struct Operation3D {
  Operand3D source, destination;
  size_t width, height, depth;
  int access_order;  // 1 in the stream's order, 2 during the call, 3 any
  unsigned flags;
};

// CUlaunchAttribute.
struct LaunchAttribute {
  int id, padding;
  union {
    char bytes[64];
    int number;
    unsigned dimensions[3];
  } value;
};
// CUlaunchConfig.
struct LaunchConfiguration {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
// Arguments come as kernelParams, or as one packed buffer in `extra` (CU_LAUNCH_PARAM_BUFFER_POINTER).
Status make_launch(Function* function, const unsigned grid[3], const unsigned block[3], unsigned shared_bytes,
                   void** arguments, void** extra, Launch* launch);
void apply_attribute(Launch& launch, const LaunchAttribute& attribute);

}  // namespace memsim::driver
