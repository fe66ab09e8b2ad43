// Graphs: nodes, edges and copies of them.

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

bool depends_on(const GraphNode& node, const GraphNode* other) {
  return std::any_of(node.dependencies.begin(), node.dependencies.end(), [&](const Edge& e) { return e.from == other; });
}

// Child graphs and bodies of conditionals belong to their node.
void clone_owned_graphs(Operation& operation) {
  auto owned = [](Graph*& graph) {
    graph = clone_graph(*graph);
    graph->owned_by_node = true;
  };
  if (auto* child = std::get_if<ChildGraph>(&operation)) owned(child->graph);
  if (auto* conditional = std::get_if<Conditional>(&operation))
    for (Graph*& body : conditional->bodies) owned(body);
}

void forget_graph(Graph* graph) {
  State& s = state();
  for (auto& node : graph->nodes) {
    s.nodes.erase(node.get());
    if (auto* child = std::get_if<ChildGraph>(&node->operation)) {
      forget_graph(child->graph);
    } else if (auto* conditional = std::get_if<Conditional>(&node->operation)) {
      for (Graph* body : conditional->bodies) forget_graph(body);
    }
  }
  s.graphs.erase(graph);
  for (auto& [data, references] : graph->user_objects) {
    auto* object = static_cast<UserObject*>(data);
    object->references -= std::min(object->references, references);
    if (object->references) continue;
    object->destroy(object->data);
    delete object;
  }
  delete graph;
}

}  // namespace

Graph* create_graph() {
  Lock hold(state().lock);
  auto* graph = new Graph;
  state().graphs.insert(graph);
  return graph;
}

bool is_graph(const Graph* graph) {
  Lock hold(state().lock);
  return state().graphs.count(const_cast<Graph*>(graph)) != 0;
}

bool is_node(const GraphNode* node) {
  Lock hold(state().lock);
  return state().nodes.count(const_cast<GraphNode*>(node)) != 0;
}

Status destroy_graph(Graph* graph) {
  Lock hold(state().lock);
  if (!is_graph(graph) || graph->owned_by_node) return status::invalid_value;
  forget_graph(graph);
  return status::success;
}

Graph* clone_graph(const Graph& graph) {
  State& s = state();
  Lock hold(s.lock);
  Graph* copy = create_graph();
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : graph.nodes) {
    auto made = std::make_unique<GraphNode>(*node);
    made->graph = copy;
    made->original = node.get();
    clone_owned_graphs(made->operation);
    twin[node.get()] = made.get();
    s.nodes.insert(made.get());
    copy->nodes.push_back(std::move(made));
  }
  for (auto& node : copy->nodes)
    for (Edge& edge : node->dependencies) edge.from = twin.at(edge.from);
  for (const auto& [data, references] : graph.user_objects) {
    static_cast<UserObject*>(data)->references += references;
    copy->user_objects[data] = references;
  }
  return copy;
}

Status add_node(Graph* graph, GraphNode* const* dependencies, size_t n, Operation operation, GraphNode** node,
                const EdgeData* edges) {
  State& s = state();
  Lock hold(s.lock);
  if (!is_graph(graph) || (n && !dependencies)) return status::invalid_value;
  for (size_t i = 0; i < n; ++i) {
    if (!is_node(dependencies[i]) || dependencies[i]->graph != graph) return status::invalid_value;
    if (std::find(dependencies, dependencies + i, dependencies[i]) != dependencies + i) return status::invalid_value;
  }
  if (Status refused = check(operation)) return refused;
  if (auto* made = std::get_if<AllocateMemory>(&operation)) keep_for_graph(made->address);
  if (auto* child = std::get_if<ChildGraph>(&operation)) {
    if (!is_graph(child->graph)) return status::invalid_value;
    clone_owned_graphs(operation);
  }
  auto made = std::make_unique<GraphNode>();
  made->graph = graph;
  made->operation = std::move(operation);
  made->number = s.next_node++;
  for (size_t i = 0; i < n; ++i) made->dependencies.push_back({dependencies[i], edges ? edges[i] : EdgeData{}});
  if (node) *node = made.get();
  s.nodes.insert(made.get());
  graph->nodes.push_back(std::move(made));
  return status::success;
}

Status destroy_node(GraphNode* node) {
  State& s = state();
  Lock hold(s.lock);
  if (!is_node(node)) return status::invalid_value;
  Graph* graph = node->graph;
  for (auto& other : graph->nodes) {
    auto& edges = other->dependencies;
    edges.erase(std::remove_if(edges.begin(), edges.end(), [&](const Edge& e) { return e.from == node; }), edges.end());
  }
  if (auto* child = std::get_if<ChildGraph>(&node->operation)) forget_graph(child->graph);
  s.nodes.erase(node);
  graph->nodes.erase(
      std::find_if(graph->nodes.begin(), graph->nodes.end(), [&](const auto& one) { return one.get() == node; }));
  return status::success;
}

Status add_dependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, size_t n, const EdgeData* edges) {
  Lock hold(state().lock);
  if (!is_graph(graph)) return status::invalid_value;
  for (size_t i = 0; i < n; ++i) {
    bool known = is_node(from[i]) && is_node(to[i]) && from[i]->graph == graph && to[i]->graph == graph;
    if (!known || from[i] == to[i] || depends_on(*to[i], from[i])) return status::invalid_value;
  }
  for (size_t i = 0; i < n; ++i) to[i]->dependencies.push_back({from[i], edges ? edges[i] : EdgeData{}});
  return status::success;
}

Status remove_dependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, size_t n) {
  Lock hold(state().lock);
  if (!is_graph(graph)) return status::invalid_value;
  for (size_t i = 0; i < n; ++i) {
    if (!is_node(to[i]) || !depends_on(*to[i], from[i])) return status::invalid_value;
    auto& edges = to[i]->dependencies;
    edges.erase(std::find_if(edges.begin(), edges.end(), [&](const Edge& e) { return e.from == from[i]; }));
  }
  return status::success;
}

std::vector<std::pair<Edge, GraphNode*>> graph_edges(const Graph& graph) {
  Lock hold(state().lock);
  std::vector<std::pair<Edge, GraphNode*>> edges;
  for (const auto& node : graph.nodes)
    for (const Edge& edge : node->dependencies) edges.emplace_back(edge, node.get());
  return edges;
}

Status create_conditional(unsigned initial, unsigned flags, uint64_t* handle) {
  State& s = state();
  Lock hold(s.lock);
  constexpr unsigned assign_default = 1;
  Status failed = allocate(AllocationKind::variable, sizeof initial, handle, 0, 0, "graph condition");
  if (failed) return failed;
  condition_value(*handle) = initial;
  s.conditions[*handle] = {initial, (flags & assign_default) != 0};
  return status::success;
}

bool is_condition(uint64_t handle) {
  State& s = state();
  Lock hold(s.lock);
  return s.conditions.count(handle) != 0;
}

void reset_conditions() {
  State& s = state();
  Lock hold(s.lock);
  for (const auto& [handle, condition] : s.conditions)
    if (condition.assigned) {
      condition_value(handle) = condition.initial;
      ++s.writes;
    }
}

}  // namespace memsim
