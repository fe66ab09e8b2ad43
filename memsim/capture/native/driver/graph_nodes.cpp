// Nodes of graphs and their parameters (CUDA Driver API, "Graph Management").
#include <cstring>
#include <map>
#include <mutex>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

// CUDA_KERNEL_NODE_PARAMS: version 1 ends before `kernel`.
struct KernelParametersV1 {
  Function* function;
  unsigned grid[3], block[3], shared_bytes;
  void **arguments, **extra;
};
struct KernelParameters {
  KernelParametersV1 base;
  Function* kernel;
  void* context;
};
// CUDA_MEMSET_NODE_PARAMS: version 1 ends before `context`.
struct FillParametersV1 {
  uint64_t address;
  size_t pitch;
  unsigned value, element_bytes;
  size_t width, height;
};
struct HostParameters {
  void (*function)(void*);
  void* data;
};
// CUDA_MEM_ALLOC_NODE_PARAMS.
struct AllocationParameters {
  char pool_properties[88];
  const AccessDescription* access;
  size_t access_count, bytes;
  uint64_t address;
};
static_assert(sizeof(AllocationParameters) == 120);
// CUgraphNodeParams: the type, then the parameters of that type, in 256 bytes.
struct NodeParameters {
  int type, reserved[3];
  union {
    long long words[29];
    KernelParameters kernel;
    struct {
      int flags, reserved;
      void* context;
      Copy3D copy;
    } copy;
    FillParametersV1 fill;
    HostParameters host;
    struct {
      Graph* graph;
      int ownership;
    } child;
    Event* event;
    AllocationParameters allocation;
    uint64_t freed;
    struct {
      uint64_t handle;
      int type;
      unsigned size;
      Graph** bodies;
      void* context;
    } conditional;
  };
  long long last;
};
enum NodeType {
  kernel_node = 0, copy_node = 1, fill_node = 2, host_node = 3, child_node = 4, empty_node = 5, wait_node = 6,
  record_node = 7, allocation_node = 10, free_node = 11, conditional_node = 13
};
// By the operations of `Operation`.
constexpr int node_types[] = {kernel_node, copy_node, fill_node, host_node, child_node, empty_node, wait_node,
                              record_node, allocation_node, free_node, conditional_node};
static_assert(sizeof node_types / sizeof *node_types == std::variant_size_v<Operation>);

// A node's operation; nullptr: it has another one.
template <class Kind>
Kind* operation_in(GraphNode* node) {
  return is_node(node) ? std::get_if<Kind>(&node->operation) : nullptr;
}
template <class Kind>
const Kind* operation_in(const GraphNode* node) {
  return operation_in<Kind>(const_cast<GraphNode*>(node));
}

// What the program gave for a copy, which it may ask for again.
std::mutex node_lock;
std::map<const GraphNode*, Copy3D>& given_copies() {
  static auto* copies = new std::map<const GraphNode*, Copy3D>;
  return *copies;
}
// Pointers into a kernel node's arguments; valid as long as the node, as CUDA has it.
std::map<const GraphNode*, std::vector<void*>>& argument_pointers() {
  static auto* pointers = new std::map<const GraphNode*, std::vector<void*>>;
  return *pointers;
}

