// Streams, events and memory operations of streams (CUDA Driver API, "Stream Management", "Event Management", "Stream
// Memory Operations").
#include <cstring>
#include <type_traits>
#include <vector>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

constexpr unsigned external_flag = 1;  // CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL
constexpr int priority_attribute = 8;

}  // namespace

#define MEMSIM_FIND_STREAM(name, handle)  \
  Stream* name = stream_of(handle);       \
  MEMSIM_REQUIRE(name, invalid_handle)

CU cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  MEMSIM_REQUIRE(stream && flags <= 1, invalid_value);
  MEMSIM_RETURN_IF(ready());
  return create_stream(flags, priority, stream);
}
CU cuStreamCreate(Stream** stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }
CU cuStreamDestroy_v2(void* handle) {
  MEMSIM_REQUIRE(address_of(handle) > 2, invalid_handle);  // not one of the default streams
  MEMSIM_FIND_STREAM(stream, handle);
  return destroy_stream(stream);
}
CU cuStreamSynchronize(void* handle) {
  MEMSIM_FIND_STREAM(stream, handle);
  return synchronize(stream);
}
CU cuStreamQuery(void* handle) {
  MEMSIM_FIND_STREAM(stream, handle);
  return query(stream);
}
CU cuStreamGetPriority(void* handle, int* priority) {
  MEMSIM_FIND_STREAM(stream, handle);
  return give(priority, stream->priority);
}
CU cuStreamGetFlags(void* handle, unsigned* flags) {
  MEMSIM_FIND_STREAM(stream, handle);
  return give(flags, stream->flags);
}
CU cuStreamGetId(void* handle, uint64_t* id) {
  MEMSIM_FIND_STREAM(stream, handle);
  return give(id, stream->id);
}
CU cuStreamGetDevice(void* handle, int* device) {
  MEMSIM_FIND_STREAM(stream, handle);
  return give(device, first_device);
}
CU cuStreamGetCtx(void* handle, Context** context) {
  MEMSIM_FIND_STREAM(stream, handle);
  return give(context, current_context() ? current_context() : primary_context());
}
CU cuStreamGetCtx_v2(void* handle, Context** context, void** green) {
  if (green) *green = nullptr;
  return cuStreamGetCtx(handle, context);
}
CU cuStreamGetGreenCtx(void* handle, void** green) {
  MEMSIM_REQUIRE(green, invalid_value);
  *green = nullptr;
  return stream_of(handle) ? status::success : status::invalid_handle;
}
CU cuStreamWaitEvent(void* handle, Event* event, unsigned flags) {
  MEMSIM_FIND_STREAM(stream, handle);
  MEMSIM_REQUIRE(flags <= external_flag, invalid_value);
  return wait_event(stream, event, flags & external_flag);
}
CU cuStreamAddCallback(void* handle, void (*callback)(void*, int, void*), void* data, unsigned flags) {
  MEMSIM_REQUIRE(callback && !flags, invalid_value);
  MEMSIM_FIND_STREAM(stream, handle);
  HostCall call;
  call.with_status = [=](Status result) { callback(handle, result, data); };
  return submit(stream, std::move(call));
}
CU cuStreamSetAttribute(void* handle, int attribute, const void* value) {
  MEMSIM_REQUIRE(value, invalid_value);
  MEMSIM_FIND_STREAM(stream, handle);
  auto* bytes = static_cast<const uint8_t*>(value);
  stream->attributes[attribute].assign(bytes, bytes + 64);
  if (attribute == priority_attribute) memcpy(&stream->priority, value, sizeof stream->priority);
  return status::success;
}
CU cuStreamGetAttribute(void* handle, int attribute, void* value) {
  MEMSIM_REQUIRE(value, invalid_value);
  MEMSIM_FIND_STREAM(stream, handle);
  auto found = stream->attributes.find(attribute);
  memset(value, 0, 64);
  if (found != stream->attributes.end()) memcpy(value, found->second.data(), found->second.size());
  if (attribute == priority_attribute) memcpy(value, &stream->priority, sizeof stream->priority);
  return status::success;
}
CU cuStreamCopyAttributes(void* to, void* from) {
  MEMSIM_FIND_STREAM(target, to);
  MEMSIM_FIND_STREAM(source, from);
  target->attributes = source->attributes;
  return status::success;
}

