// The core's interface: what libcudart (runtime/) and the driver API (driver/) are made of.
//
// Everything is executed at the call. A stream is a clock of simulated time and, while it is captured, the graph that
// collects its operations. All functions are thread safe; they return numbers on which CUresult and cudaError agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol.h"

#define MEMSIM_API __attribute__((visibility("default")))

namespace memsim {

using Status = int;

namespace status {
constexpr Status success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3, deinitialized = 4,
                 no_device = 100, invalid_device = 101, invalid_image = 200, invalid_context = 201,
                 no_binary_for_gpu = 209, invalid_ptx = 218, invalid_source = 300, file_not_found = 301,
                 shared_object_symbol_not_found = 302, invalid_handle = 400, illegal_state = 401, not_found = 500,
                 not_ready = 600, illegal_address = 700, launch_out_of_resources = 701, launch_timeout = 702,
                 peer_access_already_enabled = 704, peer_access_not_enabled = 705, assert_failed = 710,
                 host_memory_already_registered = 712, host_memory_not_registered = 713, hardware_stack_error = 714,
                 illegal_instruction = 715, misaligned_address = 716, invalid_address_space = 717, invalid_pc = 718,
                 launch_failed = 719, cooperative_launch_too_large = 720, not_permitted = 800, not_supported = 801,
                 stream_capture_unsupported = 900, stream_capture_invalidated = 901, stream_capture_merge = 902,
                 stream_capture_unmatched = 903, stream_capture_unjoined = 904, stream_capture_isolation = 905,
                 stream_capture_implicit = 906, captured_event = 907, stream_capture_wrong_thread = 908,
                 graph_exec_update_failure = 910, unknown = 999;
}  // namespace status

using protocol::AllocationKind;

struct Stream;
struct Event;
struct Graph;
struct GraphExec;
struct GraphNode;
struct Module;

struct Extent3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t volume() const { return uint64_t(x) * y * z; }
};

// -- device -----------------------------------------------------------------------------------------------------------

// The chosen GPU. Names are those of the reply to hello; a field the server does not send keeps this default.
struct DeviceProperties {
  std::string name = "memsim GPU";
  int compute_capability_major = 8, compute_capability_minor = 0;
  int has_persisting_l2 = 1, has_clusters = 0;
  int sms = 108;
  int clock_khz = 1410000, memory_clock_khz = 1215000, memory_bus_bits = 5120;
  uint64_t memory_bytes = uint64_t(40) << 30;
  int l2_bytes = 40 << 20;
  int shared_per_sm = 167936, shared_per_block = 49152, shared_per_block_optin = 166912, reserved_shared_per_block = 1024;
  int registers_per_sm = 65536, registers_per_block = 65536;
  int max_threads_per_sm = 2048, max_threads_per_block = 1024, max_blocks_per_sm = 32, warp_size = 32;
  int launch_overhead_ns = 2500;
  int copy_latency_ns = 1500;
  double copy_bytes_per_us_h2d = 24000, copy_bytes_per_us_d2h = 24000, copy_bytes_per_us_d2d = 0;  // 0: from the memory clock
};

// success, or no_device (no server, or after fork), or the sticky error of a kernel that faulted.
MEMSIM_API Status ready();
MEMSIM_API bool has_device();  // connects to the server on first use
MEMSIM_API const DeviceProperties& device_properties();
// The value of CUdevice_attribute / cudaDeviceAttr (the numbers agree); false: unknown.
MEMSIM_API bool device_attribute(int attribute, int* value);
// Like device_attribute, as the properties' text names: what CUDA reports as UUID, PCI bus, driver version.
constexpr int driver_version = 13000;
MEMSIM_API void device_uuid(unsigned char uuid[16]);
// Forget all allocations, modules and a fault: cudaDeviceReset, cuDevicePrimaryCtxReset.
MEMSIM_API void reset_device();
MEMSIM_API Status sticky_error();  // success while no kernel has faulted

// An API function that nobody implemented was called: reported once per name. Returns not_supported.
MEMSIM_API Status unsupported(const char* name);
MEMSIM_API void note(const std::string& line);

// Per-device limits (cudaLimit / CUlimit numbers).
constexpr int limit_stack = 0;                         // bytes of a thread's stack
constexpr size_t most_local_bytes = size_t(512) << 10;  // of a thread, on every GPU
MEMSIM_API Status get_limit(int limit, size_t* value);
MEMSIM_API Status set_limit(int limit, size_t value);