int launch_of(const KernelParametersV1& p, Function* kernel, Operation* operation) {
  Launch launch;
  MEMSIM_RETURN_IF(make_launch(p.function ? p.function : kernel, p.grid, p.block, p.shared_bytes, p.arguments, p.extra,
                               &launch));
  *operation = std::move(launch);
  return status::success;
}
// What `then` returns for the operation that launches a kernel with these parameters.
template <class Then>
int with_launch(const KernelParametersV1* p, Function* kernel, Then then) {
  MEMSIM_REQUIRE(p, invalid_value);
  Operation operation;
  MEMSIM_RETURN_IF(launch_of(*p, kernel, &operation));
  return then(std::move(operation));
}
Operation fill_of(const FillParametersV1& p) {
  Fill fill;
  fill.address = p.address;
  fill.pitch = p.pitch;
  fill.value = p.value;
  fill.element_bytes = p.element_bytes;
  fill.width = p.width;
  fill.height = p.height;
  return fill;
}
Operation call_of(const HostParameters& p) {
  HostCall call;
  call.function = p.function;
  call.data = p.data;
  return call;
}
int get_launch(const GraphNode* node, KernelParametersV1* p) {
  const auto* launch = operation_in<Launch>(node);
  MEMSIM_REQUIRE(p && launch, invalid_value);
  std::lock_guard<std::mutex> hold(node_lock);
  auto& pointers = argument_pointers()[node];
  pointers.clear();
  for (const Parameter& one : launch->function->parameters)
    pointers.push_back(const_cast<uint8_t*>(launch->parameters.data()) + one.offset);
  *p = {launch->function, {launch->grid.x, launch->grid.y, launch->grid.z},
        {launch->block.x, launch->block.y, launch->block.z}, launch->shared_bytes, pointers.data(), nullptr};
  return status::success;
}
// Replaces a node's operation by one of the same type; a launch keeps its attributes.
int replace(GraphNode* node, Operation operation) {
  MEMSIM_REQUIRE(node && node->operation.index() == operation.index(), invalid_value);
  if (auto* now = std::get_if<Launch>(&operation)) {
    const auto& was = std::get<Launch>(node->operation);
    now->cluster = was.cluster, now->cooperative = was.cooperative, now->priority = was.priority, now->where = was.where;
  }
  MEMSIM_RETURN_IF(driver_status(check(operation)));
  node->operation = std::move(operation);
  return status::success;
}
int set_in_node(GraphNode* node, Operation operation) {
  MEMSIM_REQUIRE(is_node(node), invalid_value);
  return replace(node, std::move(operation));
}
int set_in_exec(GraphExec* exec, GraphNode* node, Operation operation) {
  MEMSIM_REQUIRE(is_graph_exec(exec), invalid_value);
  return replace(node_in_exec(exec, node), std::move(operation));
}
int add(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, Operation operation,
        const EdgeData* edges = nullptr) {
  MEMSIM_REQUIRE(node, invalid_value);
  return driver_status(add_node(graph, from, n, std::move(operation), node, edges));
}
int add_copy(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, const Copy3D* p,
             const EdgeData* edges = nullptr) {
  MEMSIM_REQUIRE(p, invalid_value);
  MEMSIM_RETURN_IF(add(node, graph, from, n, copy_of(*p), edges));
  std::lock_guard<std::mutex> hold(node_lock);
  given_copies()[*node] = *p;
  return status::success;
}
int add_allocation(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, AllocationParameters* p,
                   const EdgeData* edges = nullptr) {
  MEMSIM_REQUIRE(p && p->bytes, invalid_value);
  MEMSIM_RETURN_IF(allocate(AllocationKind::device, p->bytes, &p->address));
  return add(node, graph, from, n, AllocateMemory{p->address, p->bytes, 0}, edges);
}
int add_child(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, Graph* child,
              const EdgeData* edges = nullptr) {
  MEMSIM_REQUIRE(is_graph(child), invalid_value);
  return add(node, graph, from, n, ChildGraph{child}, edges);
}
int add_conditional(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, NodeParameters* p,
                    const EdgeData* edges) {
  MEMSIM_REQUIRE(is_condition(p->conditional.handle), invalid_value);
  Conditional made{p->conditional.handle, p->conditional.type, {}};
  for (unsigned i = 0; i < p->conditional.size; ++i) {
    Graph* body = create_graph();
    body->owned_by_node = true;
    made.bodies.push_back(body);
  }
  MEMSIM_RETURN_IF(add(node, graph, from, n, made, edges));
  // The array that the driver returns stays with the node.
  p->conditional.bodies = std::get<Conditional>((*node)->operation).bodies.data();
  return status::success;
}
template <class Held>
int get_event(GraphNode* node, Event** event) {
  const auto* held = operation_in<Held>(node);
  MEMSIM_REQUIRE(held, invalid_value);
  return give(event, held->event);
}
// The operation of parameters that need nothing but themselves.
int operation_of(const NodeParameters& p, Operation* operation) {
  switch (p.type) {
    case kernel_node: return launch_of(p.kernel.base, p.kernel.kernel, operation);
    case copy_node: *operation = copy_of(p.copy.copy); return status::success;
    case fill_node: *operation = fill_of(p.fill); return status::success;
    case host_node: *operation = call_of(p.host); return status::success;
    case empty_node: *operation = Nothing{}; return status::success;
    case wait_node: *operation = WaitEvent{p.event}; return status::success;
    case record_node: *operation = RecordEvent{p.event}; return status::success;
    case free_node: *operation = FreeMemory{p.freed}; return status::success;
    default: return unsupported("cuGraphAddNode of this type");
  }
}

}  // namespace