// -- capture ------------------------------------------------------------------------------------------------------------------

CU cuStreamBeginCapture_v2(void* handle, int mode) {
  MEMSIM_FIND_STREAM(stream, handle);
  return begin_capture(stream, mode);
}
CU cuStreamBeginCapture(void* handle) { return cuStreamBeginCapture_v2(handle, 0); }
CU cuStreamBeginCaptureToGraph(void* handle, Graph* graph, GraphNode* const* nodes, const EdgeData*, size_t n,
                               int mode) {
  MEMSIM_FIND_STREAM(stream, handle);
  MEMSIM_REQUIRE(is_graph(graph), invalid_value);
  return begin_capture(stream, mode, graph, nodes, n);
}
CU cuStreamEndCapture(void* handle, Graph** graph) {
  MEMSIM_REQUIRE(graph, invalid_value);
  MEMSIM_FIND_STREAM(stream, handle);
  return end_capture(stream, graph);
}
CU cuStreamIsCapturing(void* handle, int* state) {
  MEMSIM_FIND_STREAM(stream, handle);
  return give(state, int(capture_status(stream)));
}
CU cuThreadExchangeStreamCaptureMode(int* mode) {
  MEMSIM_REQUIRE(mode && *mode >= 0 && *mode <= 2, invalid_value);
  *mode = exchange_capture_mode(*mode);
  return status::success;
}
CU cuStreamGetCaptureInfo_v3(void* handle, int* state, uint64_t* id, Graph** graph, GraphNode*** nodes,
                             const EdgeData** edges, size_t* n) {
  MEMSIM_REQUIRE(state, invalid_value);
  MEMSIM_FIND_STREAM(stream, handle);
  *state = int(capture_status(stream));
  if (*state != int(CaptureStatus::active)) return status::success;
  if (id) *id = capture_id(stream);
  if (graph) *graph = capture_graph(stream);
  if (nodes) *nodes = stream->last.data();
  if (n) *n = stream->last.size();
  static thread_local std::vector<EdgeData> data;  // valid until the thread's next call
  data.assign(stream->last.size(), EdgeData{});
  if (edges) *edges = data.data();
  return status::success;
}
CU cuStreamGetCaptureInfo_v2(void* handle, int* state, uint64_t* id, Graph** graph, GraphNode*** nodes, size_t* n) {
  return cuStreamGetCaptureInfo_v3(handle, state, id, graph, nodes, nullptr, n);
}
CU cuStreamGetCaptureInfo(void* handle, int* state, uint64_t* id) {
  return cuStreamGetCaptureInfo_v3(handle, state, id, nullptr, nullptr, nullptr, nullptr);
}
CU cuStreamUpdateCaptureDependencies_v2(void* handle, GraphNode* const* nodes, const EdgeData*, size_t n,
                                        unsigned flags) {
  MEMSIM_FIND_STREAM(stream, handle);
  MEMSIM_REQUIRE(flags <= 1, invalid_value);
  return set_capture_dependencies(stream, nodes, n, flags & 1);
}
CU cuStreamUpdateCaptureDependencies(void* handle, GraphNode* const* nodes, size_t n, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(handle, nodes, nullptr, n, flags);
}

// -- events -------------------------------------------------------------------------------------------------------------------

#define MEMSIM_CHECK_EVENT(event) MEMSIM_REQUIRE(is_event(event), invalid_handle)

