// Operations: checked, then executed now or added to the graph of a capture.

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

// Executes one kind of operation; the stream's clock moves on by what it takes.
struct Execution {
  Stream& stream;

  Status operator()(const Launch& launch) const {
    State& s = state();
    s.host_ns += uint64_t(s.properties.launch_overhead_ns);
    uint64_t start = start_of(stream), ns = 0;
    LaunchReports reports(stream, launch);
    Status result = run_launch(stream, launch, &ns);
    finish(stream, start, ns);
    reports.end(start, ns);
    return result;
  }
  Status operator()(const Copy& copy) const {
    finish_launch();
    state().is_undisturbed = false;
    ++state().writes;
    forget_fills();
    tell_activity(activity_of(copy), stream, copy.width_bytes * copy.height * copy.depth);
    uint64_t start = start_of(stream), ns = copy_ns(copy);
    Status result = run_copy(copy);
    finish(stream, start, ns);
    return result;
  }
  Status operator()(const Fill& fill) const {
    const DeviceProperties& p = state().properties;
    finish_launch();
    ++state().writes;
    uint64_t start = start_of(stream);
    uint64_t bytes = uint64_t(fill.width) * fill.element_bytes * fill.height * fill.depth;
    tell_activity(protocol::Activity::fill, stream, bytes);
    Status result = run_fill(fill);
    finish(stream, start, uint64_t(p.copy_latency_ns + double(bytes) / (2 * std::max(p.copy_bytes_per_us_d2d, 1.0)) * 1e3));
    return result;
  }
  Status operator()(const RecordEvent& record) const {
    if (!is_event(record.event)) return status::invalid_handle;
    record.event->recorded = true;
    record.event->capture = nullptr;
    record.event->nodes.clear();
    record.event->time_ns = start_of(stream);
    stream.time_ns = std::max(stream.time_ns, record.event->time_ns);
    return status::success;
  }
  Status operator()(const WaitEvent& wait) const {
    if (!is_event(wait.event)) return status::invalid_handle;
    if (wait.event->recorded) stream.time_ns = std::max(stream.time_ns, wait.event->time_ns);
    return status::success;
  }
  Status operator()(const ChildGraph& child) const { return run_graph(*child.graph, stream); }
  Status operator()(const AllocateMemory& made) const {
    renew_for_graph(made.address);
    return status::success;
  }
  Status operator()(const FreeMemory& freed) const {
    return state().graph_memory.count(freed.address) ? release(freed.address) : Status(status::success);
  }
  Status operator()(const Nothing&) const { return status::success; }
  Status operator()(const HostCall&) const { return status::success; }  // see execute
  Status operator()(const Conditional& conditional) const {
    auto value = [&] { return condition_value(conditional.handle); };
    constexpr unsigned if_kind = 0, while_kind = 1;
    if (conditional.kind == int(while_kind)) {
      while (value())
        if (Status failed = run_graph(*conditional.bodies[0], stream)) return failed;
      return status::success;
    }
    size_t body = conditional.kind == int(if_kind) ? (value() ? 0 : 1) : value();
    return body < conditional.bodies.size() ? run_graph(*conditional.bodies[body], stream) : status::success;
  }
};

struct Check {
  static Status known(const Event* event) { return is_event(event) ? status::success : status::invalid_value; }
  Status operator()(const Launch& launch) const { return check_launch(launch); }
  Status operator()(const Copy& copy) const { return check_copy(copy); }
  Status operator()(const Fill& fill) const { return check_fill(fill); }
  Status operator()(const HostCall& call) const {
    return call.function || call.with_status ? status::success : status::invalid_value;
  }
  Status operator()(const RecordEvent& record) const { return known(record.event); }
  Status operator()(const WaitEvent& wait) const { return known(wait.event); }
  template <typename Other>
  Status operator()(const Other&) const {
    return status::success;
  }
};

}  // namespace

Status check(const Operation& operation) { return std::visit(Check{}, operation); }

Status execute(Stream& stream, const Operation& operation) {
  if (const auto* call = std::get_if<HostCall>(&operation)) {
    // Without the lock: the function may wait for another thread that calls CUDA.
    state().is_undisturbed = false;
    ++state().writes;
    forget_fills();
    if (call->function) call->function(call->data);
    if (call->with_status) call->with_status(state().fault);
    return status::success;
  }
  Lock hold(state().lock);
  return std::visit(Execution{stream}, operation);
}

Status submit(Stream* stream, Operation operation) {
  if (!stream) return status::invalid_handle;
  if (Status failed = ready()) return failed;
  if (Status refused = check(operation)) return refused;
  State& s = state();
  {
    Lock hold(s.lock);
    if (stream->capture) return capture_operation(*stream, std::move(operation));
    if (stream == &s.legacy)  // it would wait for the streams that are captured
      for (Capture* capture : s.captures)
        for (Stream* other : capture->streams)
          if (capture->mode != 2 && !(other->flags & 1)) {
            capture->invalidated = true;
            return status::stream_capture_implicit;
          }
  }
  return execute(*stream, operation);
}

Status submit_and_wait(Stream* stream, Operation operation) {
  if (!stream) return status::invalid_handle;
  if (Status failed = ready()) return failed;
  {
    Lock hold(state().lock);
    if (stream->capture || capture_forbids_synchronization()) {
      if (stream->capture) invalidate(*stream);
      return stream->capture ? status::stream_capture_unsupported : status::stream_capture_implicit;
    }
  }
  if (Status failed = submit(stream, std::move(operation))) return failed;
  return synchronize(stream);
}

}  // namespace memsim
