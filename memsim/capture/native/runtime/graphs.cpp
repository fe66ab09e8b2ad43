// Graphs (CUDA Runtime API, "Graph Management"): functions that the driver API has not, or with other parameters.

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

}  // namespace

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

extern "C" {
Error cuGraphAddKernelNode(GraphNode**, Graph*, Nodes, size_t, const KernelNodeParams*);
Error cuGraphKernelNodeSetParams(GraphNode*, const KernelNodeParams*);
Error cuGraphExecKernelNodeSetParams(GraphExec*, GraphNode*, const KernelNodeParams*);
Error cuGraphNodeSetParams(GraphNode*, NodeParams*);
Error cuGraphExecNodeSetParams(GraphExec*, GraphNode*, NodeParams*);
}

// -- adding nodes

MEMSIM_CUDA Error cudaGraphAddKernelNode(GraphNode** node, Graph* graph, Nodes from, size_t n,
                                         const KernelNodeParams* given) {
  if (!given) return done(error_invalid_value);
  KernelNodeParams own = *given;
  WithFunction resolved(&own);
  return done(resolved.failed ? resolved.failed : cuGraphAddKernelNode(node, graph, from, n, &own));
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

// -- inspecting

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

// -- parameters of nodes

MEMSIM_CUDA Error cudaGraphKernelNodeSetParams(GraphNode* node, const KernelNodeParams* given) {
  if (!given) return done(error_invalid_value);
  KernelNodeParams own = *given;
  WithFunction resolved(&own);
  return done(resolved.failed ? resolved.failed : cuGraphKernelNodeSetParams(node, &own));
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
MEMSIM_CUDA Error cudaGraphNodeSetParams(GraphNode* node, NodeParams* given) {
  if (!given) return done(error_invalid_value);
  if (given->type == memcpy_node) return cudaGraphMemcpyNodeSetParams(node, &given->memcpy.copy);
  return done(with_driver_params(given, [=] { return cuGraphNodeSetParams(node, given); }));
}

// -- executable graphs

MEMSIM_CUDA Error cudaGraphExecKernelNodeSetParams(GraphExec* exec, GraphNode* node, const KernelNodeParams* given) {
  if (!given) return done(error_invalid_value);
  KernelNodeParams own = *given;
  WithFunction resolved(&own);
  return done(resolved.failed ? resolved.failed : cuGraphExecKernelNodeSetParams(exec, node, &own));
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
MEMSIM_CUDA Error cudaGraphExecNodeSetParams(GraphExec* exec, GraphNode* node, NodeParams* given) {
  if (!given) return done(error_invalid_value);
  if (given->type == memcpy_node) return cudaGraphExecMemcpyNodeSetParams(exec, node, &given->memcpy.copy);
  return done(with_driver_params(given, [=] { return cuGraphExecNodeSetParams(exec, node, given); }));
}

MEMSIM_CUDA Error cudaGraphConditionalHandleCreate(uint64_t* handle, Graph* graph, unsigned initial,
                                                   unsigned flags) {
  if (!handle || !is_graph(graph)) return done(error_invalid_value);
  return done(create_conditional(initial, flags, handle));
}
