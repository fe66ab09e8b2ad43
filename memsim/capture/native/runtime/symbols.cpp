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

CheckedCopy to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  void* inner = nullptr;
  if (kind == to_host) return error_invalid_memcpy_direction;
  if (Error failed = inside(symbol, offset, bytes, &inner)) return failed;
  return make_line(inner, from, bytes, kind);
}
CheckedCopy from_symbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  void* inner = nullptr;
  if (kind == to_device) return error_invalid_memcpy_direction;
  if (Error failed = inside(symbol, offset, bytes, &inner)) return failed;
  return make_line(to, inner, bytes, kind);
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
MEMSIM_COPY_FUNCTIONS(cudaMemcpyToSymbol,
                      (const void* symbol, const void* from, size_t bytes, size_t offset, int kind),
                      to_symbol(symbol, from, bytes, offset, kind))
MEMSIM_COPY_FUNCTIONS(cudaMemcpyFromSymbol, (void* to, const void* symbol, size_t bytes, size_t offset, int kind),
                      from_symbol(to, symbol, bytes, offset, kind))
