// Nodes of graphs: their parameters as the API passes them (CUDA Runtime API, "Graph Management").

#include "graph_nodes.h"

#include <cstring>
#include <mutex>

namespace memsim::runtime {

namespace {

// Pointers to the arguments of kernel nodes that cudaGraphKernelNodeGetParams returned; they are valid as long as the
// node's parameters are not changed.
std::vector<void*>& argument_pointers(const GraphNode* node) {
  static std::mutex lock;
  static auto* all = new std::map<const GraphNode*, std::vector<void*>>;
  std::lock_guard<std::mutex> hold(lock);
  return (*all)[node];
}

template <typename T>
Error change(GraphNode* node, Error (*make)(const T&, Operation*), const T& given) {
  Operation operation;
  if (!is_node(node)) return error_invalid_value;
  if (Error failed = make(given, &operation)) return failed;
  if (operation.index() != node->operation.index()) return error_invalid_value;
  if (Status refused = check(operation)) return refused;
  node->operation = std::move(operation);
  return success;
}

}  // namespace

static NodeType type_of(const GraphNode& node) {
  constexpr NodeType types[] = {NodeType::kernel, NodeType::memcpy,     NodeType::memset,       NodeType::host,
                                NodeType::graph,  NodeType::empty,      NodeType::wait_event,   NodeType::record_event,
                                NodeType::alloc,  NodeType::free,       NodeType::conditional};
  return types[node.operation.index()];
}

Error make_kernel(const KernelNodeParams& given, Operation* operation) {
  Launch launch;
  if (given.extra) return unsupported("kernel node parameters in `extra`");
  Error failed = make_launch(given.function, given.grid, given.block, given.arguments, given.dynamic_shared, &launch);
  if (!failed) *operation = std::move(launch);
  return failed;
}
Error make_memcpy(const Memcpy3D& given, Operation* operation) {
  Copy copy;
  Error failed = make_copy(given, &copy);
  if (!failed) *operation = std::move(copy);
  return failed;
}
static Error make_memset(const MemsetNodeParams& given, Operation* operation) {
  if (given.element_bytes != 1 && given.element_bytes != 2 && given.element_bytes != 4) return error_invalid_value;
  Fill fill;
  fill.address = address_of(given.destination);
  fill.pitch = given.pitch;
  fill.value = given.value;
  fill.element_bytes = given.element_bytes;
  fill.width = given.width;
  fill.height = given.height;
  *operation = fill;
  return success;
}
static Error make_host(const HostNodeParams& given, Operation* operation) {
  *operation = HostCall{given.function, given.data, nullptr};
  return success;
}
Error make_line(const Line& given, Operation* operation) {
  Copy copy;
  copy.destination.address = address_of(given.to);
  copy.source.address = address_of(given.from);
  copy.width_bytes = given.bytes;
  copy.direction = Direction(given.kind);
  *operation = copy;
  return success;
}
Error make_to_symbol(const SymbolCopy& given, Operation* operation) {
  Variable variable;
  if (Error failed = resolve_variable(given.symbol, &variable)) return failed;
  if (given.offset + given.bytes > variable.bytes) return error_invalid_value;
  return make_line({pointer_to(variable.address + given.offset), given.other, given.bytes, given.kind}, operation);
}
Error make_from_symbol(const SymbolCopy& given, Operation* operation) {
  Variable variable;
  if (Error failed = resolve_variable(given.symbol, &variable)) return failed;
  if (given.offset + given.bytes > variable.bytes) return error_invalid_value;
  const void* inner = pointer_to(variable.address + given.offset);
  return make_line({const_cast<void*>(given.other), inner, given.bytes, given.kind}, operation);
}

static Error make_alloc(AllocNodeParams& given, Operation* operation) {
  uint64_t address = 0;
  if (Status failed = allocate(AllocationKind::device, given.bytes, &address)) return failed;
  given.pointer = pointer_to(address);
  *operation = AllocateMemory{address, given.bytes, 0};
  return success;
}

static Error make_conditional(ConditionalNodeParams& given, Operation* operation) {
  if (given.type < 0 || given.type > 2 || !given.size) return error_invalid_value;
  Conditional conditional;
  conditional.handle = given.handle;
  conditional.kind = given.type;
  for (unsigned i = 0; i < given.size; ++i) {
    conditional.bodies.push_back(create_graph());
    conditional.bodies.back()->owned_by_node = true;
  }
  // The API gives the program a pointer that lives as long as the node.
  given.graphs_out = (new std::vector<Graph*>(conditional.bodies))->data();
  *operation = std::move(conditional);
  return success;
}

Error make_operation(NodeParams& given, Operation* operation) {
  switch (NodeType(given.type)) {
    case NodeType::kernel: return make_kernel(given.kernel, operation);
    case NodeType::memcpy: return make_memcpy(given.memcpy.copy, operation);
    case NodeType::memset: return make_memset(given.memset, operation);
    case NodeType::host: return make_host(given.host, operation);
    case NodeType::graph: *operation = ChildGraph{given.child}; return success;
    case NodeType::empty: *operation = Nothing{}; return success;
    case NodeType::wait_event: *operation = WaitEvent{given.event}; return success;
    case NodeType::record_event: *operation = RecordEvent{given.event}; return success;
    case NodeType::alloc: return make_alloc(given.alloc, operation);
    case NodeType::free: *operation = FreeMemory{address_of(given.free)}; return success;
    case NodeType::conditional: return make_conditional(given.conditional, operation);
    default: return unsupported("graph nodes of external semaphores");
  }
}

Error set_kernel(GraphNode* node, const KernelNodeParams& given) { return change(node, make_kernel, given); }
Error set_memcpy(GraphNode* node, const Memcpy3D& given) { return change(node, make_memcpy, given); }
Error set_line(GraphNode* node, const Line& given) { return change(node, make_line, given); }
Error set_to_symbol(GraphNode* node, const SymbolCopy& given) { return change(node, make_to_symbol, given); }
Error set_from_symbol(GraphNode* node, const SymbolCopy& given) { return change(node, make_from_symbol, given); }

Error set_operation(GraphNode* node, NodeParams& given) {
  Operation operation;
  if (!is_node(node) || int(type_of(*node)) != given.type) return error_invalid_value;
  if (Error failed = make_operation(given, &operation)) return failed;
  if (Status refused = check(operation)) return refused;
  node->operation = std::move(operation);
  return success;
}

Error get_kernel(const GraphNode* node, KernelNodeParams* out) {
  const auto* launch = is_node(node) ? std::get_if<Launch>(&node->operation) : nullptr;
  if (!launch || !out) return error_invalid_value;
  std::vector<void*>& pointers = argument_pointers(node);
  pointers.clear();
  for (const Parameter& parameter : launch->function->parameters)
    pointers.push_back(const_cast<uint8_t*>(launch->parameters.data()) + parameter.offset);
  *out = {launch->function, dim3(launch->grid), dim3(launch->block), launch->shared_bytes, pointers.data(), nullptr};
  return success;
}
Error get_memcpy(const GraphNode* node, Memcpy3D* out) {
  const auto* copy = is_node(node) ? std::get_if<Copy>(&node->operation) : nullptr;
  if (!copy || !out) return error_invalid_value;
  *out = unmake_copy(*copy);
  return success;
}

}  // namespace memsim::runtime
