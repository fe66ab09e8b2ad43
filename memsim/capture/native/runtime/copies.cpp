// Copies and fills (CUDA Runtime API, "Memory Management").

#include <algorithm>

#include "common.h"

namespace memsim::runtime {

namespace {

Copy plane(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, int kind) {
  Copy copy = make_line(to, from, width, kind);
  copy.destination.pitch = to_pitch;
  copy.source.pitch = from_pitch;
  copy.height = height;
  return copy;
}

Fill fill_of(void* pointer, size_t pitch, int value, size_t width, size_t height, size_t depth, size_t slice) {
  Fill fill;
  fill.address = address_of(pointer);
  fill.pitch = pitch;
  fill.value = uint8_t(value);
  fill.width = width;
  fill.height = height;
  fill.depth = depth;
  fill.slice_pitch = slice;
  return fill;
}

// Fills are asynchronous to the host in all their functions (CUDA Runtime API, "API synchronization behavior").
Error run(Fill fill, StreamHandle stream, bool) { return done(submit(stream_of(stream), std::move(fill))); }

CopySide side_of(Array* array, const CudaPos& position, const PitchedPointer& pointer) {
  CopySide side;
  side.array = array;
  side.address = address_of(pointer.ptr);
  side.pitch = pointer.pitch;
  side.row_width = pointer.xsize;
  side.rows = pointer.ysize;
  side.x_bytes = position.x * (array ? array->texel_bytes() : 1);
  side.y = position.y;
  side.z = position.z;
  return side;
}

// An array side of a 2D copy, whose offsets and width are in bytes.
CopySide array_side(Array* array, size_t x_bytes, size_t y) {
  CopySide side;
  side.array = array;
  side.x_bytes = x_bytes;
  side.y = y;
  return side;
}

CheckedCopy copy_to_array(Array* to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                          int kind) {
  if (!is_array(to)) return error_invalid_resource_handle;
  Copy copy = plane(nullptr, 0, from, pitch, width, height, kind);
  copy.destination = array_side(to, x, y);
  return copy;
}
CheckedCopy copy_from_array(void* to, size_t pitch, Array* from, size_t x, size_t y, size_t width, size_t height,
                            int kind) {
  if (!is_array(from)) return error_invalid_resource_handle;
  Copy copy = plane(to, pitch, nullptr, 0, width, height, kind);
  copy.source = array_side(from, x, y);
  return copy;
}
CheckedCopy copy_plane(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       int kind) {
  if (width > to_pitch || width > from_pitch) return error_invalid_pitch_value;
  return plane(to, to_pitch, from, from_pitch, width, height, kind);
}
// There is one device.
CheckedCopy copy_peer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device || from_device) return error_invalid_device;
  return make_line(to, from, bytes, int(Direction::device_to_device));
}
CheckedCopy copy_3d(const Memcpy3D* given) {
  Copy copy;
  if (!given) return error_invalid_value;
  if (Error failed = make_copy(*given, &copy)) return failed;
  return copy;
}
CheckedCopy copy_3d(const Memcpy3DPeer* peer) {
  if (!peer) return error_invalid_value;
  Memcpy3D given{peer->source_array,         peer->source_position, peer->source,
                 peer->destination_array,    peer->destination_position, peer->destination,
                 peer->extent,               int(Direction::automatic)};
  return copy_3d(&given);
}
// The deprecated functions take `count` bytes that may run over several rows; arrays lie row by row without gaps.
void* inside(const Array* array, size_t x, size_t y) {
  return pointer_to(array->address + y * array->row_bytes() + x);
}
CheckedCopy copy_bytes_to(Array* to, size_t x, size_t y, const void* from, size_t count, int kind) {
  if (!is_array(to)) return error_invalid_resource_handle;
  return make_line(inside(to, x, y), from, count, kind);
}
CheckedCopy copy_bytes_from(void* to, Array* from, size_t x, size_t y, size_t count, int kind) {
  if (!is_array(from)) return error_invalid_resource_handle;
  return make_line(to, inside(from, x, y), count, kind);
}

}  // namespace

Error run(const CheckedCopy& made, StreamHandle stream, bool wait) {
  if (made.failed) return done(made.failed);
  if (!is_copy_kind(int(made.copy.direction))) return done(error_invalid_memcpy_direction);
  Stream* in = stream_of(stream);
  return done(wait ? submit_and_wait(in, made.copy) : submit(in, made.copy));
}

Copy make_line(void* to, const void* from, size_t bytes, int kind) {
  Copy copy;
  copy.destination.address = address_of(to);
  copy.source.address = address_of(from);
  copy.width_bytes = bytes;
  copy.direction = Direction(kind);
  return copy;
}