CU cuGraphNodeGetType(GraphNode* node, int* type) {
  MEMSIM_REQUIRE(is_node(node), invalid_value);
  return give(type, node_types[node->operation.index()]);
}
CU cuGraphAddNode_v2(GraphNode** node, Graph* graph, GraphNode* const* from, const EdgeData* edges, size_t n,
                     NodeParameters* p) {
  MEMSIM_REQUIRE(p, invalid_value);
  switch (p->type) {
    case copy_node: return add_copy(node, graph, from, n, &p->copy.copy, edges);
    case child_node: return add_child(node, graph, from, n, p->child.graph, edges);
    case allocation_node: return add_allocation(node, graph, from, n, &p->allocation, edges);
    case conditional_node: return add_conditional(node, graph, from, n, p, edges);
    default: break;
  }
  Operation operation;
  MEMSIM_RETURN_IF(operation_of(*p, &operation));
  return add(node, graph, from, n, std::move(operation), edges);
}
CU cuGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, NodeParameters* p) {
  return cuGraphAddNode_v2(node, graph, from, nullptr, n, p);
}
CU cuGraphNodeSetParams(GraphNode* node, NodeParameters* p) {
  MEMSIM_REQUIRE(p, invalid_value);
  Operation operation;
  MEMSIM_RETURN_IF(operation_of(*p, &operation));
  return set_in_node(node, std::move(operation));
}
CU cuGraphExecNodeSetParams(GraphExec* exec, GraphNode* node, NodeParameters* p) {
  MEMSIM_REQUIRE(p, invalid_value);
  Operation operation;
  MEMSIM_RETURN_IF(operation_of(*p, &operation));
  return set_in_exec(exec, node, std::move(operation));
}

// -- kernels ----------------------------------------------------------------------------------------------------------------------