// -- memory -----------------------------------------------------------------------------------------------------------

struct Allocation {
  uint64_t address = 0, bytes = 0, sequence = 0;
  AllocationKind kind = AllocationKind::device;
  uint32_t flags = 0;   // cudaHostAlloc, cudaHostRegister or cudaMallocManaged's
  bool registered = false;  // cudaHostRegister: the program's own memory
  uint64_t pool = 0;    // handle of the memory pool it came from
  std::string name;
};

// Allocates device memory of the process (512-byte aligned unless more is asked for). 0 bytes: address 0.
MEMSIM_API Status allocate(AllocationKind kind, uint64_t bytes, uint64_t* address, uint32_t flags = 0,
                           uint64_t alignment = 512, std::string name = {});
// Frees what begins at the address; invalid_value if nothing of these kinds does. Address 0 does nothing.
MEMSIM_API Status release(uint64_t address);
// Memory of a graph's allocation node: its address stays the graph's when it is freed, and each launch makes it anew.
MEMSIM_API void keep_for_graph(uint64_t address);
MEMSIM_API void renew_for_graph(uint64_t address);
// The allocation that holds the address (also a preloaded malloc's block in Python); false: none.
MEMSIM_API bool find_allocation(uint64_t address, Allocation* found);
// Sets the pool an allocation belongs to, or other bookkeeping kept in flags.
MEMSIM_API void set_allocation_pool(uint64_t address, uint64_t pool);
MEMSIM_API void memory_info(uint64_t* free_bytes, uint64_t* total_bytes);
MEMSIM_API Status register_host(uint64_t address, uint64_t bytes, uint32_t flags);
MEMSIM_API Status unregister_host(uint64_t address);

// Virtual memory management: reserves addresses, then makes parts of them accessible as device memory. What lay in a
// placed part stays in memory until the range is freed, so that a handle's data can be copied when it moves.
MEMSIM_API Status reserve_range(uint64_t bytes, uint64_t alignment, uint64_t* address);
MEMSIM_API Status free_range(uint64_t address);
MEMSIM_API Status place_allocation(uint64_t address, uint64_t bytes, AllocationKind kind);
MEMSIM_API Status remove_placed(uint64_t address);

// -- arrays -----------------------------------------------------------------------------------------------------------

// CUDA arrays lie row by row; a mipmapped array is its levels one behind the other.
struct Array {
  uint64_t address = 0;
  uint64_t width = 0, height = 0, depth = 0;  // texels; 0: the dimension does not exist
  int bits[4] = {0, 0, 0, 0};                 // of x, y, z, w
  uint32_t channel_kind = 0;                  // 0 signed, 1 unsigned, 2 float
  uint32_t flags = 0;                         // cudaArray*: 1 layered, 2 surface, 4 cube map, 8 gather
  uint32_t driver_format = 0;                 // CUarray_format, for cuArrayGetDescriptor
  std::shared_ptr<uint64_t> storage;          // shared by the levels of a mipmapped array
  uint64_t texel_bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8; }
  uint64_t row_bytes() const { return width * texel_bytes(); }
  uint64_t rows() const { return height ? height : 1; }
  uint64_t slices() const { return depth ? depth : 1; }
  uint64_t slice_bytes() const { return row_bytes() * rows(); }
  uint64_t bytes() const { return slice_bytes() * slices(); }
};
struct MipmappedArray {
  std::vector<Array*> levels;
};

MEMSIM_API Status create_array(Array description, Array** array);
MEMSIM_API Status destroy_array(Array* array);
MEMSIM_API bool is_array(const void* handle);
MEMSIM_API Status create_mipmapped_array(Array description, unsigned levels, MipmappedArray** array);
MEMSIM_API Status destroy_mipmapped_array(MipmappedArray* array);

// Texture and surface objects.
struct MEMSIM_API TextureDescription {
  bool surface = false;
  protocol::TextureResource resource = protocol::TextureResource::linear;
  uint64_t address = 0, width = 0, height = 0, depth = 0, row_bytes = 0, slice_bytes = 0;
  int bits[4] = {0, 0, 0, 0};
  uint32_t channel_kind = 0, array_flags = 0, levels = 1;
  uint32_t address_mode[3] = {0, 0, 0}, filter = 0, read_mode = 0, srgb = 0;
  float border[4] = {0, 0, 0, 0};
  uint32_t normalized = 0, max_anisotropy = 0, mipmap_filter = 0;
  float mipmap_bias = 0, min_level = 0, max_level = 0;
  void set_array(const Array& array);
};
MEMSIM_API Status create_texture(const TextureDescription& description, uint64_t* id);
MEMSIM_API Status destroy_texture(uint64_t id, bool surface);

