// Copies and fills (CUDA Driver API, "Memory Management").
#include <cstring>

#include "driver.h"

namespace memsim::driver {
namespace {

enum OperandType { pointer_operand = 1, array_operand = 2 };
enum MemoryType { on_host = 1, on_device = 2, in_array = 3, unified = 4 };

template <class Side>
CopySide side_of(const Side& side) {
  CopySide to;
  if (side.memory_type == in_array) to.array = side.array;
  else to.address = side.memory_type == on_host ? reinterpret_cast<uint64_t>(side.host) : side.device;
  to.pitch = side.pitch;
  to.x_bytes = side.x_bytes;
  to.y = side.y;
  return to;
}
Direction direction_of(int from, int to) {
  if (from == unified || to == unified) return Direction::automatic;
  if (from == on_host) return to == on_host ? Direction::host_to_host : Direction::host_to_device;
  return to == on_host ? Direction::device_to_host : Direction::device_to_device;
}
Copy linear(uint64_t to, uint64_t from, size_t bytes, Direction direction) {
  Copy copy;
  copy.source.address = from;
  copy.source.pitch = bytes;
  copy.destination.address = to;
  copy.destination.pitch = bytes;
  copy.width_bytes = bytes;
  copy.direction = direction;
  return copy;
}
Copy with_array(Copy copy, Array* to, size_t to_offset, Array* from, size_t from_offset) {
  if (to) copy.destination = {}, copy.destination.array = to, copy.destination.x_bytes = to_offset;
  if (from) copy.source = {}, copy.source.array = from, copy.source.x_bytes = from_offset;
  return copy;
}
Copy copy_of_2d(const Copy2D& p) {
  Copy copy;
  copy.source = side_of(p.source);
  copy.destination = side_of(p.destination);
  copy.width_bytes = p.width_bytes;
  copy.height = p.height;
  copy.direction = direction_of(p.source.memory_type, p.destination.memory_type);
  return copy;
}

CopySide side_of(const Operand3D& operand, const Operation3D& copy, size_t unit) {
  CopySide side;
  if (operand.type == array_operand) {
    side.array = operand.array.array;
    side.x_bytes = operand.array.x * unit;
    side.y = operand.array.y;
    side.z = operand.array.z;
  } else {
    side.address = operand.pointer.address;
    side.pitch = (operand.pointer.row_length ? operand.pointer.row_length : copy.width) * unit;
    side.rows = operand.pointer.layer_height ? operand.pointer.layer_height : copy.height;
  }
  return side;
}
int make_copy(const Operation3D& given, Copy* copy) {
  MEMSIM_REQUIRE(given.width && given.height && given.depth, invalid_value);
  MEMSIM_REQUIRE(given.access_order >= 1 && given.access_order <= 3, invalid_value);
  size_t unit = 0;
  for (const Operand3D* one : {&given.source, &given.destination}) {
    if (one->type == array_operand) {
      MEMSIM_REQUIRE(is_array(one->array.array), invalid_handle);
      size_t texel = one->array.array->texel_bytes();
      MEMSIM_REQUIRE(!unit || unit == texel, invalid_value);
      unit = texel;
    } else {
      size_t row = one->pointer.row_length, layer = one->pointer.layer_height;
      MEMSIM_REQUIRE(one->type == pointer_operand, invalid_value);
      MEMSIM_REQUIRE((!row || row >= given.width) && (!layer || layer >= given.height), invalid_value);
    }
  }
  unit = unit ? unit : 1;
  copy->source = side_of(given.source, given, unit);
  copy->destination = side_of(given.destination, given, unit);
  copy->width_bytes = given.width * unit;
  copy->height = given.height;
  copy->depth = given.depth;
  copy->direction = Direction::automatic;
  return status::success;
}

int run(Copy copy) { return submit_and_wait(stream_of(nullptr), std::move(copy)); }
int run(Copy copy, void* stream) {
  Stream* found = stream_of(stream);
  return found ? submit(found, std::move(copy)) : status::invalid_handle;
}

Fill fill_of(uint64_t address, size_t pitch, uint32_t value, uint32_t element_bytes, size_t width, size_t height) {
  Fill fill;
  fill.address = address;
  fill.pitch = pitch;
  fill.value = value;
  fill.element_bytes = element_bytes;
  fill.width = width;
  fill.height = height;
  return fill;
}
int run(Fill fill) { return submit(stream_of(nullptr), std::move(fill)); }
int run(Fill fill, void* stream) {
  Stream* found = stream_of(stream);
  return found ? submit(found, std::move(fill)) : status::invalid_handle;
}

}  // namespace

Copy copy_of(const Copy3D& p) {
  Copy copy;
  copy.source = side_of(p.source);
  copy.source.z = p.source.z;
  copy.source.rows = p.source.height;
  copy.destination = side_of(p.destination);
  copy.destination.z = p.destination.z;
  copy.destination.rows = p.destination.height;
  copy.width_bytes = p.width_bytes;
  copy.height = p.height;
  copy.depth = p.depth;
  copy.direction = direction_of(p.source.memory_type, p.destination.memory_type);
  return copy;
}

}  // namespace memsim::driver

using namespace memsim;
using namespace memsim::driver;

