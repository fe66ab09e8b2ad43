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

Error run(Copy copy, StreamHandle stream, bool wait) {
  if (!is_copy_kind(int(copy.direction))) return done(error_invalid_memcpy_direction);
  Stream* in = stream_of(stream);
  return done(wait ? submit_and_wait(in, std::move(copy)) : submit(in, std::move(copy)));
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

Error run(Fill fill, StreamHandle stream) { return done(submit(stream_of(stream), std::move(fill))); }

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

Error copy_to_array(Array* to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, int kind,
                    StreamHandle stream, bool wait) {
  if (!is_array(to)) return done(error_invalid_resource_handle);
  Copy copy = plane(nullptr, 0, from, pitch, width, height, kind);
  copy.destination = array_side(to, x, y);
  return run(std::move(copy), stream, wait);
}

Error copy_from_array(void* to, size_t pitch, Array* from, size_t x, size_t y, size_t width, size_t height, int kind,
                      StreamHandle stream, bool wait) {
  if (!is_array(from)) return done(error_invalid_resource_handle);
  Copy copy = plane(to, pitch, nullptr, 0, width, height, kind);
  copy.source = array_side(from, x, y);
  return run(std::move(copy), stream, wait);
}

}  // namespace

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

// -- linear memory

MEMSIM_CUDA Error cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return run(make_line(to, from, bytes, kind), nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, StreamHandle stream) {
  return run(make_line(to, from, bytes, kind), stream, false);
}
MEMSIM_CUDA Error cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device || from_device) return done(error_invalid_device);
  return run(make_line(to, from, bytes, int(Direction::device_to_device)), nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                      StreamHandle stream) {
  if (to_device || from_device) return done(error_invalid_device);
  return run(make_line(to, from, bytes, int(Direction::device_to_device)), stream, false);
}
MEMSIM_CUDA Error cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                               size_t height, int kind) {
  if (width > to_pitch || width > from_pitch) return done(error_invalid_pitch_value);
  return run(plane(to, to_pitch, from, from_pitch, width, height, kind), nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                    size_t height, int kind, StreamHandle stream) {
  if (width > to_pitch || width > from_pitch) return done(error_invalid_pitch_value);
  return run(plane(to, to_pitch, from, from_pitch, width, height, kind), stream, false);
}

// -- three dimensions

MEMSIM_CUDA Error cudaMemcpy3D(const Memcpy3D* given) {
  Copy copy;
  if (!given) return done(error_invalid_value);
  if (Error failed = make_copy(*given, &copy)) return done(failed);
  return run(std::move(copy), nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpy3DAsync(const Memcpy3D* given, StreamHandle stream) {
  Copy copy;
  if (!given) return done(error_invalid_value);
  if (Error failed = make_copy(*given, &copy)) return done(failed);
  return run(std::move(copy), stream, false);
}

static Memcpy3D without_devices(const Memcpy3DPeer& peer) {
  return {peer.source_array,      peer.source_position,      peer.source, peer.destination_array,
          peer.destination_position, peer.destination, peer.extent, int(Direction::automatic)};
}
MEMSIM_CUDA Error cudaMemcpy3DPeer(const Memcpy3DPeer* peer) {
  if (!peer) return done(error_invalid_value);
  Memcpy3D given = without_devices(*peer);
  return cudaMemcpy3D(&given);
}
MEMSIM_CUDA Error cudaMemcpy3DPeerAsync(const Memcpy3DPeer* peer, StreamHandle stream) {
  if (!peer) return done(error_invalid_value);
  Memcpy3D given = without_devices(*peer);
  return cudaMemcpy3DAsync(&given, stream);
}

// -- arrays

MEMSIM_CUDA Error cudaMemcpy2DToArray(Array* to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                      size_t height, int kind) {
  return copy_to_array(to, x, y, from, pitch, width, height, kind, nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpy2DToArrayAsync(Array* to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                           size_t height, int kind, StreamHandle stream) {
  return copy_to_array(to, x, y, from, pitch, width, height, kind, stream, false);
}
MEMSIM_CUDA Error cudaMemcpy2DFromArray(void* to, size_t pitch, Array* from, size_t x, size_t y, size_t width,
                                        size_t height, int kind) {
  return copy_from_array(to, pitch, from, x, y, width, height, kind, nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, Array* from, size_t x, size_t y, size_t width,
                                             size_t height, int kind, StreamHandle stream) {
  return copy_from_array(to, pitch, from, x, y, width, height, kind, stream, false);
}
MEMSIM_CUDA Error cudaMemcpy2DArrayToArray(Array* to, size_t to_x, size_t to_y, Array* from, size_t x, size_t y,
                                           size_t width, size_t height, int kind) {
  if (!is_array(to) || !is_array(from)) return done(error_invalid_resource_handle);
  Copy copy;
  copy.destination = array_side(to, to_x, to_y);
  copy.source = array_side(from, x, y);
  copy.width_bytes = width;
  copy.height = height;
  copy.direction = Direction(kind);
  return run(std::move(copy), nullptr, true);
}

// The deprecated functions take `count` bytes that may run over several rows; arrays lie row by row without gaps.
static Error copy_array_bytes(Array* array, size_t x, size_t y, void* other, size_t count, int kind, bool to_array,
                              StreamHandle stream, bool wait) {
  if (!is_array(array)) return done(error_invalid_resource_handle);
  void* inside = pointer_to(array->address + y * array->row_bytes() + x);
  return run(to_array ? make_line(inside, other, count, kind) : make_line(other, inside, count, kind), stream, wait);
}
MEMSIM_CUDA Error cudaMemcpyToArray(Array* to, size_t x, size_t y, const void* from, size_t count, int kind) {
  return copy_array_bytes(to, x, y, const_cast<void*>(from), count, kind, true, nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpyToArrayAsync(Array* to, size_t x, size_t y, const void* from, size_t count, int kind,
                                         StreamHandle stream) {
  return copy_array_bytes(to, x, y, const_cast<void*>(from), count, kind, true, stream, false);
}
MEMSIM_CUDA Error cudaMemcpyFromArray(void* to, Array* from, size_t x, size_t y, size_t count, int kind) {
  return copy_array_bytes(from, x, y, to, count, kind, false, nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpyFromArrayAsync(void* to, Array* from, size_t x, size_t y, size_t count, int kind,
                                           StreamHandle stream) {
  return copy_array_bytes(from, x, y, to, count, kind, false, stream, false);
}
MEMSIM_CUDA Error cudaMemcpyArrayToArray(Array* to, size_t to_x, size_t to_y, Array* from, size_t x, size_t y,
                                         size_t count, int kind) {
  if (!is_array(to)) return done(error_invalid_resource_handle);
  return copy_array_bytes(from, x, y, pointer_to(to->address + to_y * to->row_bytes() + to_x), count, kind, false,
                          nullptr, true);
}

// -- fills

MEMSIM_CUDA Error cudaMemset(void* pointer, int value, size_t bytes) {
  return run(fill_of(pointer, bytes, value, bytes, 1, 1, 0), nullptr);
}
MEMSIM_CUDA Error cudaMemsetAsync(void* pointer, int value, size_t bytes, StreamHandle stream) {
  return run(fill_of(pointer, bytes, value, bytes, 1, 1, 0), stream);
}
MEMSIM_CUDA Error cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return run(fill_of(pointer, pitch, value, width, height, 1, 0), nullptr);
}
MEMSIM_CUDA Error cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                                    StreamHandle stream) {
  return run(fill_of(pointer, pitch, value, width, height, 1, 0), stream);
}
MEMSIM_CUDA Error cudaMemset3D(PitchedPointer at, int value, CudaExtent extent) {
  return run(fill_of(at.ptr, at.pitch, value, extent.width, extent.height, extent.depth, at.pitch * at.ysize), nullptr);
}
MEMSIM_CUDA Error cudaMemset3DAsync(PitchedPointer at, int value, CudaExtent extent, StreamHandle stream) {
  return run(fill_of(at.ptr, at.pitch, value, extent.width, extent.height, extent.depth, at.pitch * at.ysize), stream);
}
