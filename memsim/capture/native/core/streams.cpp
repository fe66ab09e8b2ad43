// Streams: clocks of simulated time.
//
// Operations are executed at the call and in order, so streams only decide when they would have run on a GPU: an
// operation begins when its stream is free and the host has issued it. The legacy default stream waits for all blocking
// streams and they for it (CUDA Runtime API, "Stream synchronization behavior").

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

constexpr uint32_t non_blocking = 1;

Stream* thread_stream() {
  static thread_local Stream* mine = nullptr;
  if (!mine) create_stream(0, 0, &mine);
  return mine;
}

}  // namespace

Stream* find_stream(const void* handle, bool per_thread) {
  auto number = reinterpret_cast<uintptr_t>(handle);
  State& s = state();
  if (number == 1 || (number == 0 && !per_thread)) {
    s.legacy.id = 1;
    return &s.legacy;
  }
  if (number == 2 || number == 0) return thread_stream();
  auto* stream = static_cast<Stream*>(const_cast<void*>(handle));
  Lock hold(s.lock);
  return s.streams.count(stream) || stream == &s.legacy ? stream : nullptr;
}

Status create_stream(uint32_t flags, int priority, Stream** stream) {
  if (flags > non_blocking) return status::invalid_value;
  State& s = state();
  Lock hold(s.lock);
  auto* made = new Stream;
  made->id = s.next_stream_id++;
  made->flags = flags;
  made->priority = std::clamp(priority, greatest_priority, least_priority);
  made->time_ns = 0;
  s.streams.insert(made);
  *stream = made;
  return status::success;
}

Status destroy_stream(Stream* stream) {
  State& s = state();
  Lock hold(s.lock);
  if (!s.streams.count(stream)) return status::invalid_handle;
  if (stream->capture) {
    stream->capture->invalidated = true;
    stream->capture->streams.erase(stream);
  }
  s.streams.erase(stream);
  delete stream;
  return status::success;
}

uint64_t start_of(Stream& stream) {
  State& s = state();
  uint64_t start = std::max(stream.time_ns, s.host_ns);
  if (&stream == &s.legacy) {
    for (const Stream* other : s.streams)
      if (!(other->flags & non_blocking)) start = std::max(start, other->time_ns);
  } else if (!(stream.flags & non_blocking)) {
    start = std::max(start, s.legacy.time_ns);
  }
  return start;
}

void finish(Stream& stream, uint64_t start, uint64_t ns) { stream.time_ns = start + ns; }

uint64_t idle_at() {
  State& s = state();
  uint64_t last = s.legacy.time_ns;
  for (const Stream* stream : s.streams) last = std::max(last, stream->time_ns);
  return last;
}

uint64_t host_time_ns() { return state().host_ns; }

Status synchronize(Stream* stream) {
  finish_launch();
  if (Status failed = ready()) return failed;
  State& s = state();
  Lock hold(s.lock);
  if (stream->capture) {
    invalidate(*stream);
    return status::stream_capture_unsupported;
  }
  tell_activity(protocol::Activity::wait_stream, *stream, 0);
  s.host_ns = std::max(s.host_ns, start_of(*stream));
  return status::success;
}

Status synchronize_device() {
  finish_launch();
  if (Status failed = ready()) return failed;
  State& s = state();
  Lock hold(s.lock);
  if (capture_forbids_synchronization()) {
    for (Capture* capture : s.captures) capture->invalidated = true;
    return status::stream_capture_unsupported;
  }
  tell_activity(protocol::Activity::wait_device, s.legacy, 0);
  s.host_ns = std::max(s.host_ns, idle_at());
  return status::success;
}

Status query(Stream* stream) {
  finish_launch();
  if (Status failed = ready()) return failed;
  State& s = state();
  Lock hold(s.lock);
  if (stream->capture) {
    invalidate(*stream);
    return status::stream_capture_unsupported;
  }
  // A program that polls must see an end: each query is host time until the operation is done.
  s.host_ns = std::max(s.host_ns, start_of(*stream));
  return status::success;
}

}  // namespace memsim
