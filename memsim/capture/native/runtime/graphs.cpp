// Graphs (CUDA Runtime API, "Graph Management"): building, inspecting, instantiating and launching them.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "graph_nodes.h"

namespace memsim::runtime {

namespace {

using Nodes = GraphNode* const*;

// Adds a node made from parameters of one type.
template <typename T>
Error add(GraphNode** node, Graph* graph, Nodes from, size_t n, Error (*make)(const T&, Operation*), const T* given) {
  Operation operation;
  if (!node || !given) return done(error_invalid_value);
  if (Error failed = make(*given, &operation)) return done(failed);
  return done(add_node(graph, from, n, std::move(operation), node));
}

// Changes a node of an executable graph that the program names by the node it was made from.
template <typename T>
Error set_in(GraphExec* exec, const GraphNode* node, Error (*set)(GraphNode*, const T&), const T* given) {
  if (!is_graph_exec(exec) || !given) return done(error_invalid_value);
  GraphNode* inner = node_in_exec(exec, node);
  return done(inner ? set(inner, *given) : Error(error_invalid_value));
}

template <typename T>
Error get_as(const GraphNode* node, T* out) {
  const auto* operation = is_node(node) ? std::get_if<T>(&node->operation) : nullptr;
  if (!operation) return error_invalid_value;
  *out = *operation;
  return success;
}

Error set_event(GraphNode* node, Event* event) {
  if (!is_event(event)) return error_invalid_value;
  if (auto* record = std::get_if<RecordEvent>(&node->operation)) {
    record->event = event;
  } else if (auto* wait = std::get_if<WaitEvent>(&node->operation)) {
    wait->event = event;
  } else {
    return error_invalid_value;
  }
  return success;
}

// Writes nodes to the program's array: with a null array only their number.
Error list(const std::vector<GraphNode*>& found, GraphNode** out, size_t* n) {
  if (!n) return error_invalid_value;
  if (!out) {
    *n = found.size();
    return success;
  }
  for (size_t i = 0; i < *n; ++i) out[i] = i < found.size() ? found[i] : nullptr;
  *n = std::min(*n, found.size());
  return success;
}

constexpr Error error_update_failure = 910;

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaGraphCreate(Graph** graph, unsigned flags) {
  if (!graph || flags) return done(error_invalid_value);
  *graph = create_graph();
  return success;
}
MEMSIM_CUDA Error cudaGraphDestroy(Graph* graph) { return done(destroy_graph(graph)); }
MEMSIM_CUDA Error cudaGraphClone(Graph** clone, Graph* graph) {
  if (!clone || !is_graph(graph)) return done(error_invalid_value);
  *clone = clone_graph(*graph);
  return success;
}
MEMSIM_CUDA Error cudaGraphNodeFindInClone(GraphNode** node, GraphNode* original, Graph* clone) {
  if (!node || !is_graph(clone)) return done(error_invalid_value);
  for (const auto& one : clone->nodes)
    if (one->original == original) {
      *node = one.get();
      return success;
    }
  return done(error_invalid_value);
}

// -- adding nodes

MEMSIM_CUDA Error cudaGraphAddKernelNode(GraphNode** node, Graph* graph, Nodes from, size_t n,
                                         const KernelNodeParams* given) {
  return add(node, graph, from, n, make_kernel, given);
}
MEMSIM_CUDA Error cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, Nodes from, size_t n, const Memcpy3D* given) {
  return add(node, graph, from, n, make_memcpy, given);
}
MEMSIM_CUDA Error cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph, Nodes from, size_t n, void* to,
                                           const void* source, size_t bytes, int kind) {
  Line line{to, source, bytes, kind};
  return add(node, graph, from, n, make_line, &line);
}
MEMSIM_CUDA Error cudaGraphAddMemcpyNodeToSymbol(GraphNode** node, Graph* graph, Nodes from, size_t n,
                                                 const void* symbol, const void* source, size_t bytes, size_t offset,
                                                 int kind) {
  SymbolCopy copy{symbol, source, bytes, offset, kind};
  return add(node, graph, from, n, make_to_symbol, &copy);
}
MEMSIM_CUDA Error cudaGraphAddMemcpyNodeFromSymbol(GraphNode** node, Graph* graph, Nodes from, size_t n, void* to,
                                                   const void* symbol, size_t bytes, size_t offset, int kind) {
  SymbolCopy copy{symbol, to, bytes, offset, kind};
  return add(node, graph, from, n, make_from_symbol, &copy);
}
MEMSIM_CUDA Error cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, Nodes from, size_t n,
                                         const MemsetNodeParams* given) {
  return add(node, graph, from, n, make_memset, given);
}
MEMSIM_CUDA Error cudaGraphAddHostNode(GraphNode** node, Graph* graph, Nodes from, size_t n,
                                       const HostNodeParams* given) {
  return add(node, graph, from, n, make_host, given);
}
MEMSIM_CUDA Error cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, Nodes from, size_t n, Graph* child) {
  return done(add_node(graph, from, n, ChildGraph{child}, node));
}
MEMSIM_CUDA Error cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, Nodes from, size_t n) {
  return done(add_node(graph, from, n, Nothing{}, node));
}
MEMSIM_CUDA Error cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, Nodes from, size_t n, Event* event) {
  return done(is_event(event) ? add_node(graph, from, n, RecordEvent{event}, node) : Status(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, Nodes from, size_t n, Event* event) {
  return done(is_event(event) ? add_node(graph, from, n, WaitEvent{event}, node) : Status(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, Nodes from, size_t n, AllocNodeParams* given) {
  NodeParams params{};
  if (!given) return done(error_invalid_value);
  params.type = int(NodeType::alloc);
  params.alloc = *given;
  Operation operation;
  if (Error failed = make_operation(params, &operation)) return done(failed);
  given->pointer = params.alloc.pointer;
  return done(add_node(graph, from, n, std::move(operation), node));
}
MEMSIM_CUDA Error cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, Nodes from, size_t n, void* pointer) {
  return done(add_node(graph, from, n, FreeMemory{address_of(pointer)}, node));
}

// -- inspecting

MEMSIM_CUDA Error cudaGraphNodeGetType(GraphNode* node, int* type) {
  if (!is_node(node) || !type) return done(error_invalid_value);
  *type = int(type_of(*node));
  return success;
}
MEMSIM_CUDA Error cudaGraphGetNodes(Graph* graph, GraphNode** out, size_t* n) {
  if (!is_graph(graph)) return done(error_invalid_value);
  std::vector<GraphNode*> all;
  for (const auto& node : graph->nodes) all.push_back(node.get());
  return done(list(all, out, n));
}
MEMSIM_CUDA Error cudaGraphGetRootNodes(Graph* graph, GraphNode** out, size_t* n) {
  if (!is_graph(graph)) return done(error_invalid_value);
  std::vector<GraphNode*> roots;
  for (const auto& node : graph->nodes)
    if (node->dependencies.empty()) roots.push_back(node.get());
  return done(list(roots, out, n));
}
MEMSIM_CUDA Error cudaGraphDestroyNode(GraphNode* node) { return done(destroy_node(node)); }
MEMSIM_CUDA Error cudaGraphNodeGetContainingGraph(GraphNode* node, Graph** graph) {
  if (!is_node(node) || !graph) return done(error_invalid_value);
  *graph = node->graph;
  return success;
}
MEMSIM_CUDA Error cudaGraphNodeGetLocalId(GraphNode* node, unsigned* id) {
  if (!is_node(node) || !id) return done(error_invalid_value);
  *id = unsigned(node->number);
  return success;
}
MEMSIM_CUDA Error cudaGraphChildGraphNodeGetGraph(GraphNode* node, Graph** graph) {
  ChildGraph child;
  Error failed = graph ? get_as(node, &child) : Error(error_invalid_value);
  if (!failed) *graph = child.graph;
  return done(failed);
}
MEMSIM_CUDA Error cudaGraphDebugDotPrint(Graph* graph, const char* path, unsigned) {
  if (!is_graph(graph) || !path) return done(error_invalid_value);
  FILE* file = fopen(path, "w");
  if (!file) return done(status::file_not_found);
  fprintf(file, "digraph dot {\n");
  for (const auto& node : graph->nodes)
    fprintf(file, "  n%lu [label=\"%d\"];\n", static_cast<unsigned long>(node->number), int(type_of(*node)));
  for (const auto& [edge, to] : graph_edges(*graph))
    fprintf(file, "  n%lu -> n%lu;\n", static_cast<unsigned long>(edge.from->number),
            static_cast<unsigned long>(to->number));
  fprintf(file, "}\n");
  fclose(file);
  return success;
}

// -- parameters of nodes

MEMSIM_CUDA Error cudaGraphKernelNodeGetParams(GraphNode* node, KernelNodeParams* out) {
  return done(get_kernel(node, out));
}
MEMSIM_CUDA Error cudaGraphKernelNodeSetParams(GraphNode* node, const KernelNodeParams* given) {
  return done(given ? set_kernel(node, *given) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphMemcpyNodeGetParams(GraphNode* node, Memcpy3D* out) { return done(get_memcpy(node, out)); }
MEMSIM_CUDA Error cudaGraphMemcpyNodeSetParams(GraphNode* node, const Memcpy3D* given) {
  return done(given ? set_memcpy(node, *given) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphMemcpyNodeSetParams1D(GraphNode* node, void* to, const void* from, size_t bytes, int kind) {
  return done(set_line(node, {to, from, bytes, kind}));
}
MEMSIM_CUDA Error cudaGraphMemcpyNodeSetParamsToSymbol(GraphNode* node, const void* symbol, const void* from,
                                                       size_t bytes, size_t offset, int kind) {
  return done(set_to_symbol(node, {symbol, from, bytes, offset, kind}));
}
MEMSIM_CUDA Error cudaGraphMemcpyNodeSetParamsFromSymbol(GraphNode* node, void* to, const void* symbol, size_t bytes,
                                                         size_t offset, int kind) {
  return done(set_from_symbol(node, {symbol, to, bytes, offset, kind}));
}
MEMSIM_CUDA Error cudaGraphMemsetNodeGetParams(GraphNode* node, MemsetNodeParams* out) {
  return done(get_memset(node, out));
}
MEMSIM_CUDA Error cudaGraphMemsetNodeSetParams(GraphNode* node, const MemsetNodeParams* given) {
  return done(given ? set_memset(node, *given) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphHostNodeGetParams(GraphNode* node, HostNodeParams* out) { return done(get_host(node, out)); }
MEMSIM_CUDA Error cudaGraphHostNodeSetParams(GraphNode* node, const HostNodeParams* given) {
  return done(given ? set_host(node, *given) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphNodeSetParams(GraphNode* node, NodeParams* given) {
  return done(given ? set_operation(node, *given) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphEventRecordNodeGetEvent(GraphNode* node, Event** event) {
  RecordEvent record;
  Error failed = event ? get_as(node, &record) : Error(error_invalid_value);
  if (!failed) *event = record.event;
  return done(failed);
}
MEMSIM_CUDA Error cudaGraphEventWaitNodeGetEvent(GraphNode* node, Event** event) {
  WaitEvent wait;
  Error failed = event ? get_as(node, &wait) : Error(error_invalid_value);
  if (!failed) *event = wait.event;
  return done(failed);
}
MEMSIM_CUDA Error cudaGraphEventRecordNodeSetEvent(GraphNode* node, Event* event) {
  return done(is_node(node) ? set_event(node, event) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphEventWaitNodeSetEvent(GraphNode* node, Event* event) {
  return done(is_node(node) ? set_event(node, event) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphMemAllocNodeGetParams(GraphNode* node, AllocNodeParams* out) {
  AllocateMemory made;
  Error failed = out ? get_as(node, &made) : Error(error_invalid_value);
  if (failed) return done(failed);
  memset(out, 0, sizeof *out);
  out->bytes = made.bytes;
  out->pointer = pointer_to(made.address);
  return success;
}
MEMSIM_CUDA Error cudaGraphMemFreeNodeGetParams(GraphNode* node, void* out) {
  FreeMemory freed;
  Error failed = out ? get_as(node, &freed) : Error(error_invalid_value);
  if (!failed) memcpy(out, &freed.address, sizeof freed.address);
  return done(failed);
}

MEMSIM_CUDA Error cudaGraphKernelNodeGetAttribute(GraphNode* node, int attribute, AttributeValue* value) {
  if (!is_node(node) || !value) return done(error_invalid_value);
  memset(value, 0, sizeof *value);
  auto found = node->attributes.find(attribute);
  if (found != node->attributes.end()) memcpy(value, found->second.data(), sizeof *value);
  return success;
}
MEMSIM_CUDA Error cudaGraphKernelNodeSetAttribute(GraphNode* node, int attribute, const AttributeValue* value) {
  auto* launch = is_node(node) ? std::get_if<Launch>(&node->operation) : nullptr;
  if (!launch || !value) return done(error_invalid_value);
  node->attributes[attribute].assign(value->bytes, value->bytes + sizeof *value);
  if (attribute == attribute_cooperative) launch->cooperative = value->number != 0;
  if (attribute == attribute_cluster_dimension) launch->cluster = extent(value->cluster);
  return success;
}

// -- executable graphs

MEMSIM_CUDA Error cudaGraphInstantiate(GraphExec** exec, Graph* graph, unsigned long long flags) {
  return done(exec ? instantiate(graph, flags, exec) : Status(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphInstantiateWithFlags(GraphExec** exec, Graph* graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
MEMSIM_CUDA Error cudaGraphInstantiateWithParams(GraphExec** exec, Graph* graph, InstantiateParams* params) {
  if (!params) return done(error_invalid_value);
  Error failed = cudaGraphInstantiate(exec, graph, params->flags);
  params->error_node = nullptr;
  params->result = failed ? 1 : 0;  // cudaGraphInstantiateError
  return failed;
}
MEMSIM_CUDA Error cudaGraphExecDestroy(GraphExec* exec) { return done(destroy_graph_exec(exec)); }
MEMSIM_CUDA Error cudaGraphExecGetFlags(GraphExec* exec, unsigned long long* flags) {
  if (!is_graph_exec(exec) || !flags) return done(error_invalid_value);
  *flags = exec->flags;
  return success;
}
MEMSIM_CUDA Error cudaGraphLaunch(GraphExec* exec, StreamHandle stream) {
  return done(launch_graph(exec, stream_of(stream)));
}
MEMSIM_CUDA Error cudaGraphUpload(GraphExec* exec, StreamHandle stream) {
  if (!is_graph_exec(exec)) return done(error_invalid_value);
  return done(stream_of(stream) ? ready() : Status(error_invalid_resource_handle));
}
MEMSIM_CUDA Error cudaGraphExecUpdate(GraphExec* exec, Graph* graph, UpdateResult* result) {
  if (!is_graph_exec(exec) || !is_graph(graph)) return done(error_invalid_value);
  GraphNode* failed = nullptr;
  int code = update_graph_exec(exec, graph, &failed);
  if (result) *result = {code, failed, nullptr};
  return code ? done(error_update_failure) : success;
}
MEMSIM_CUDA Error cudaGraphNodeSetEnabled(GraphExec* exec, GraphNode* node, unsigned enabled) {
  GraphNode* inner = is_graph_exec(exec) ? node_in_exec(exec, node) : nullptr;
  if (!inner) return done(error_invalid_value);
  inner->enabled = enabled != 0;
  return success;
}
MEMSIM_CUDA Error cudaGraphNodeGetEnabled(GraphExec* exec, GraphNode* node, unsigned* enabled) {
  const GraphNode* inner = is_graph_exec(exec) ? node_in_exec(exec, node) : nullptr;
  if (!inner || !enabled) return done(error_invalid_value);
  *enabled = inner->enabled;
  return success;
}

MEMSIM_CUDA Error cudaGraphExecKernelNodeSetParams(GraphExec* exec, GraphNode* node, const KernelNodeParams* given) {
  return set_in(exec, node, set_kernel, given);
}
MEMSIM_CUDA Error cudaGraphExecMemcpyNodeSetParams(GraphExec* exec, GraphNode* node, const Memcpy3D* given) {
  return set_in(exec, node, set_memcpy, given);
}
MEMSIM_CUDA Error cudaGraphExecMemcpyNodeSetParams1D(GraphExec* exec, GraphNode* node, void* to, const void* from,
                                                     size_t bytes, int kind) {
  Line line{to, from, bytes, kind};
  return set_in(exec, node, set_line, &line);
}
MEMSIM_CUDA Error cudaGraphExecMemcpyNodeSetParamsToSymbol(GraphExec* exec, GraphNode* node, const void* symbol,
                                                           const void* from, size_t bytes, size_t offset, int kind) {
  SymbolCopy copy{symbol, from, bytes, offset, kind};
  return set_in(exec, node, set_to_symbol, &copy);
}
MEMSIM_CUDA Error cudaGraphExecMemcpyNodeSetParamsFromSymbol(GraphExec* exec, GraphNode* node, void* to,
                                                             const void* symbol, size_t bytes, size_t offset, int kind) {
  SymbolCopy copy{symbol, to, bytes, offset, kind};
  return set_in(exec, node, set_from_symbol, &copy);
}
MEMSIM_CUDA Error cudaGraphExecMemsetNodeSetParams(GraphExec* exec, GraphNode* node, const MemsetNodeParams* given) {
  return set_in(exec, node, set_memset, given);
}
MEMSIM_CUDA Error cudaGraphExecHostNodeSetParams(GraphExec* exec, GraphNode* node, const HostNodeParams* given) {
  return set_in(exec, node, set_host, given);
}
MEMSIM_CUDA Error cudaGraphExecNodeSetParams(GraphExec* exec, GraphNode* node, NodeParams* given) {
  GraphNode* inner = is_graph_exec(exec) ? node_in_exec(exec, node) : nullptr;
  return done(inner && given ? set_operation(inner, *given) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphExecEventRecordNodeSetEvent(GraphExec* exec, GraphNode* node, Event* event) {
  GraphNode* inner = is_graph_exec(exec) ? node_in_exec(exec, node) : nullptr;
  return done(inner ? set_event(inner, event) : Error(error_invalid_value));
}
MEMSIM_CUDA Error cudaGraphExecEventWaitNodeSetEvent(GraphExec* exec, GraphNode* node, Event* event) {
  return cudaGraphExecEventRecordNodeSetEvent(exec, node, event);
}
MEMSIM_CUDA Error cudaGraphExecChildGraphNodeSetParams(GraphExec* exec, GraphNode* node, Graph* child) {
  GraphNode* inner = is_graph_exec(exec) ? node_in_exec(exec, node) : nullptr;
  auto* held = inner ? std::get_if<ChildGraph>(&inner->operation) : nullptr;
  if (!held || !is_graph(child) || child->nodes.size() != held->graph->nodes.size()) return done(error_invalid_value);
  held->graph = clone_graph(*child);
  held->graph->owned_by_node = true;
  return success;
}

// -- conditional handles, user objects, memory of graphs

MEMSIM_CUDA Error cudaGraphConditionalHandleCreate(unsigned long long* handle, Graph* graph, unsigned initial,
                                                   unsigned flags) {
  if (!handle || !is_graph(graph)) return done(error_invalid_value);
  *handle = create_conditional(graph, initial, flags);
  return success;
}

MEMSIM_CUDA Error cudaUserObjectCreate(UserObject** object, void* data, HostFunction destroy, unsigned references,
                                       unsigned flags) {
  constexpr unsigned no_destructor_sync = 1;
  if (!object || !destroy || !references || flags != no_destructor_sync) return done(error_invalid_value);
  *object = new UserObject{data, destroy, references};
  return success;
}
MEMSIM_CUDA Error cudaUserObjectRetain(UserObject* object, unsigned count) {
  if (!object || !count) return done(error_invalid_value);
  object->references += count;
  return success;
}
MEMSIM_CUDA Error cudaUserObjectRelease(UserObject* object, unsigned count) {
  if (!object || !count || count > object->references) return done(error_invalid_value);
  object->references -= count;
  if (object->references) return success;
  object->destroy(object->data);
  delete object;
  return success;
}
MEMSIM_CUDA Error cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count, unsigned flags) {
  constexpr unsigned move = 1;
  if (!is_graph(graph) || !object || !count) return done(error_invalid_value);
  if (!(flags & move)) object->references += count;
  graph->user_objects[object] += count;
  return success;
}
MEMSIM_CUDA Error cudaGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  if (!is_graph(graph) || !graph->user_objects.count(object)) return done(error_invalid_value);
  graph->user_objects[object] -= std::min(count, graph->user_objects[object]);
  return cudaUserObjectRelease(object, count);
}

MEMSIM_CUDA Error cudaDeviceGraphMemTrim(int device) { return device ? done(error_invalid_device) : success; }
MEMSIM_CUDA Error cudaDeviceGetGraphMemAttribute(int device, int, void* value) {
  if (device || !value) return done(device ? error_invalid_device : error_invalid_value);
  const uint64_t none = 0;
  memcpy(value, &none, sizeof none);
  return success;
}
MEMSIM_CUDA Error cudaDeviceSetGraphMemAttribute(int device, int, void*) {
  return device ? done(error_invalid_device) : success;
}
