// Graphs as a whole (CUDA Driver API, "Graph Management"). graph_nodes.cpp has the nodes' parameters.
#include <algorithm>
#include <cstdio>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

// Writes up to *n items where there is room, and then how many there are. Entries beyond them become zero.
template <class T, class Items>
int give_items(T* to, size_t* n, const Items& items) {
  MEMSIM_REQUIRE(n, invalid_value);
  if (to)
    for (size_t i = 0; i < *n; ++i) to[i] = i < items.size() ? items[i] : T{};
  *n = to ? std::min(*n, items.size()) : items.size();
  return status::success;
}

// Edges with their data where it is wanted.
int give_edges(std::vector<std::pair<Edge, GraphNode*>> edges, GraphNode** from, GraphNode** to, EdgeData* data,
               size_t* n) {
  MEMSIM_REQUIRE(n, invalid_value);
  bool wanted = from || to;
  for (size_t i = 0; wanted && i < *n; ++i) {
    bool known = i < edges.size();
    if (from) from[i] = known ? edges[i].first.from : nullptr;
    if (to) to[i] = known ? edges[i].second : nullptr;
    if (data) data[i] = known ? edges[i].first.data : EdgeData{};
  }
  *n = wanted ? std::min(*n, edges.size()) : edges.size();
  return status::success;
}
std::vector<GraphNode*> nodes_of(const Graph& graph, bool roots_only) {
  std::vector<GraphNode*> nodes;
  for (const auto& node : graph.nodes)
    if (!roots_only || node->dependencies.empty()) nodes.push_back(node.get());
  return nodes;
}

// CUDA_GRAPH_INSTANTIATE_PARAMS.
struct InstantiateParameters {
  uint64_t flags;
  void* upload_stream;
  GraphNode* error_node;
  int result;
};
// CUgraphExecUpdateResultInfo.
struct UpdateResult {
  int result;
  GraphNode *node, *from;
};

}  // namespace

#define MEMSIM_CHECK_GRAPH(graph) MEMSIM_REQUIRE(is_graph(graph), invalid_value)
#define MEMSIM_CHECK_NODE(node) MEMSIM_REQUIRE(is_node(node), invalid_value)
#define MEMSIM_CHECK_EXEC(exec) MEMSIM_REQUIRE(is_graph_exec(exec), invalid_value)

