// What the core keeps for this process. Never destroyed: programs call CUDA from atexit handlers and destructors.
#pragma once

#include <mutex>
#include <set>
#include <unordered_map>

#include "../gpu.h"
#include "../launch_reports.h"
#include "arena.h"
#include "ranges.h"
#include "wire.h"

namespace memsim {

struct Capture {
  uint64_t id = 0;
  int mode = 0;  // 0 global, 1 thread local, 2 relaxed
  Graph* graph = nullptr;
  bool owns_graph = true;
  bool invalidated = false;
  Stream* origin = nullptr;
  uint64_t thread = 0;
  std::set<Stream*> streams;
};

// A registered range of the program's own pages, which lie in the arena at another address.
struct RegisteredPages {
  uint64_t begin, end, arena_address;
};

// Of conditional nodes of graphs. Its handle is the address of its value.
struct Condition {
  unsigned initial = 0;
  bool assigned = false;  // gets its initial value at each launch of a graph
};
inline unsigned volatile& condition_value(uint64_t handle) { return *reinterpret_cast<unsigned volatile*>(handle); }
void reset_conditions();

struct State {
  std::recursive_mutex lock;

  // connection.cpp
  bool tried = false, connected = false, forked = false;
  int socket = -1;
  std::set<std::string> reported;
  DeviceProperties properties;
  Status fault = status::success;
  std::map<int, size_t> limits;
  bool is_running = false;  // a launch that waits for the host
  bool is_undisturbed = false;  // since the last launch, no copy and no call of the host
  uint64_t writes = 0;          // of device memory so far, of any kind: launches, copies, what the host computes
  uint64_t writes_sent = 0;     // at the latest report of allocations to the server

  // memory.cpp
  Arena* arena = nullptr;
  Ranges ranges;
  std::map<uint64_t, Allocation> allocations;  // by address
  std::map<uint64_t, uint64_t> offsets;        // of registered memory, by address: arena address
  std::map<uint64_t, Allocation> removed;      // since the last report to the server
  std::set<uint64_t> added;
  std::map<uint64_t, Allocation> graph_memory;  // of allocation nodes, by address
  uint64_t device_bytes = 0;
  uint64_t host_position = 0;
  std::set<uint64_t> sent_host_blocks;
  bool host_listed = false;
  std::map<uint64_t, RegisteredPages> registered_pages;  // by begin

  // pools.cpp
  std::set<Pool*> pools;
  Pool* default_pool = nullptr;
  Pool* current_pool = nullptr;

  // streams.cpp, events.cpp
  uint64_t host_ns = 0;
  uint64_t next_stream_id = 3;
  Stream legacy;
  std::set<Stream*> streams;  // made by the program or per thread; not the legacy one
  std::set<Event*> events;

  // modules.cpp
  std::set<Module*> modules;
  std::set<const void*> functions;

  // graphs.cpp, capture.cpp
  std::set<Graph*> graphs;
  std::set<GraphExec*> graph_execs;
  std::set<GraphNode*> nodes;
  std::set<Capture*> captures;
  std::map<uint64_t, Condition> conditions;  // by handle
  uint64_t next_capture_id = 1, next_node = 1;

  // arrays.cpp
  std::set<const void*> arrays;
  uint64_t next_texture = 1;

  // copies.cpp
  std::vector<Fill> known_fills;  // large ones whose memory nothing can have written since
};

State& state();
using Lock = std::lock_guard<std::recursive_mutex>;

struct Reply {
  Status status = status::unknown;
  std::vector<uint8_t> payload;
};
// Sends a request and waits for its reply; `unknown` when the server is gone.
Reply request(protocol::Kind kind, const Writer& payload);
void send_only(protocol::Kind kind, const Writer& payload);

// connection.cpp
bool connect_once();
void parse_properties(const std::string& lines);

// memory.cpp
void send_allocations();  // before a launch
Arena& arena();
// Checks that device memory [address, address + bytes) lies in one allocation. Memory outside the arena passes when
// `host_too`: it is the program's own.
Status check_memory(uint64_t address, uint64_t bytes, bool host_too);
void forget_host_registrations();

// streams.cpp
uint64_t start_of(Stream& stream);                       // when an operation that is issued now begins
void finish(Stream& stream, uint64_t start, uint64_t ns);  // it ends so much later
uint64_t idle_at();                                      // when all streams are

// launches.cpp
void finish_launch();  // waits for a launch that is running

// submit.cpp
Status execute(Stream& stream, const Operation& operation);
uint64_t copy_ns(const Copy& copy);
protocol::Activity activity_of(const Copy& copy);
void tell_activity(protocol::Activity kind, const Stream& stream, uint64_t bytes);
Status run_copy(const Copy& copy);
Status run_fill(const Fill& fill);
void forget_fills();  // device memory may change
Status check_copy(const Copy& copy);
Status check_fill(const Fill& fill);
Status check_launch(const Launch& launch);
Status run_launch(Stream& stream, const Launch& launch, uint64_t* ns);
// launch_reports.cpp: reports the begin and the end of one launch to who observes them.
bool launches_are_observed();
class LaunchReports {
 public:
  LaunchReports(const Stream& stream, const Launch& launch);
  void end(uint64_t start_ns, uint64_t ns);

 private:
  MemsimLaunchReport report_{};
};

// graph_exec.cpp
Status run_graph(const Graph& graph, Stream& stream);
// capture.cpp
Status capture_operation(Stream& stream, Operation operation);
void invalidate(Stream& stream);
// True when a synchronous call is illegal now because a stream of a global or this thread's capture is active.
bool capture_forbids_synchronization();

}  // namespace memsim