CU cuGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, const KernelParametersV1* p) {
  return with_launch(p, nullptr, [=](Operation made) { return add(node, graph, from, n, std::move(made)); });
}
CU cuGraphAddKernelNode_v2(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, const KernelParameters* p) {
  if (!p) return status::invalid_value;
  return with_launch(&p->base, p->kernel, [=](Operation made) { return add(node, graph, from, n, std::move(made)); });
}
CU cuGraphKernelNodeGetParams(GraphNode* node, KernelParametersV1* p) { return get_launch(node, p); }
CU cuGraphKernelNodeGetParams_v2(GraphNode* node, KernelParameters* p) {
  MEMSIM_REQUIRE(p, invalid_value);
  p->kernel = nullptr;
  p->context = nullptr;
  return get_launch(node, &p->base);
}
CU cuGraphKernelNodeSetParams(GraphNode* node, const KernelParametersV1* p) {
  return with_launch(p, nullptr, [=](Operation made) { return set_in_node(node, std::move(made)); });
}
CU cuGraphKernelNodeSetParams_v2(GraphNode* node, const KernelParameters* p) {
  if (!p) return status::invalid_value;
  return with_launch(&p->base, p->kernel, [=](Operation made) { return set_in_node(node, std::move(made)); });
}
CU cuGraphExecKernelNodeSetParams(GraphExec* exec, GraphNode* node, const KernelParametersV1* p) {
  return with_launch(p, nullptr, [=](Operation made) { return set_in_exec(exec, node, std::move(made)); });
}
CU cuGraphExecKernelNodeSetParams_v2(GraphExec* exec, GraphNode* node, const KernelParameters* p) {
  if (!p) return status::invalid_value;
  return with_launch(&p->base, p->kernel, [=](Operation made) { return set_in_exec(exec, node, std::move(made)); });
}
CU cuGraphKernelNodeSetAttribute(GraphNode* node, int id, const void* value) {
  auto* launch = operation_in<Launch>(node);
  MEMSIM_REQUIRE(value && launch, invalid_value);
  LaunchAttribute attribute{};
  attribute.id = id;
  memcpy(attribute.value.bytes, value, sizeof attribute.value.bytes);
  apply_attribute(*launch, attribute);
  node->attributes[id].assign(attribute.value.bytes, attribute.value.bytes + sizeof attribute.value.bytes);
  return status::success;
}
CU cuGraphKernelNodeGetAttribute(GraphNode* node, int id, void* value) {
  MEMSIM_REQUIRE(value && is_node(node), invalid_value);
  auto found = node->attributes.find(id);
  memset(value, 0, 64);
  if (found != node->attributes.end()) memcpy(value, found->second.data(), found->second.size());
  return status::success;
}
CU cuGraphKernelNodeCopyAttributes(GraphNode* to, GraphNode* from) {
  MEMSIM_REQUIRE(is_node(to) && is_node(from), invalid_value);
  auto attributes = from->attributes;
  for (const auto& [id, bytes] : attributes) MEMSIM_RETURN_IF(cuGraphKernelNodeSetAttribute(to, id, bytes.data()));
  return status::success;
}

// -- copies, fills, calls of the host -------------------------------------------------------------------------------------------------

CU cuGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, const Copy3D* p, void*) {
  return add_copy(node, graph, from, n, p);
}
CU cuGraphMemcpyNodeGetParams(GraphNode* node, Copy3D* p) {
  MEMSIM_REQUIRE(is_node(node), invalid_value);
  std::lock_guard<std::mutex> hold(node_lock);
  auto found = given_copies().find(node);
  if (found == given_copies().end()) return unsupported("cuGraphMemcpyNodeGetParams of a captured copy");
  return give(p, found->second);
}
CU cuGraphMemcpyNodeSetParams(GraphNode* node, const Copy3D* p) {
  MEMSIM_REQUIRE(p, invalid_value);
  MEMSIM_RETURN_IF(set_in_node(node, copy_of(*p)));
  std::lock_guard<std::mutex> hold(node_lock);
  given_copies()[node] = *p;
  return status::success;
}
CU cuGraphExecMemcpyNodeSetParams(GraphExec* exec, GraphNode* node, const Copy3D* p, void*) {
  return p ? set_in_exec(exec, node, copy_of(*p)) : status::invalid_value;
}
CU cuGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, const FillParametersV1* p,
                        void*) {
  return p ? add(node, graph, from, n, fill_of(*p)) : status::invalid_value;
}
CU cuGraphMemsetNodeGetParams(GraphNode* node, FillParametersV1* p) {
  const auto* fill = operation_in<Fill>(node);
  MEMSIM_REQUIRE(p && fill, invalid_value);
  *p = {fill->address, size_t(fill->pitch), fill->value, fill->element_bytes, size_t(fill->width), size_t(fill->height)};
  return status::success;
}
CU cuGraphMemsetNodeSetParams(GraphNode* node, const FillParametersV1* p) {
  return p ? set_in_node(node, fill_of(*p)) : status::invalid_value;
}
CU cuGraphExecMemsetNodeSetParams(GraphExec* exec, GraphNode* node, const FillParametersV1* p, void*) {
  return p ? set_in_exec(exec, node, fill_of(*p)) : status::invalid_value;
}
CU cuGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, const HostParameters* p) {
  return p ? add(node, graph, from, n, call_of(*p)) : status::invalid_value;
}
CU cuGraphHostNodeGetParams(GraphNode* node, HostParameters* p) {
  const auto* call = operation_in<HostCall>(node);
  MEMSIM_REQUIRE(p && call, invalid_value);
  *p = {call->function, call->data};
  return status::success;
}
CU cuGraphHostNodeSetParams(GraphNode* node, const HostParameters* p) {
  return p ? set_in_node(node, call_of(*p)) : status::invalid_value;
}
CU cuGraphExecHostNodeSetParams(GraphExec* exec, GraphNode* node, const HostParameters* p) {
  return p ? set_in_exec(exec, node, call_of(*p)) : status::invalid_value;
}

