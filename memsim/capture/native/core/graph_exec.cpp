// Executable graphs: instantiation, launches, updates.

#include <algorithm>

#include "state.h"

namespace memsim {

namespace {

// Nodes such that each comes after what it depends on, otherwise in the order in which they were added. Empty when
// there is a cycle.
std::vector<GraphNode*> ordered(const Graph& graph) {
  std::vector<GraphNode*> order;
  std::set<const GraphNode*> done;
  std::vector<GraphNode*> left;
  for (const auto& node : graph.nodes) left.push_back(node.get());
  while (!left.empty()) {
    std::vector<GraphNode*> later;
    for (GraphNode* node : left) {
      bool ready = std::all_of(node->dependencies.begin(), node->dependencies.end(),
                               [&](const Edge& e) { return done.count(e.from) != 0; });
      if (!ready) {
        later.push_back(node);
        continue;
      }
      done.insert(node);
      order.push_back(node);
    }
    if (later.size() == left.size()) return {};
    left.swap(later);
  }
  return order;
}

// Independent branches run side by side: a node starts when what it depends on has ended.
Status run_nodes(const std::vector<GraphNode*>& order, Stream& stream) {
  uint64_t begin = start_of(stream), end = begin;
  std::map<const GraphNode*, uint64_t> ends;
  for (GraphNode* node : order) {
    uint64_t start = begin;
    for (const Edge& edge : node->dependencies) start = std::max(start, ends[edge.from]);
    stream.time_ns = start;
    if (node->enabled) {
      uint64_t host = state().host_ns;
      if (Status failed = execute(stream, node->operation)) return failed;
      state().host_ns = host;  // the host issues a graph once, not its nodes
    }
    ends[node] = stream.time_ns;
    end = std::max(end, stream.time_ns);
  }
  stream.time_ns = end;
  return status::success;
}

}  // namespace

Status run_graph(const Graph& graph, Stream& stream) { return run_nodes(ordered(graph), stream); }

bool is_graph_exec(const GraphExec* exec) {
  Lock hold(state().lock);
  return state().graph_execs.count(const_cast<GraphExec*>(exec)) != 0;
}

Status instantiate(const Graph* graph, uint64_t flags, GraphExec** exec) {
  State& s = state();
  Lock hold(s.lock);
  if (!is_graph(graph)) return status::invalid_value;
  if (!graph->nodes.empty() && ordered(*graph).empty()) return status::invalid_value;  // a cycle
  auto* made = new GraphExec;
  made->graph.reset(clone_graph(*graph));
  made->graph->owned_by_node = true;
  made->flags = flags;
  s.graph_execs.insert(made);
  *exec = made;
  return status::success;
}

Status destroy_graph_exec(GraphExec* exec) {
  State& s = state();
  Lock hold(s.lock);
  if (!s.graph_execs.erase(exec)) return status::invalid_value;
  Graph* graph = exec->graph.release();
  graph->owned_by_node = false;
  destroy_graph(graph);
  delete exec;
  return status::success;
}

Status launch_graph(GraphExec* exec, Stream* stream) {
  if (!stream) return status::invalid_handle;
  if (!is_graph_exec(exec)) return status::invalid_value;
  if (Status failed = ready()) return failed;
  State& s = state();
  std::vector<GraphNode*> order;
  {
    Lock hold(s.lock);
    if (stream->capture) return submit(stream, ChildGraph{exec->graph.get()});
    s.host_ns += uint64_t(s.properties.launch_overhead_ns);
    reset_conditions();
    order = ordered(*exec->graph);
  }
  return run_nodes(order, *stream);
}

GraphNode* node_in_exec(GraphExec* exec, const GraphNode* node) {
  Lock hold(state().lock);
  for (const auto& one : exec->graph->nodes)
    if (one->original == node || one.get() == node) return one.get();
  return nullptr;
}

int update_graph_exec(GraphExec* exec, const Graph* graph, GraphNode** failed) {
  // Numbers of cudaGraphExecUpdateResult.
  constexpr int topology_changed = 2, node_type_changed = 3;
  Lock hold(state().lock);
  *failed = nullptr;
  auto &old_nodes = exec->graph->nodes, &new_nodes = const_cast<Graph*>(graph)->nodes;
  if (old_nodes.size() != new_nodes.size()) return topology_changed;
  std::map<const GraphNode*, size_t> old_number, new_number;
  for (size_t i = 0; i < old_nodes.size(); ++i) {
    old_number[old_nodes[i].get()] = i;
    new_number[new_nodes[i].get()] = i;
  }
  for (size_t i = 0; i < old_nodes.size(); ++i) {
    const auto &was = old_nodes[i], &is = new_nodes[i];
    *failed = is.get();
    if (was->operation.index() != is->operation.index()) return node_type_changed;
    if (was->dependencies.size() != is->dependencies.size()) return topology_changed;
    std::multiset<size_t> was_from, is_from;
    for (const Edge& e : was->dependencies) was_from.insert(old_number[e.from]);
    for (const Edge& e : is->dependencies) is_from.insert(new_number[e.from]);
    if (was_from != is_from) return topology_changed;
  }
  *failed = nullptr;
  for (size_t i = 0; i < old_nodes.size(); ++i) {
    GraphNode &was = *old_nodes[i], &is = *new_nodes[i];
    if (auto* child = std::get_if<ChildGraph>(&was.operation)) {
      GraphExec inner;
      inner.graph.reset(child->graph);
      int result = update_graph_exec(&inner, std::get<ChildGraph>(is.operation).graph, failed);
      inner.graph.release();
      if (result) return result;
    } else if (!std::holds_alternative<Conditional>(was.operation)) {
      was.operation = is.operation;
    }
    was.original = &is;
    was.enabled = is.enabled;
  }
  return 0;
}

}  // namespace memsim