// -- operations: what streams execute and graphs collect ----------------------------------------------------------------

struct MEMSIM_API CopySide {
  Array* array = nullptr;           // else address
  uint64_t address = 0, pitch = 0, rows = 0;
  uint64_t row_width = 0;           // cudaPitchedPtr::xsize
  uint64_t x_bytes = 0, y = 0, z = 0;
  uint64_t first_byte() const;
  uint64_t row_pitch() const;
  uint64_t slice_pitch() const;
};
enum class Direction : int { host_to_host = 0, host_to_device = 1, device_to_host = 2, device_to_device = 3, automatic = 4 };
struct Copy {
  CopySide source, destination;
  uint64_t width_bytes = 0, height = 1, depth = 1;
  Direction direction = Direction::automatic;
};
struct Fill {
  uint64_t address = 0, pitch = 0;
  uint32_t value = 0, element_bytes = 1;
  uint64_t width = 0, height = 1, depth = 1, slice_pitch = 0;  // width in elements
};
struct Function;
struct Launch {
  Function* function = nullptr;
  Extent3 grid, block;
  Extent3 cluster{0, 0, 0};      // 0: none
  uint32_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<uint8_t> parameters;  // packed as the kernel's parameter space
  std::string where;             // call site
  int priority = 0;
};
struct HostCall {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  std::function<void(Status)> with_status;  // cudaStreamAddCallback
};
struct RecordEvent {
  Event* event = nullptr;
};
struct WaitEvent {
  Event* event = nullptr;
};
struct AllocateMemory {
  uint64_t address = 0, bytes = 0, pool = 0;
};
struct FreeMemory {
  uint64_t address = 0;
};
struct ChildGraph {
  Graph* graph = nullptr;
};
struct Nothing {};
struct Conditional {
  uint64_t handle = 0;  // the address of its value, which kernels set
  int kind = 0;  // 0 if, 1 while, 2 switch
  std::vector<Graph*> bodies;
};
// The order is that of kinds of graph nodes; see graphs.cpp.
using Operation = std::variant<Launch, Copy, Fill, HostCall, ChildGraph, Nothing, WaitEvent, RecordEvent, AllocateMemory,
                               FreeMemory, Conditional>;

// Executes an operation in a stream now, or adds it to the graph that the stream is captured into. Checks its arguments.
MEMSIM_API Status submit(Stream* stream, Operation operation);
// The same, and the host waits for it (cudaMemcpy): an error while the stream is captured.
MEMSIM_API Status submit_and_wait(Stream* stream, Operation operation);
// Checks without executing; kernel launches that CUDA refuses (cudaErrorInvalidConfiguration is 9, see runtime).
MEMSIM_API Status check(const Operation& operation);

// -- streams and events ---------------------------------------------------------------------------------------------------

enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };
struct Capture;  // of a set of streams into one graph
struct Stream {
  uint64_t id = 0;
  uint32_t flags = 0;      // 1: does not synchronize with the legacy default stream
  int priority = 0;
  uint64_t time_ns = 0;    // at which its last operation ends
  Capture* capture = nullptr;
  std::vector<GraphNode*> last;  // nodes that the next captured node depends on
  std::map<int, std::vector<uint8_t>> attributes;
};
struct Event {
  uint32_t flags = 0;  // 1 blocking sync, 2 no timing, 4 interprocess
  bool recorded = false;
  uint64_t time_ns = 0;
  Capture* capture = nullptr;  // recorded in a captured stream
  std::vector<GraphNode*> nodes;
};

// Handles: 0 the legacy default stream (or the thread's with per_thread), 1 legacy, 2 per thread, else a Stream.
// nullptr: not a stream.
MEMSIM_API Stream* find_stream(const void* handle, bool per_thread = false);
MEMSIM_API Status create_stream(uint32_t flags, int priority, Stream** stream);
MEMSIM_API Status destroy_stream(Stream* stream);
MEMSIM_API Status synchronize(Stream* stream);
MEMSIM_API Status synchronize_device();
MEMSIM_API Status query(Stream* stream);
constexpr int greatest_priority = -5, least_priority = 0;