CU cuEventCreate(Event** event, unsigned flags) {
  MEMSIM_REQUIRE(event && flags < 8, invalid_value);
  MEMSIM_RETURN_IF(ready());
  return create_event(flags, event);
}
CU cuEventDestroy_v2(Event* event) {
  MEMSIM_CHECK_EVENT(event);
  return destroy_event(event);
}
CU cuEventRecordWithFlags(Event* event, void* handle, unsigned flags) {
  MEMSIM_CHECK_EVENT(event);
  MEMSIM_FIND_STREAM(stream, handle);
  MEMSIM_REQUIRE(flags <= external_flag, invalid_value);
  return record_event(event, stream, flags & external_flag);
}
CU cuEventRecord(Event* event, void* handle) { return cuEventRecordWithFlags(event, handle, 0); }
CU cuEventQuery(Event* event) {
  MEMSIM_CHECK_EVENT(event);
  return query_event(event);
}
CU cuEventSynchronize(Event* event) {
  MEMSIM_CHECK_EVENT(event);
  return synchronize_event(event);
}
CU cuEventElapsedTime_v2(float* milliseconds, Event* start, Event* end) {
  MEMSIM_REQUIRE(milliseconds, invalid_value);
  MEMSIM_CHECK_EVENT(start);
  MEMSIM_CHECK_EVENT(end);
  return elapsed_ms(milliseconds, start, end);
}
CU cuCtxRecordEvent(Context*, Event* event) { return cuEventRecord(event, nullptr); }
CU cuCtxWaitEvent(Context*, Event* event) { return cuStreamWaitEvent(nullptr, event, 0); }
struct IpcEventHandle {
  char bytes[64];
};
CU cuIpcGetEventHandle(IpcEventHandle* handle, Event* event) {
  MEMSIM_REQUIRE(handle, invalid_value);
  MEMSIM_CHECK_EVENT(event);
  memset(handle, 0, sizeof *handle);
  memcpy(handle->bytes, &event, sizeof event);
  return status::success;
}
CU cuIpcOpenEventHandle(Event** event, IpcEventHandle handle) {
  MEMSIM_REQUIRE(event, invalid_value);
  memcpy(event, handle.bytes, sizeof *event);
  return is_event(*event) ? status::success : status::invalid_handle;
}

// -- values in memory: what was submitted before has been executed, so a wait must find its value ------------------------------

namespace {

enum WaitCondition { at_least = 0, equal = 1, any_bit = 2, nor = 3 };

template <class T>
bool holds(T found, T value, unsigned flags) {
  using Signed = std::make_signed_t<T>;
  switch (flags & 3) {
    case at_least: return Signed(found - value) >= 0;
    case equal: return found == value;
    case any_bit: return (found & value) != 0;
    default: return T(~(found | value)) != 0;
  }
}
template <class T>
int wait_value(void* handle, uint64_t address, T value, unsigned flags) {
  MEMSIM_FIND_STREAM(stream, handle);
  HostCall call;
  call.with_status = [=](Status) {
    T found;
    memcpy(&found, reinterpret_cast<const void*>(address), sizeof found);
    if (!holds(found, value, flags)) note("cuStreamWaitValue did not find its value: everything runs in order of calls");
  };
  return submit(stream, std::move(call));
}
template <class T>
int write_value(void* handle, uint64_t address, T value) {
  MEMSIM_FIND_STREAM(stream, handle);
  HostCall call;
  call.with_status = [=](Status) { memcpy(reinterpret_cast<void*>(address), &value, sizeof value); };
  return submit(stream, std::move(call));
}

// CUstreamBatchMemOpParams: six words, the operation first.
struct BatchOperation {
  int operation, padding;
  uint64_t address, value;
  unsigned flags, more_padding;
  uint64_t alias, last;
};
enum BatchOperationKind { wait_32 = 1, write_32 = 2, wait_64 = 4, write_64 = 5 };

}  // namespace

CU cuStreamWaitValue32_v2(void* s, uint64_t address, uint32_t value, unsigned flags) {
  return wait_value(s, address, value, flags);
}
CU cuStreamWaitValue64_v2(void* s, uint64_t address, uint64_t value, unsigned flags) {
  return wait_value(s, address, value, flags);
}
CU cuStreamWriteValue32_v2(void* s, uint64_t address, uint32_t value, unsigned) { return write_value(s, address, value); }
CU cuStreamWriteValue64_v2(void* s, uint64_t address, uint64_t value, unsigned) { return write_value(s, address, value); }
CU cuStreamBatchMemOp_v2(void* s, unsigned n, const BatchOperation* operations, unsigned) {
  MEMSIM_REQUIRE(operations, invalid_value);
  for (unsigned i = 0; i < n; ++i) {
    const BatchOperation& one = operations[i];
    switch (one.operation) {
      case wait_32: MEMSIM_RETURN_IF(wait_value(s, one.address, uint32_t(one.value), one.flags)); break;
      case wait_64: MEMSIM_RETURN_IF(wait_value(s, one.address, one.value, one.flags)); break;
      case write_32: MEMSIM_RETURN_IF(write_value(s, one.address, uint32_t(one.value))); break;
      case write_64: MEMSIM_RETURN_IF(write_value(s, one.address, one.value)); break;
      default: break;  // barriers and flushes
    }
  }
  return status::success;
}