CU cuMemcpy(uint64_t to, uint64_t from, size_t n) { return run(linear(to, from, n, Direction::automatic)); }
CU cuMemcpyAsync(uint64_t to, uint64_t from, size_t n, void* s) {
  return run(linear(to, from, n, Direction::automatic), s);
}
CU cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t n) {
  return run(linear(to, address_of(from), n, Direction::host_to_device));
}
CU cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t n, void* s) {
  return run(linear(to, address_of(from), n, Direction::host_to_device), s);
}
CU cuMemcpyDtoH_v2(void* to, uint64_t from, size_t n) {
  return run(linear(address_of(to), from, n, Direction::device_to_host));
}
CU cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t n, void* s) {
  return run(linear(address_of(to), from, n, Direction::device_to_host), s);
}
CU cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t n) {
  return run(linear(to, from, n, Direction::device_to_device));
}
CU cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void* s) {
  return run(linear(to, from, n, Direction::device_to_device), s);
}
CU cuMemcpyPeer(uint64_t to, void*, uint64_t from, void*, size_t n) {
  return run(linear(to, from, n, Direction::device_to_device));
}
CU cuMemcpyPeerAsync(uint64_t to, void*, uint64_t from, void*, size_t n, void* s) {
  return run(linear(to, from, n, Direction::device_to_device), s);
}
CU cuMemcpyDtoA_v2(Array* to, size_t offset, uint64_t from, size_t n) {
  return run(with_array(linear(0, from, n, Direction::device_to_device), to, offset, nullptr, 0));
}
CU cuMemcpyAtoD_v2(uint64_t to, Array* from, size_t offset, size_t n) {
  return run(with_array(linear(to, 0, n, Direction::device_to_device), nullptr, 0, from, offset));
}
CU cuMemcpyHtoA_v2(Array* to, size_t offset, const void* from, size_t n) {
  return run(with_array(linear(0, address_of(from), n, Direction::host_to_device), to, offset, nullptr, 0));
}
CU cuMemcpyHtoAAsync_v2(Array* to, size_t offset, const void* from, size_t n, void* s) {
  return run(with_array(linear(0, address_of(from), n, Direction::host_to_device), to, offset, nullptr, 0), s);
}
CU cuMemcpyAtoH_v2(void* to, Array* from, size_t offset, size_t n) {
  return run(with_array(linear(address_of(to), 0, n, Direction::device_to_host), nullptr, 0, from, offset));
}
CU cuMemcpyAtoHAsync_v2(void* to, Array* from, size_t offset, size_t n, void* s) {
  return run(with_array(linear(address_of(to), 0, n, Direction::device_to_host), nullptr, 0, from, offset), s);
}
CU cuMemcpyAtoA_v2(Array* to, size_t to_offset, Array* from, size_t from_offset, size_t n) {
  return run(with_array(linear(0, 0, n, Direction::device_to_device), to, to_offset, from, from_offset));
}
CU cuMemcpy2D_v2(const Copy2D* copy) { return copy ? run(copy_of_2d(*copy)) : status::invalid_value; }
CU cuMemcpy2DAsync_v2(const Copy2D* copy, void* s) { return copy ? run(copy_of_2d(*copy), s) : status::invalid_value; }
CU cuMemcpy3D_v2(const Copy3D* copy) { return copy ? run(copy_of(*copy)) : status::invalid_value; }
CU cuMemcpy3DAsync_v2(const Copy3D* copy, void* s) { return copy ? run(copy_of(*copy), s) : status::invalid_value; }
CU cuMemcpyBatchAsync(uint64_t* to, uint64_t* from, size_t* bytes, size_t n, void*, size_t*, size_t, size_t* failed_at,
                      void* s) {
  MEMSIM_REQUIRE(to && from && bytes, invalid_value);
  if (failed_at) *failed_at = SIZE_MAX;
  for (size_t i = 0; i < n; ++i) {
    int failed = run(linear(to[i], from[i], bytes[i], Direction::automatic), s);
    if (failed && failed_at) *failed_at = i;
    MEMSIM_RETURN_IF(failed);
  }
  return status::success;
}
CU cuMemcpyBatchAsync_v2(uint64_t* to, uint64_t* from, size_t* bytes, size_t n, void* attributes, size_t* indices,
                         size_t m, void* s) {
  return cuMemcpyBatchAsync(to, from, bytes, n, attributes, indices, m, nullptr, s);
}

CU cuMemcpy3DBatchAsync(size_t n, Operation3D* operations, size_t* failed_at, uint64_t flags, void* s) {
  MEMSIM_REQUIRE(operations && !flags, invalid_value);
  if (failed_at) *failed_at = SIZE_MAX;
  for (size_t i = 0; i < n; ++i) {
    Copy copy;
    int failed = make_copy(operations[i], &copy);
    if (!failed) failed = run(copy, s);
    if (failed && failed_at) *failed_at = i;
    MEMSIM_RETURN_IF(failed);
  }
  return status::success;
}
CU cuMemcpy3DBatchAsync_v2(size_t n, Operation3D* operations, uint64_t flags, void* s) {
  return cuMemcpy3DBatchAsync(n, operations, nullptr, flags, s);
}

#define FILLS(suffix, type, bytes)                                                                         \
  CU cuMemsetD##suffix##_v2(uint64_t to, type value, size_t n) {                                           \
    return run(fill_of(to, 0, value, bytes, n, 1));                                                        \
  }                                                                                                        \
  CU cuMemsetD##suffix##Async(uint64_t to, type value, size_t n, void* s) {                                \
    return run(fill_of(to, 0, value, bytes, n, 1), s);                                                     \
  }                                                                                                        \
  CU cuMemsetD2D##suffix##_v2(uint64_t to, size_t pitch, type value, size_t width, size_t height) {        \
    return run(fill_of(to, pitch, value, bytes, width, height));                                           \
  }                                                                                                        \
  CU cuMemsetD2D##suffix##Async(uint64_t to, size_t pitch, type value, size_t width, size_t height, void* s) { \
    return run(fill_of(to, pitch, value, bytes, width, height), s);                                        \
  }
FILLS(8, unsigned char, 1)
FILLS(16, unsigned short, 2)
FILLS(32, unsigned, 4)
