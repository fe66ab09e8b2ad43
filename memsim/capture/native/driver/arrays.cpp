// CUDA arrays and mipmapped arrays (CUDA Driver API, "Memory Management").
#include "driver.h"

namespace memsim::driver {

bool set_format(Array& array, int format, unsigned channels) {
  // CUarray_format: bits of a channel, and its kind (0 signed, 1 unsigned, 2 floating point).
  struct Format {
    int number, bits;
    uint32_t kind;
  };
  constexpr Format formats[] = {{0x01, 8, 1}, {0x02, 16, 1}, {0x03, 32, 1}, {0x08, 8, 0},
                                {0x09, 16, 0}, {0x0a, 32, 0}, {0x10, 16, 2}, {0x20, 32, 2}};
  if (channels != 1 && channels != 2 && channels != 4) return false;
  for (const Format& one : formats) {
    if (one.number != format) continue;
    for (unsigned i = 0; i < 4; ++i) array.bits[i] = i < channels ? one.bits : 0;
    array.channel_kind = one.kind;
    array.driver_format = uint32_t(format);
    return true;
  }
  return false;
}

}  // namespace memsim::driver

using namespace memsim;
using namespace memsim::driver;

namespace {

int array_of(const Array3DDescriptor& from, Array* to) {
  to->width = from.width;
  to->height = from.height;
  to->depth = from.depth;
  to->flags = from.flags;
  if (!set_format(*to, from.format, from.channels)) return unsupported("CUDA arrays of this format");
  return status::success;
}
unsigned channels_of(const Array& array) {
  unsigned channels = 0;
  for (int bits : array.bits) channels += bits != 0;
  return channels;
}

}  // namespace

CU cuArray3DCreate_v2(Array** array, const Array3DDescriptor* descriptor) {
  MEMSIM_REQUIRE(array && descriptor, invalid_value);
  Array made;
  MEMSIM_RETURN_IF(array_of(*descriptor, &made));
  return create_array(made, array);
}
CU cuArrayCreate_v2(Array** array, const ArrayDescriptor* descriptor) {
  MEMSIM_REQUIRE(array && descriptor, invalid_value);
  Array3DDescriptor whole{descriptor->width, descriptor->height, 0, descriptor->format, descriptor->channels, 0};
  return cuArray3DCreate_v2(array, &whole);
}
CU cuArray3DGetDescriptor_v2(Array3DDescriptor* descriptor, Array* array) {
  MEMSIM_REQUIRE(descriptor, invalid_value);
  MEMSIM_REQUIRE(is_array(array), invalid_handle);
  *descriptor = {array->width, array->height, array->depth, int(array->driver_format), channels_of(*array), array->flags};
  return status::success;
}
CU cuArrayGetDescriptor_v2(ArrayDescriptor* descriptor, Array* array) {
  MEMSIM_REQUIRE(descriptor, invalid_value);
  MEMSIM_REQUIRE(is_array(array), invalid_handle);
  *descriptor = {array->width, array->height, int(array->driver_format), channels_of(*array)};
  return status::success;
}
CU cuArrayDestroy(Array* array) {
  MEMSIM_REQUIRE(is_array(array), invalid_handle);
  return destroy_array(array);
}
CU cuMipmappedArrayCreate(MipmappedArray** array, const Array3DDescriptor* descriptor, unsigned levels) {
  MEMSIM_REQUIRE(array && descriptor && levels, invalid_value);
  Array made;
  MEMSIM_RETURN_IF(array_of(*descriptor, &made));
  return create_mipmapped_array(made, levels, array);
}
CU cuMipmappedArrayGetLevel(Array** level, MipmappedArray* array, unsigned index) {
  MEMSIM_REQUIRE(is_array(array), invalid_handle);
  MEMSIM_REQUIRE(index < array->levels.size(), invalid_value);
  return give(level, array->levels[index]);
}
CU cuMipmappedArrayDestroy(MipmappedArray* array) {
  MEMSIM_REQUIRE(is_array(array), invalid_handle);
  return destroy_mipmapped_array(array);
}