CU cuGraphCreate(Graph** graph, unsigned flags) {
  MEMSIM_REQUIRE(graph && !flags, invalid_value);
  MEMSIM_RETURN_IF(ready());
  *graph = create_graph();
  return status::success;
}
CU cuGraphDestroy(Graph* graph) {
  MEMSIM_CHECK_GRAPH(graph);
  return destroy_graph(graph);
}
CU cuGraphClone(Graph** clone, Graph* graph) {
  MEMSIM_REQUIRE(clone && is_graph(graph), invalid_value);
  return give(clone, clone_graph(*graph));
}
CU cuGraphNodeFindInClone(GraphNode** found, GraphNode* original, Graph* clone) {
  MEMSIM_REQUIRE(found, invalid_value);
  MEMSIM_CHECK_GRAPH(clone);
  for (const auto& node : clone->nodes)
    if (node->original == original) {
      *found = node.get();
      return status::success;
    }
  return status::invalid_value;
}
CU cuGraphGetNodes(Graph* graph, GraphNode** nodes, size_t* n) {
  MEMSIM_CHECK_GRAPH(graph);
  return give_items(nodes, n, nodes_of(*graph, false));
}
CU cuGraphGetRootNodes(Graph* graph, GraphNode** nodes, size_t* n) {
  MEMSIM_CHECK_GRAPH(graph);
  return give_items(nodes, n, nodes_of(*graph, true));
}
CU cuGraphGetEdges_v2(Graph* graph, GraphNode** from, GraphNode** to, EdgeData* data, size_t* n) {
  MEMSIM_CHECK_GRAPH(graph);
  return give_edges(graph_edges(*graph), from, to, data, n);
}
CU cuGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, size_t* n) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, n);
}
CU cuGraphNodeGetDependencies_v2(GraphNode* node, GraphNode** nodes, EdgeData* data, size_t* n) {
  MEMSIM_CHECK_NODE(node);
  std::vector<std::pair<Edge, GraphNode*>> edges;
  for (const Edge& edge : node->dependencies) edges.push_back({edge, node});
  return give_edges(edges, nodes, nullptr, data, n);
}
CU cuGraphNodeGetDependencies(GraphNode* node, GraphNode** nodes, size_t* n) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, n);
}
CU cuGraphNodeGetDependentNodes_v2(GraphNode* node, GraphNode** nodes, EdgeData* data, size_t* n) {
  MEMSIM_CHECK_NODE(node);
  auto edges = graph_edges(*node->graph);
  edges.erase(std::remove_if(edges.begin(), edges.end(), [&](const auto& one) { return one.first.from != node; }),
              edges.end());
  return give_edges(edges, nullptr, nodes, data, n);
}
CU cuGraphNodeGetDependentNodes(GraphNode* node, GraphNode** nodes, size_t* n) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, n);
}
CU cuGraphAddDependencies_v2(Graph* graph, GraphNode* const* from, GraphNode* const* to, const EdgeData* data,
                             size_t n) {
  MEMSIM_CHECK_GRAPH(graph);
  return add_dependencies(graph, from, to, n, data);
}
CU cuGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, size_t n) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, n);
}
CU cuGraphRemoveDependencies_v2(Graph* graph, GraphNode* const* from, GraphNode* const* to, const EdgeData*, size_t n) {
  MEMSIM_CHECK_GRAPH(graph);
  return remove_dependencies(graph, from, to, n);
}
CU cuGraphRemoveDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, size_t n) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, n);
}
CU cuGraphDestroyNode(GraphNode* node) {
  MEMSIM_CHECK_NODE(node);
  return destroy_node(node);
}
CU cuGraphDebugDotPrint(Graph* graph, const char* path, unsigned) {
  MEMSIM_REQUIRE(path, invalid_value);
  MEMSIM_CHECK_GRAPH(graph);
  FILE* file = fopen(path, "w");
  MEMSIM_REQUIRE(file, file_not_found);
  fputs("digraph {\n", file);
  for (const auto& node : graph->nodes) {
    const auto* launch = std::get_if<Launch>(&node->operation);
    fprintf(file, "  n%llu [label=\"%s\"];\n", static_cast<unsigned long long>(node->number),
            launch ? launch->function->name.c_str() : "node");
  }
  for (const auto& [edge, to] : graph_edges(*graph))
    fprintf(file, "  n%llu -> n%llu;\n", static_cast<unsigned long long>(edge.from->number),
            static_cast<unsigned long long>(to->number));
  fputs("}\n", file);
  fclose(file);
  return status::success;
}

// -- executable graphs ----------------------------------------------------------------------------------------------------------