MEMSIM_API Status create_event(uint32_t flags, Event** event);
MEMSIM_API Status destroy_event(Event* event);
MEMSIM_API bool is_event(const Event* event);
MEMSIM_API Status record_event(Event* event, Stream* stream, bool external = false);
MEMSIM_API Status wait_event(Stream* stream, Event* event, bool external = false);
MEMSIM_API Status query_event(Event* event);
MEMSIM_API Status synchronize_event(Event* event);
MEMSIM_API Status elapsed_ms(float* milliseconds, Event* start, Event* stop);
// Simulated time of the host, which launches and synchronization move on.
MEMSIM_API uint64_t host_time_ns();

// -- modules and functions --------------------------------------------------------------------------------------------------

struct Parameter {
  uint32_t offset, bytes;
};
struct MEMSIM_API Function {
  Module* module = nullptr;
  uint32_t index = 0;
  std::string name;
  int registers = 0, static_shared = 0, local_bytes = 0, const_bytes = 0, max_threads = 1024;
  int ptx_version = 0, binary_version = 0;
  Extent3 required_block{0, 0, 0}, cluster{0, 0, 0};
  std::vector<Parameter> parameters;
  // What cudaFuncSetAttribute / cuFuncSetAttribute changed.
  int max_dynamic_shared = 0;       // 0: up to 48 KiB with the static shared memory
  int preferred_carveout = -1, cache_config = 0;
  bool nonportable_cluster = false;
  std::map<int, int> set_attributes;
  bool assembled = false;           // registers and memory are the assembler's; see `assemble`
  uint32_t parameter_bytes() const;
};
struct Variable {
  std::string name;
  uint64_t bytes = 0, address = 0;
  uint32_t align = 0, space = 0;  // 0 global, 1 constant
  bool managed = false;
};
struct MEMSIM_API Module {
  uint64_t id = 0;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<Variable> variables;
  std::vector<uint8_t> image;  // kept to load it again after a reset
  Function* function(std::string_view name) const;
  Variable* variable(std::string_view name);
};

// Loads an image: fat binary, PTX text (ends with a zero byte), ELF, or linked images. bytes 0: as its header says.
MEMSIM_API Status load_module(const void* image, size_t bytes, const std::string& options, Module** module);
MEMSIM_API Status load_modules_linked(const std::vector<std::pair<const void*, size_t>>& images,
                                      const std::string& options, Module** module);
MEMSIM_API Status unload_module(Module* module);
MEMSIM_API bool is_module(const Module* module);
MEMSIM_API bool is_function(const void* function);
MEMSIM_API size_t image_bytes(const void* image);  // 0: no image that is known
MEMSIM_API const std::string& load_failure();      // why the thread's last load_module failed

// Asks the server, once, for what the assembler says of a function: its registers and memory.
MEMSIM_API void assemble(Function& function);

// Function attributes by CUfunction_attribute number; false: unknown.
MEMSIM_API bool function_attribute(const Function& function, int attribute, int* value);
MEMSIM_API Status set_function_attribute(Function& function, int attribute, int value);

// Packs the arguments that kernelParams points to.
MEMSIM_API std::vector<uint8_t> pack_parameters(const Function& function, void* const* arguments);

// -- occupancy ------------------------------------------------------------------------------------------------------------------

MEMSIM_API Status max_active_blocks(const Function& function, int block_threads, size_t dynamic_shared, int* blocks);
MEMSIM_API Status max_potential_block_size(const Function& function, size_t (*shared_for)(int), size_t dynamic_shared,
                                           int block_limit, int* min_grid, int* block);
MEMSIM_API Status available_dynamic_shared(const Function& function, int blocks, int block_threads, size_t* bytes);
MEMSIM_API Status max_cluster_size(const Function& function, const Launch& launch, int* size);
MEMSIM_API Status max_active_clusters(const Function& function, const Launch& launch, int* clusters);

// -- graphs ---------------------------------------------------------------------------------------------------------------------

