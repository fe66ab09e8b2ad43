// Stream capture: operations become nodes that depend on what the stream did last (CUDA C++ Programming Guide, "Creating
// a Graph Using Stream Capture").

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "state.h"

namespace memsim {

namespace {

constexpr int global_mode = 0, thread_local_mode = 1, relaxed_mode = 2;
thread_local int thread_mode = global_mode;

uint64_t this_thread() { return uint64_t(syscall(SYS_gettid)); }

// The capture itself is never freed: events that were recorded in it still name it.
void end(State& s, Capture* capture) {
  for (Stream* stream : capture->streams) {
    stream->capture = nullptr;
    stream->last.clear();
  }
  s.captures.erase(capture);
}

// Whether all that other streams captured was waited for by the origin.
bool is_joined(const Capture& capture) {
  std::set<const GraphNode*> reached;
  std::vector<const GraphNode*> open(capture.origin->last.begin(), capture.origin->last.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    for (const Edge& edge : node->dependencies) open.push_back(edge.from);
  }
  for (const Stream* stream : capture.streams)
    for (const GraphNode* node : stream->last)
      if (!reached.count(node)) return false;
  return true;
}

}  // namespace

Status begin_capture(Stream* stream, int mode, Graph* into, GraphNode* const* from, size_t n) {
  if (Status failed = ready()) return failed;
  State& s = state();
  Lock hold(s.lock);
  if (stream == &s.legacy) return status::stream_capture_unsupported;
  if (stream->capture) return status::illegal_state;
  if (mode < global_mode || mode > relaxed_mode || (into && !is_graph(into))) return status::invalid_value;
  auto* capture = new Capture;
  capture->id = s.next_capture_id++;
  capture->mode = mode;
  capture->graph = into ? into : create_graph();
  capture->owns_graph = !into;
  capture->origin = stream;
  capture->thread = this_thread();
  capture->streams.insert(stream);
  s.captures.insert(capture);
  stream->capture = capture;
  stream->last.assign(from, from + n);
  return status::success;
}

Status end_capture(Stream* stream, Graph** graph) {
  State& s = state();
  Lock hold(s.lock);
  *graph = nullptr;
  Capture* capture = stream->capture;
  if (!capture) return status::illegal_state;
  if (capture->origin != stream) return status::stream_capture_unmatched;
  if (capture->mode != relaxed_mode && capture->thread != this_thread()) return status::stream_capture_wrong_thread;
  bool invalid = capture->invalidated, joined = is_joined(*capture);
  end(s, capture);
  Graph* made = capture->graph;
  if (invalid || !joined) {
    if (capture->owns_graph) destroy_graph(made);
    return invalid ? status::stream_capture_invalidated : status::stream_capture_unjoined;
  }
  *graph = made;
  return status::success;
}

Status capture_operation(Stream& stream, Operation operation) {
  Capture& capture = *stream.capture;
  if (capture.invalidated) return status::stream_capture_invalidated;
  GraphNode* node = nullptr;
  Status failed = add_node(capture.graph, stream.last.data(), stream.last.size(), std::move(operation), &node);
  if (failed) {
    capture.invalidated = true;
    return failed;
  }
  stream.last.assign(1, node);
  return status::success;
}

void invalidate(Stream& stream) {
  if (stream.capture) stream.capture->invalidated = true;
}

bool capture_forbids_synchronization() {
  for (const Capture* capture : state().captures) {
    if (thread_mode == relaxed_mode) return false;
    if (capture->mode == relaxed_mode) continue;
    if (capture->mode == global_mode && thread_mode == global_mode) return true;
    if (capture->thread == this_thread()) return true;
  }
  return false;
}

CaptureStatus capture_status(const Stream* stream) {
  Lock hold(state().lock);
  if (!stream->capture) return CaptureStatus::none;
  return stream->capture->invalidated ? CaptureStatus::invalidated : CaptureStatus::active;
}

uint64_t capture_id(const Stream* stream) { return stream->capture ? stream->capture->id : 0; }
Graph* capture_graph(const Stream* stream) { return stream->capture ? stream->capture->graph : nullptr; }

Status set_capture_dependencies(Stream* stream, GraphNode* const* nodes, size_t n, bool replace) {
  Lock hold(state().lock);
  if (!stream->capture) return status::illegal_state;
  for (size_t i = 0; i < n; ++i)
    if (!is_node(nodes[i]) || nodes[i]->graph != stream->capture->graph) return status::invalid_value;
  if (replace) stream->last.clear();
  for (size_t i = 0; i < n; ++i)
    if (std::find(stream->last.begin(), stream->last.end(), nodes[i]) == stream->last.end())
      stream->last.push_back(nodes[i]);
  return status::success;
}

int exchange_capture_mode(int mode) { return std::exchange(thread_mode, mode); }

}  // namespace memsim
