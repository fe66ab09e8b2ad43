// Variables in device code (CUDA Runtime API, "Memory Management": the functions of symbols).

#include "common.h"

namespace memsim::runtime {

namespace {

// Memory at an offset in a variable; 0 with an error.
Error inside(const void* symbol, size_t offset, size_t bytes, void** pointer) {
  Variable variable;
  if (Status failed = ready()) return failed;
  if (Error failed = resolve_variable(symbol, &variable)) return failed;
  if (offset + bytes > variable.bytes) return error_invalid_value;
  *pointer = pointer_to(variable.address + offset);
  return success;
}

constexpr int to_host = int(Direction::device_to_host), to_device = int(Direction::host_to_device);

Error to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind, StreamHandle stream,
                bool wait) {
  void* inner = nullptr;
  if (kind == to_host || !is_copy_kind(kind)) return done(error_invalid_memcpy_direction);
  if (Error failed = inside(symbol, offset, bytes, &inner)) return done(failed);
  Copy copy = make_line(inner, from, bytes, kind);
  return done(wait ? submit_and_wait(stream_of(stream), copy) : submit(stream_of(stream), copy));
}

Error from_symbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind, StreamHandle stream, bool wait) {
  void* inner = nullptr;
  if (kind == to_device || !is_copy_kind(kind)) return done(error_invalid_memcpy_direction);
  if (Error failed = inside(symbol, offset, bytes, &inner)) return done(failed);
  Copy copy = make_line(to, inner, bytes, kind);
  return done(wait ? submit_and_wait(stream_of(stream), copy) : submit(stream_of(stream), copy));
}

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return done(pointer ? inside(symbol, 0, 0, pointer) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  Variable variable;
  if (!bytes) return done(error_invalid_value);
  if (Error failed = resolve_variable(symbol, &variable)) return done(failed);
  *bytes = variable.bytes;
  return success;
}
MEMSIM_CUDA Error cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  return to_symbol(symbol, from, bytes, offset, kind, nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, int kind,
                                          StreamHandle stream) {
  return to_symbol(symbol, from, bytes, offset, kind, stream, false);
}
MEMSIM_CUDA Error cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  return from_symbol(to, symbol, bytes, offset, kind, nullptr, true);
}
MEMSIM_CUDA Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, int kind,
                                            StreamHandle stream) {
  return from_symbol(to, symbol, bytes, offset, kind, stream, false);
}