CU cuGraphInstantiateWithFlags(GraphExec** exec, Graph* graph, uint64_t flags) {
  MEMSIM_REQUIRE(exec, invalid_value);
  MEMSIM_CHECK_GRAPH(graph);
  return instantiate(graph, flags, exec);
}
CU cuGraphInstantiate_v2(GraphExec** exec, Graph* graph, GraphNode** error_node, char* log, size_t bytes) {
  if (error_node) *error_node = nullptr;
  if (log && bytes) *log = 0;
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
CU cuGraphInstantiateWithParams(GraphExec** exec, Graph* graph, InstantiateParameters* parameters) {
  MEMSIM_REQUIRE(parameters, invalid_value);
  parameters->error_node = nullptr;
  Status failed = cuGraphInstantiateWithFlags(exec, graph, parameters->flags);
  parameters->result = failed ? 1 : 0;
  return failed;
}
CU cuGraphExecDestroy(GraphExec* exec) {
  MEMSIM_CHECK_EXEC(exec);
  return destroy_graph_exec(exec);
}
CU cuGraphExecGetFlags(GraphExec* exec, uint64_t* flags) {
  MEMSIM_CHECK_EXEC(exec);
  return give(flags, exec->flags);
}
CU cuGraphLaunch(GraphExec* exec, void* stream) {
  MEMSIM_CHECK_EXEC(exec);
  Stream* found = stream_of(stream);
  MEMSIM_REQUIRE(found, invalid_handle);
  return launch_graph(exec, found);
}
CU cuGraphUpload(GraphExec* exec, void* stream) {
  MEMSIM_CHECK_EXEC(exec);
  return stream_of(stream) ? status::success : status::invalid_handle;
}
CU cuGraphExecUpdate_v2(GraphExec* exec, Graph* graph, UpdateResult* result) {
  MEMSIM_CHECK_EXEC(exec);
  MEMSIM_CHECK_GRAPH(graph);
  UpdateResult found{};
  found.result = update_graph_exec(exec, graph, &found.node);
  if (result) *result = found;
  return found.result ? status::graph_exec_update_failure : status::success;
}
CU cuGraphExecUpdate(GraphExec* exec, Graph* graph, GraphNode** node, int* result) {
  MEMSIM_REQUIRE(result, invalid_value);
  UpdateResult info;
  Status failed = cuGraphExecUpdate_v2(exec, graph, &info);
  if (node) *node = info.node;
  *result = info.result;
  return failed;
}
CU cuGraphNodeSetEnabled(GraphExec* exec, GraphNode* node, unsigned enabled) {
  MEMSIM_CHECK_EXEC(exec);
  GraphNode* inside = node_in_exec(exec, node);
  MEMSIM_REQUIRE(inside, invalid_value);
  inside->enabled = enabled != 0;
  return status::success;
}
CU cuGraphNodeGetEnabled(GraphExec* exec, GraphNode* node, unsigned* enabled) {
  MEMSIM_CHECK_EXEC(exec);
  GraphNode* inside = node_in_exec(exec, node);
  MEMSIM_REQUIRE(inside, invalid_value);
  return give(enabled, inside->enabled);
}
CU cuGraphConditionalHandleCreate(uint64_t* handle, Graph* graph, void*, unsigned initial, unsigned flags) {
  MEMSIM_REQUIRE(handle, invalid_value);
  MEMSIM_CHECK_GRAPH(graph);
  return create_conditional(initial, flags, handle);
}

// -- user objects ----------------------------------------------------------------------------------------------------------------

CU cuUserObjectCreate(UserObject** object, void* data, void (*destroy)(void*), unsigned references, unsigned flags) {
  constexpr unsigned no_destructor_sync = 1;
  MEMSIM_REQUIRE(object && destroy && references && flags == no_destructor_sync, invalid_value);
  *object = new UserObject{data, destroy, references};
  return status::success;
}
CU cuUserObjectRetain(UserObject* object, unsigned n) {
  MEMSIM_REQUIRE(object && n, invalid_value);
  object->references += n;
  return status::success;
}
CU cuUserObjectRelease(UserObject* object, unsigned n) {
  MEMSIM_REQUIRE(object && n && n <= object->references, invalid_value);
  object->references -= n;
  if (object->references) return status::success;
  object->destroy(object->data);
  delete object;
  return status::success;
}
CU cuGraphRetainUserObject(Graph* graph, UserObject* object, unsigned n, unsigned flags) {
  constexpr unsigned move = 1;
  MEMSIM_CHECK_GRAPH(graph);
  MEMSIM_REQUIRE(object && n, invalid_value);
  if (!(flags & move)) object->references += n;
  graph->user_objects[object] += n;
  return status::success;
}
CU cuGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned n) {
  MEMSIM_CHECK_GRAPH(graph);
  auto held = graph->user_objects.find(object);
  MEMSIM_REQUIRE(held != graph->user_objects.end() && held->second >= n, invalid_value);
  held->second -= n;
  if (!held->second) graph->user_objects.erase(held);
  return cuUserObjectRelease(object, n);
}
