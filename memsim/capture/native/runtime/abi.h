// The CUDA Runtime API's binary interface: the structures and numbers that programs pass (CUDA Runtime API, "Data types
// used by CUDA Runtime"). Layouts are checked against NVIDIA's headers by tests/capture/native/test_abi.py.
#pragma once

#include <cstddef>
#include <cstdint>

#define MEMSIM_CUDA extern "C" __attribute__((visibility("default")))

namespace memsim::runtime {

using Error = int;
using StreamHandle = void*;

enum : Error {
  success = 0,
  error_invalid_value = 1,
  error_invalid_configuration = 9,
  error_invalid_pitch_value = 12,
  error_invalid_symbol = 13,
  error_invalid_channel_descriptor = 20,
  error_invalid_memcpy_direction = 21,
  error_missing_configuration = 52,
  error_invalid_device_function = 98,
  error_no_device = 100,
  error_invalid_device = 101,
  error_unsupported_limit = 215,
  error_not_supported = 801,
  error_invalid_resource_handle = 400,
  error_symbol_not_found = 500,
  error_not_ready = 600,
};

struct Dim3 {
  uint32_t x, y, z;
};
struct CudaExtent {
  size_t width, height, depth;  // width in elements when an array takes part, else in bytes
};
struct CudaPos {
  size_t x, y, z;
};
struct PitchedPointer {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct ChannelFormat {
  int x, y, z, w;
  int kind;  // 0 signed, 1 unsigned, 2 float, 3 none
};

struct Memcpy3D {
  Array* source_array;
  CudaPos source_position;
  PitchedPointer source;
  Array* destination_array;
  CudaPos destination_position;
  PitchedPointer destination;
  CudaExtent extent;
  int kind;
};
struct Memcpy3DPeer {
  Array* source_array;
  CudaPos source_position;
  PitchedPointer source;
  int source_device;
  Array* destination_array;
  CudaPos destination_position;
  PitchedPointer destination;
  int destination_device;
  CudaExtent extent;
};

struct PointerAttributes {  // the 13 ABI has 8 reserved words behind
  int type;                 // 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void *device_pointer, *host_pointer;
};

struct FunctionAttributes {
  size_t shared_bytes, const_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared, preferred_carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, nonportable_cluster;
  int reserved[16];
};

struct AttributeValue {
  union {
    char bytes[64];
    int number;
    Dim3 cluster;
    struct {
      Event* event;
      int flags, at_block_start;
    } event;
  };
};
struct LaunchAttribute {
  int id;
  char padding[4];
  AttributeValue value;
};
enum LaunchAttributeId {
  attribute_cooperative = 2,
  attribute_cluster_dimension = 4,
  attribute_programmatic_event = 7,
  attribute_priority = 8,
  attribute_completion_event = 12,
};
struct LaunchConfig {
  Dim3 grid, block;
  size_t dynamic_shared;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned n_attributes;
};

struct MemoryLocation {
  int type, id;
};
struct PoolProperties {
  int allocation_type, handle_types;
  MemoryLocation location;
  void* security;
  size_t max_bytes;
  unsigned short usage;
  unsigned char reserved[54];
};

struct ResourceDescription {
  int type;  // 0 array, 1 mipmapped array, 2 linear, 3 pitch 2D
  union {
    Array* array;
    MipmappedArray* mipmap;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t width, height, pitch;
    } pitch2d;
  };
};
struct TextureSettings {
  int address_mode[3];
  int filter, read_mode, srgb;
  float border[4];
  int normalized;
  unsigned max_anisotropy;
  int mipmap_filter;
  float mipmap_bias, min_level, max_level;
  int disable_trilinear, seamless_cube_map;
};
struct ResourceView {
  int format;
  size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
};

struct KernelNodeParams {
  void* function;
  Dim3 grid, block;
  unsigned dynamic_shared;
  void** arguments;
  void** extra;
};
struct MemcpyNodeParams {
  int flags;
  int reserved[3];
  Memcpy3D copy;
};
// Only these members differ from CUgraphNodeParams, of which `function` is a Function and `copy` a CUDA_MEMCPY3D.
struct NodeParams {
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    KernelNodeParams kernel;
    MemcpyNodeParams memcpy;
  };
  long long reserved2;
};
enum NodeType { kernel_node = 0, memcpy_node = 1 };  // cudaGraphNodeType

}  // namespace memsim::runtime
