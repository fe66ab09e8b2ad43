// Stream-ordered allocation (CUDA Runtime API, "Stream Ordered Memory Allocator").

#include "common.h"

namespace memsim::runtime {

namespace {

Error allocate_async(void** pointer, size_t bytes, Pool* pool, StreamHandle handle) {
  if (!pointer) return done(error_invalid_value);
  if (Status failed = ready()) return done(failed);
  uint64_t address = 0;
  Error failed = allocate_from_pool(pool, bytes, stream_of(handle), &address);
  if (!failed) *pointer = pointer_to(address);
  return done(failed);
}

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaMallocAsync(void** pointer, size_t bytes, StreamHandle stream) {
  return allocate_async(pointer, bytes, current_pool(), stream);
}
MEMSIM_CUDA Error cudaMallocFromPoolAsync(void** pointer, size_t bytes, Pool* pool, StreamHandle stream) {
  return allocate_async(pointer, bytes, pool, stream);
}
MEMSIM_CUDA Error cudaFreeAsync(void* pointer, StreamHandle stream) {
  if (!pointer) return done(error_invalid_value);
  return done(free_in_stream(address_of(pointer), stream_of(stream)));
}

MEMSIM_CUDA Error cudaMemPoolCreate(Pool** pool, const PoolProperties* properties) {
  if (!pool || !properties) return done(error_invalid_value);
  if (properties->handle_types) return done(unsupported("cudaMemPoolCreate with shareable handles"));
  *pool = create_pool();
  return done(ready());
}