Error make_copy(const Memcpy3D& given, Copy* copy) {
  bool to_array = given.destination_array != nullptr, from_array = given.source_array != nullptr;
  if (to_array == (given.destination.ptr != nullptr) || from_array == (given.source.ptr != nullptr))
    return error_invalid_value;  // exactly one of array and pointer
  if ((to_array && !is_array(given.destination_array)) || (from_array && !is_array(given.source_array)))
    return error_invalid_resource_handle;
  if (!is_copy_kind(given.kind)) return error_invalid_memcpy_direction;
  copy->destination = side_of(given.destination_array, given.destination_position, given.destination);
  copy->source = side_of(given.source_array, given.source_position, given.source);
  size_t unit = to_array ? given.destination_array->texel_bytes() : from_array ? given.source_array->texel_bytes() : 1;
  copy->width_bytes = given.extent.width * unit;
  copy->height = given.extent.height;
  copy->depth = given.extent.depth;
  copy->direction = Direction(given.kind);
  return success;
}

Memcpy3D unmake_copy(const Copy& copy) {
  Memcpy3D given{};
  auto put = [](const CopySide& side, Array*& array, CudaPos& position, PitchedPointer& pointer) {
    array = side.array;
    position = {side.x_bytes / (side.array ? side.array->texel_bytes() : 1), side.y, side.z};
    pointer = {pointer_to(side.address), side.pitch, side.row_width, side.rows};
  };
  put(copy.source, given.source_array, given.source_position, given.source);
  put(copy.destination, given.destination_array, given.destination_position, given.destination);
  const Array* array = copy.destination.array ? copy.destination.array : copy.source.array;
  given.extent = {copy.width_bytes / (array ? array->texel_bytes() : 1), copy.height, copy.depth};
  given.kind = int(copy.direction);
  return given;
}

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

// -- copies

MEMSIM_COPY_FUNCTIONS(cudaMemcpy, (void* to, const void* from, size_t bytes, int kind), make_line(to, from, bytes, kind))
MEMSIM_COPY_FUNCTIONS(cudaMemcpyPeer, (void* to, int to_device, const void* from, int from_device, size_t bytes),
                      copy_peer(to, to_device, from, from_device, bytes))
MEMSIM_COPY_FUNCTIONS(cudaMemcpy2D,
                      (void* to, size_t to_pitch, const void* from, size_t pitch, size_t width, size_t height, int kind),
                      copy_plane(to, to_pitch, from, pitch, width, height, kind))
MEMSIM_COPY_FUNCTIONS(cudaMemcpy3D, (const Memcpy3D* given), copy_3d(given))
MEMSIM_COPY_FUNCTIONS(cudaMemcpy3DPeer, (const Memcpy3DPeer* given), copy_3d(given))
MEMSIM_COPY_FUNCTIONS(cudaMemcpy2DToArray, (Array* to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                            size_t height, int kind),
                      copy_to_array(to, x, y, from, pitch, width, height, kind))
MEMSIM_COPY_FUNCTIONS(cudaMemcpy2DFromArray, (void* to, size_t pitch, Array* from, size_t x, size_t y, size_t width,
                                              size_t height, int kind),
                      copy_from_array(to, pitch, from, x, y, width, height, kind))
MEMSIM_COPY_FUNCTIONS(cudaMemcpyToArray, (Array* to, size_t x, size_t y, const void* from, size_t count, int kind),
                      copy_bytes_to(to, x, y, from, count, kind))
MEMSIM_COPY_FUNCTIONS(cudaMemcpyFromArray, (void* to, Array* from, size_t x, size_t y, size_t count, int kind),
                      copy_bytes_from(to, from, x, y, count, kind))

MEMSIM_CUDA Error cudaMemcpy2DArrayToArray(Array* to, size_t to_x, size_t to_y, Array* from, size_t x, size_t y,
                                           size_t width, size_t height, int kind) {
  if (!is_array(to)) return done(error_invalid_resource_handle);
  CheckedCopy made = copy_from_array(nullptr, 0, from, x, y, width, height, kind);
  made.copy.destination = array_side(to, to_x, to_y);
  return run(made, nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpyArrayToArray(Array* to, size_t to_x, size_t to_y, Array* from, size_t x, size_t y,
                                         size_t count, int kind) {
  if (!is_array(to)) return done(error_invalid_resource_handle);
  return run(copy_bytes_from(inside(to, to_x, to_y), from, x, y, count, kind), nullptr, true);
}

// -- fills

MEMSIM_COPY_FUNCTIONS(cudaMemset, (void* pointer, int value, size_t bytes),
                      fill_of(pointer, bytes, value, bytes, 1, 1, 0))
MEMSIM_COPY_FUNCTIONS(cudaMemset2D, (void* pointer, size_t pitch, int value, size_t width, size_t height),
                      fill_of(pointer, pitch, value, width, height, 1, 0))
MEMSIM_COPY_FUNCTIONS(cudaMemset3D, (PitchedPointer at, int value, CudaExtent extent),
                      fill_of(at.ptr, at.pitch, value, extent.width, extent.height, extent.depth, at.pitch * at.ysize))
