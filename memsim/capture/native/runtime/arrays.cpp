// CUDA arrays (CUDA Runtime API, "Memory Management").

#include <cstring>

#include "common.h"

namespace memsim::runtime {

namespace {

constexpr unsigned known_flags = 0x4f | 0x80;  // layered, surface, cube map, gather, colour attachment, sparse, deferred

Error describe(const ChannelFormat* format, CudaExtent extent, unsigned flags, Array* array) {
  if (!format) return error_invalid_value;
  if (flags & ~known_flags) return error_invalid_value;
  if (format->kind < 0 || format->kind > 2) return error_invalid_channel_descriptor;
  array->bits[0] = format->x;
  array->bits[1] = format->y;
  array->bits[2] = format->z;
  array->bits[3] = format->w;
  array->channel_kind = uint32_t(format->kind);
  array->width = extent.width;
  array->height = extent.height;
  array->depth = extent.depth;
  array->flags = flags;
  return success;
}

struct Requirements {
  size_t bytes, alignment;
  unsigned reserved[4];
};

}  // namespace

ChannelFormat format_of(const Array& array) {
  return {array.bits[0], array.bits[1], array.bits[2], array.bits[3], int(array.channel_kind)};
}

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return {x, y, z, w, kind}; }

MEMSIM_CUDA Error cudaMalloc3DArray(Array** array, const ChannelFormat* format, CudaExtent extent, unsigned flags) {
  Array description;
  if (!array) return done(error_invalid_value);
  if (Error failed = describe(format, extent, flags, &description)) return done(failed);
  return done(create_array(description, array));
}
MEMSIM_CUDA Error cudaMallocArray(Array** array, const ChannelFormat* format, size_t width, size_t height,
                                  unsigned flags) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
MEMSIM_CUDA Error cudaFreeArray(Array* array) { return done(destroy_array(array)); }

MEMSIM_CUDA Error cudaMallocMipmappedArray(MipmappedArray** array, const ChannelFormat* format, CudaExtent extent,
                                           unsigned levels, unsigned flags) {
  Array description;
  if (!array) return done(error_invalid_value);
  if (Error failed = describe(format, extent, flags, &description)) return done(failed);
  return done(create_mipmapped_array(description, levels, array));
}
MEMSIM_CUDA Error cudaFreeMipmappedArray(MipmappedArray* array) { return done(destroy_mipmapped_array(array)); }
MEMSIM_CUDA Error cudaGetMipmappedArrayLevel(Array** level, const MipmappedArray* array, unsigned number) {
  if (!level || !is_array(array) || number >= array->levels.size()) return done(error_invalid_value);
  *level = array->levels[number];
  return success;
}

MEMSIM_CUDA Error cudaArrayGetInfo(ChannelFormat* format, CudaExtent* extent, unsigned* flags, Array* array) {
  if (!is_array(array)) return done(error_invalid_resource_handle);
  if (format) *format = format_of(*array);
  if (extent) *extent = {array->width, array->height, array->depth};
  if (flags) *flags = array->flags;
  return success;
}
MEMSIM_CUDA Error cudaGetChannelDesc(ChannelFormat* format, const Array* array) {
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<Array*>(array));
}
MEMSIM_CUDA Error cudaArrayGetMemoryRequirements(Requirements* requirements, Array* array, int device) {
  if (!is_array(array) || device != 0 || !requirements) return done(error_invalid_value);
  *requirements = {array->bytes(), 512, {0, 0, 0, 0}};
  return success;
}
