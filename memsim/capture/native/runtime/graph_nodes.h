// Nodes of graphs: from the API's parameters to operations and back.
#pragma once

#include "common.h"

namespace memsim::runtime {

struct Line {
  void* to;
  const void* from;
  size_t bytes;
  int kind;
};
struct SymbolCopy {
  const void *symbol, *other;
  size_t bytes, offset;
  int kind;
};

Error make_kernel(const KernelNodeParams& given, Operation* operation);
Error make_memcpy(const Memcpy3D& given, Operation* operation);
Error make_line(const Line& given, Operation* operation);
Error make_to_symbol(const SymbolCopy& given, Operation* operation);
Error make_from_symbol(const SymbolCopy& given, Operation* operation);
// Of any type; writes what the API returns in the parameters (an allocation's address, a conditional's graphs).
Error make_operation(NodeParams& given, Operation* operation);

Error set_kernel(GraphNode* node, const KernelNodeParams& given);
Error set_memcpy(GraphNode* node, const Memcpy3D& given);
Error set_line(GraphNode* node, const Line& given);
Error set_to_symbol(GraphNode* node, const SymbolCopy& given);
Error set_from_symbol(GraphNode* node, const SymbolCopy& given);
Error set_operation(GraphNode* node, NodeParams& given);

Error get_kernel(const GraphNode* node, KernelNodeParams* out);
Error get_memcpy(const GraphNode* node, Memcpy3D* out);

}  // namespace memsim::runtime