// -- the others -----------------------------------------------------------------------------------------------------------------------

CU cuGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n) {
  return add(node, graph, from, n, Nothing{});
}
CU cuGraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, Graph* child) {
  return add_child(node, graph, from, n, child);
}
CU cuGraphChildGraphNodeGetGraph(GraphNode* node, Graph** graph) {
  const auto* child = operation_in<ChildGraph>(node);
  MEMSIM_REQUIRE(child, invalid_value);
  return give(graph, child->graph);
}
CU cuGraphExecChildGraphNodeSetParams(GraphExec* exec, GraphNode* node, Graph* child) {
  MEMSIM_REQUIRE(is_graph(child) && is_graph_exec(exec), invalid_value);
  GraphNode* inside = node_in_exec(exec, node);
  auto* held = inside ? std::get_if<ChildGraph>(&inside->operation) : nullptr;
  MEMSIM_REQUIRE(held && held->graph->nodes.size() == child->nodes.size(), invalid_value);
  Graph* copy = clone_graph(*child);
  copy->owned_by_node = true;
  std::swap(held->graph, copy);
  copy->owned_by_node = false;
  return destroy_graph(copy);
}
CU cuGraphAddEventRecordNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, Event* event) {
  return add(node, graph, from, n, RecordEvent{event});
}
CU cuGraphAddEventWaitNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, Event* event) {
  return add(node, graph, from, n, WaitEvent{event});
}
CU cuGraphEventRecordNodeGetEvent(GraphNode* node, Event** event) { return get_event<RecordEvent>(node, event); }
CU cuGraphEventWaitNodeGetEvent(GraphNode* node, Event** event) { return get_event<WaitEvent>(node, event); }
CU cuGraphEventRecordNodeSetEvent(GraphNode* node, Event* event) { return set_in_node(node, RecordEvent{event}); }
CU cuGraphEventWaitNodeSetEvent(GraphNode* node, Event* event) { return set_in_node(node, WaitEvent{event}); }
CU cuGraphExecEventRecordNodeSetEvent(GraphExec* exec, GraphNode* node, Event* event) {
  return set_in_exec(exec, node, RecordEvent{event});
}
CU cuGraphExecEventWaitNodeSetEvent(GraphExec* exec, GraphNode* node, Event* event) {
  return set_in_exec(exec, node, WaitEvent{event});
}
CU cuGraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, AllocationParameters* p) {
  return add_allocation(node, graph, from, n, p);
}
CU cuGraphMemAllocNodeGetParams(GraphNode* node, AllocationParameters* p) {
  const auto* made = operation_in<AllocateMemory>(node);
  MEMSIM_REQUIRE(p && made, invalid_value);
  *p = {};
  p->bytes = made->bytes;
  p->address = made->address;
  return status::success;
}
CU cuGraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* from, size_t n, uint64_t address) {
  return add(node, graph, from, n, FreeMemory{address});
}
CU cuGraphMemFreeNodeGetParams(GraphNode* node, uint64_t* address) {
  const auto* freed = operation_in<FreeMemory>(node);
  MEMSIM_REQUIRE(freed, invalid_value);
  return give(address, freed->address);
}
