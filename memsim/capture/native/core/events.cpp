// Events: points of simulated time in a stream.

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {
constexpr uint32_t no_timing = 2, interprocess = 4;
}

Status create_event(uint32_t flags, Event** event) {
  if (flags > 7) return status::invalid_value;
  if ((flags & interprocess) && !(flags & no_timing)) return status::invalid_value;
  State& s = state();
  Lock hold(s.lock);
  *event = new Event;
  (*event)->flags = flags;
  s.events.insert(*event);
  return status::success;
}

bool is_event(const Event* event) {
  State& s = state();
  Lock hold(s.lock);
  return s.events.count(const_cast<Event*>(event)) != 0;
}

Status destroy_event(Event* event) {
  State& s = state();
  Lock hold(s.lock);
  if (!s.events.erase(event)) return status::invalid_handle;
  delete event;
  return status::success;
}

Status record_event(Event* event, Stream* stream, bool external) {
  if (!is_event(event)) return status::invalid_handle;
  Lock hold(state().lock);
  if (stream->capture && !external) {  // the event names the captured work; nothing is added to the graph
    event->capture = stream->capture;
    event->nodes = stream->last;
    return status::success;
  }
  return submit(stream, RecordEvent{event});
}

Status wait_event(Stream* stream, Event* event, bool external) {
  if (!is_event(event)) return status::invalid_handle;
  Lock hold(state().lock);
  if (event->capture && !external) {
    if (!state().captures.count(event->capture)) {  // its capture has ended
      return status::captured_event;
    }
    if (stream->capture && stream->capture != event->capture) {
      invalidate(*stream);
      event->capture->invalidated = true;
      return status::stream_capture_merge;
    }
    stream->capture = event->capture;  // joins
    stream->capture->streams.insert(stream);
    for (GraphNode* node : event->nodes)
      if (std::find(stream->last.begin(), stream->last.end(), node) == stream->last.end()) stream->last.push_back(node);
    return status::success;
  }
  if (stream->capture && !external) {
    invalidate(*stream);
    return status::stream_capture_isolation;
  }
  return submit(stream, WaitEvent{event});
}

Status synchronize_event(Event* event) {
  if (!is_event(event)) return status::invalid_handle;
  finish_launch();
  if (Status failed = ready()) return failed;
  State& s = state();
  Lock hold(s.lock);
  if (event->capture) {
    if (s.captures.count(event->capture)) event->capture->invalidated = true;
    return status::captured_event;
  }
  if (event->recorded) s.host_ns = std::max(s.host_ns, event->time_ns);
  return status::success;
}

// Everything recorded has happened: a query is a wait.
Status query_event(Event* event) { return synchronize_event(event); }

Status elapsed_ms(float* milliseconds, Event* start, Event* stop) {
  if (!is_event(start) || !is_event(stop)) return status::invalid_handle;
  if (!milliseconds) return status::invalid_value;
  Lock hold(state().lock);
  if (start->capture || stop->capture) return status::captured_event;
  if (!start->recorded || !stop->recorded || ((start->flags | stop->flags) & no_timing)) return status::invalid_handle;
  *milliseconds = float((double(stop->time_ns) - double(start->time_ns)) / 1e6);
  return ready();
}

}  // namespace memsim