struct EdgeData {
  uint8_t bytes[8] = {0};  // cudaGraphEdgeData
};
struct Edge {
  GraphNode* from;
  EdgeData data;
};
struct GraphNode {
  Graph* graph = nullptr;
  Operation operation;
  std::vector<Edge> dependencies;
  bool enabled = true;
  GraphNode* original = nullptr;  // in the graph that this one's graph was cloned from
  uint64_t number = 0;
  std::map<int, std::vector<uint8_t>> attributes;
};
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  bool owned_by_node = false;  // a child graph's
  std::map<void*, unsigned> user_objects;
};
struct GraphExec {
  std::unique_ptr<Graph> graph;  // a clone; node->original is the node that API calls name
  uint64_t flags = 0;
};

MEMSIM_API Graph* create_graph();
MEMSIM_API bool is_graph(const Graph* graph);
MEMSIM_API bool is_graph_exec(const GraphExec* exec);
MEMSIM_API bool is_node(const GraphNode* node);
MEMSIM_API Status destroy_graph(Graph* graph);
MEMSIM_API Graph* clone_graph(const Graph& graph);
MEMSIM_API Status add_node(Graph* graph, GraphNode* const* dependencies, size_t n, Operation operation, GraphNode** node,
                           const EdgeData* edges = nullptr);
MEMSIM_API Status destroy_node(GraphNode* node);
MEMSIM_API Status add_dependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, size_t n,
                                   const EdgeData* edges = nullptr);
MEMSIM_API Status remove_dependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, size_t n);
MEMSIM_API std::vector<std::pair<Edge, GraphNode*>> graph_edges(const Graph& graph);
MEMSIM_API Status instantiate(const Graph* graph, uint64_t flags, GraphExec** exec);
MEMSIM_API Status destroy_graph_exec(GraphExec* exec);
MEMSIM_API Status launch_graph(GraphExec* exec, Stream* stream);
// 0 success, else cudaGraphExecUpdateResult; the node where it failed.
MEMSIM_API int update_graph_exec(GraphExec* exec, const Graph* graph, GraphNode** failed);
MEMSIM_API GraphNode* node_in_exec(GraphExec* exec, const GraphNode* node);
MEMSIM_API Status create_conditional(unsigned initial, unsigned flags, uint64_t* handle);
MEMSIM_API bool is_condition(uint64_t handle);

MEMSIM_API Status begin_capture(Stream* stream, int mode, Graph* into = nullptr, GraphNode* const* from = nullptr,
                                size_t n = 0);
MEMSIM_API Status end_capture(Stream* stream, Graph** graph);
MEMSIM_API CaptureStatus capture_status(const Stream* stream);
MEMSIM_API uint64_t capture_id(const Stream* stream);
MEMSIM_API Graph* capture_graph(const Stream* stream);
MEMSIM_API Status set_capture_dependencies(Stream* stream, GraphNode* const* nodes, size_t n, bool replace);
MEMSIM_API int exchange_capture_mode(int mode);

// -- user objects (cudaUserObject) ----------------------------------------------------------------------------------------------
struct UserObject {
  void* data;
  void (*destroy)(void*);
  unsigned references;
};

// -- memory pools ---------------------------------------------------------------------------------------------------------------
struct Pool {
  uint64_t used = 0, used_high = 0, reserved_high = 0, release_threshold = 0;
  int reuse_follow = 1, reuse_opportunistic = 1, reuse_internal = 1;
};
MEMSIM_API Pool* default_pool();
MEMSIM_API Pool* current_pool();
MEMSIM_API void set_current_pool(Pool* pool);
MEMSIM_API Pool* create_pool();
MEMSIM_API Status destroy_pool(Pool* pool);
MEMSIM_API bool is_pool(const Pool* pool);
MEMSIM_API Status allocate_from_pool(Pool* pool, uint64_t bytes, Stream* stream, uint64_t* address);
MEMSIM_API Status free_in_stream(uint64_t address, Stream* stream);

}  // namespace memsim

// For Python (memsim/capture/python): begins (0) or ends (1) what a tuner times; see protocol.h, benchmark.
extern "C" MEMSIM_API int memsim_benchmark(unsigned op, unsigned flags, double* milliseconds, unsigned* launches);
// Reports a kernel that was tuned; see protocol.h, tuned.
extern "C" MEMSIM_API int memsim_tuned(const char* report);

// For libcudart: a thread without a context uses the device's primary one, which cuCtxGetCurrent then returns.
extern "C" MEMSIM_API void memsim_use_primary_context();
