// Copies as nodes of graphs: their parameters as the API passes them (CUDA Runtime API, "Graph Management").

#include "graph_nodes.h"

namespace memsim::runtime {

namespace {

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

Error make_memcpy(const Memcpy3D& given, Operation* operation) {
  Copy copy;
  Error failed = make_copy(given, &copy);
  if (!failed) *operation = std::move(copy);
  return failed;
}
Error make_line(const Line& given, Operation* operation) {
  *operation = make_line(given.to, given.from, given.bytes, given.kind);
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

Error set_memcpy(GraphNode* node, const Memcpy3D& given) { return change(node, make_memcpy, given); }
Error set_line(GraphNode* node, const Line& given) { return change(node, make_line, given); }
Error set_to_symbol(GraphNode* node, const SymbolCopy& given) { return change(node, make_to_symbol, given); }
Error set_from_symbol(GraphNode* node, const SymbolCopy& given) { return change(node, make_from_symbol, given); }

Error get_memcpy(const GraphNode* node, Memcpy3D* out) {
  const auto* copy = is_node(node) ? std::get_if<Copy>(&node->operation) : nullptr;
  if (!copy || !out) return error_invalid_value;
  *out = unmake_copy(*copy);
  return success;
}

}  // namespace memsim::runtime
