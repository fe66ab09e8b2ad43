// Streams and events (CUDA Runtime API, "Stream Management" and "Event Management").

#include <cstring>

#include "common.h"

namespace memsim::runtime {

namespace {

constexpr unsigned external_event = 1;  // cudaEventRecordExternal, cudaEventWaitExternal

Error on_stream(StreamHandle handle, Status (*function)(Stream*)) {
  Stream* stream = stream_of(handle);
  return done(stream ? function(stream) : Status(error_invalid_resource_handle));
}

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaStreamCreateWithPriority(StreamHandle* handle, unsigned flags, int priority) {
  if (!handle) return done(error_invalid_value);
  if (Status failed = ready()) return done(failed);
  Stream* stream = nullptr;
  Error failed = create_stream(flags, priority, &stream);
  if (!failed) *handle = stream;
  return done(failed);
}
MEMSIM_CUDA Error cudaStreamCreateWithFlags(StreamHandle* handle, unsigned flags) {
  return cudaStreamCreateWithPriority(handle, flags, 0);
}
MEMSIM_CUDA Error cudaStreamCreate(StreamHandle* handle) { return cudaStreamCreateWithPriority(handle, 0, 0); }

MEMSIM_CUDA Error cudaStreamDestroy(StreamHandle handle) {
  if (address_of(handle) <= 2) return done(error_invalid_resource_handle);
  Stream* stream = stream_of(handle);
  return done(stream ? destroy_stream(stream) : Status(error_invalid_resource_handle));
}

MEMSIM_CUDA Error cudaStreamSynchronize(StreamHandle handle) { return on_stream(handle, synchronize); }
MEMSIM_CUDA Error cudaStreamQuery(StreamHandle handle) { return on_stream(handle, query); }

MEMSIM_CUDA Error cudaStreamGetPriority(StreamHandle handle, int* priority) {
  Stream* stream = stream_of(handle);
  if (!stream || !priority) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  *priority = stream->priority;
  return success;
}
MEMSIM_CUDA Error cudaStreamGetFlags(StreamHandle handle, unsigned* flags) {
  Stream* stream = stream_of(handle);
  if (!stream || !flags) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  *flags = stream->flags;
  return success;
}
MEMSIM_CUDA Error cudaStreamGetId(StreamHandle handle, unsigned long long* id) {
  Stream* stream = stream_of(handle);
  if (!stream || !id) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  *id = stream->id;
  return success;
}
MEMSIM_CUDA Error cudaStreamGetDevice(StreamHandle handle, int* device) {
  Stream* stream = stream_of(handle);
  if (!stream || !device) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  *device = 0;
  return success;
}

MEMSIM_CUDA Error cudaStreamWaitEvent(StreamHandle handle, Event* event, unsigned flags) {
  Stream* stream = stream_of(handle);
  if (!stream || flags > external_event) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  return done(wait_event(stream, event, flags & external_event));
}

// Managed memory is visible to host and device alike.
MEMSIM_CUDA Error cudaStreamAttachMemAsync(StreamHandle handle, void* pointer, size_t, unsigned flags) {
  Allocation found;
  if (!stream_of(handle)) return done(error_invalid_resource_handle);
  bool known = find_allocation(address_of(pointer), &found) && found.kind == AllocationKind::managed;
  return done(known && (flags == 1 || flags == 2 || flags == 4) ? ready() : Status(error_invalid_value));
}

// -- attributes: kept, for they change no result

MEMSIM_CUDA Error cudaStreamSetAttribute(StreamHandle handle, int attribute, const AttributeValue* value) {
  Stream* stream = stream_of(handle);
  if (!stream || !value) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  stream->attributes[attribute].assign(value->bytes, value->bytes + sizeof *value);
  if (attribute == attribute_priority) stream->priority = value->number;
  return success;
}
MEMSIM_CUDA Error cudaStreamGetAttribute(StreamHandle handle, int attribute, AttributeValue* value) {
  Stream* stream = stream_of(handle);
  if (!stream || !value) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  memset(value, 0, sizeof *value);
  auto found = stream->attributes.find(attribute);
  if (found != stream->attributes.end()) memcpy(value, found->second.data(), sizeof *value);
  if (attribute == attribute_priority) value->number = stream->priority;
  return success;
}
MEMSIM_CUDA Error cudaStreamCopyAttributes(StreamHandle to, StreamHandle from) {
  Stream *target = stream_of(to), *source = stream_of(from);
  if (!target || !source) return done(error_invalid_resource_handle);
  target->attributes = source->attributes;
  return success;
}

// -- events

MEMSIM_CUDA Error cudaEventCreateWithFlags(Event** event, unsigned flags) {
  if (!event) return done(error_invalid_value);
  if (Status failed = ready()) return done(failed);
  return done(create_event(flags, event));
}
MEMSIM_CUDA Error cudaEventCreate(Event** event) { return cudaEventCreateWithFlags(event, 0); }
MEMSIM_CUDA Error cudaEventDestroy(Event* event) { return done(destroy_event(event)); }

MEMSIM_CUDA Error cudaEventRecordWithFlags(Event* event, StreamHandle handle, unsigned flags) {
  Stream* stream = stream_of(handle);
  if (!stream || flags > external_event) return done(stream ? error_invalid_value : error_invalid_resource_handle);
  return done(record_event(event, stream, flags & external_event));
}
MEMSIM_CUDA Error cudaEventRecord(Event* event, StreamHandle handle) {
  return cudaEventRecordWithFlags(event, handle, 0);
}
MEMSIM_CUDA Error cudaEventQuery(Event* event) { return done(query_event(event)); }
MEMSIM_CUDA Error cudaEventSynchronize(Event* event) { return done(synchronize_event(event)); }
MEMSIM_CUDA Error cudaEventElapsedTime(float* milliseconds, Event* start, Event* stop) {
  return done(elapsed_ms(milliseconds, start, stop));
}
MEMSIM_CUDA Error cudaEventElapsedTime_v2(float* milliseconds, Event* start, Event* stop) {
  return done(elapsed_ms(milliseconds, start, stop));
}
