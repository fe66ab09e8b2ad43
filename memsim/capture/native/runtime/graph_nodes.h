// Nodes of graphs: parameters of copies as operations and back, and those of other nodes as the driver takes them.
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

Error make_memcpy(const Memcpy3D& given, Operation* operation);
Error make_line(const Line& given, Operation* operation);
Error make_to_symbol(const SymbolCopy& given, Operation* operation);
Error make_from_symbol(const SymbolCopy& given, Operation* operation);

Error set_memcpy(GraphNode* node, const Memcpy3D& given);
Error set_line(GraphNode* node, const Line& given);
Error set_to_symbol(GraphNode* node, const SymbolCopy& given);
Error set_from_symbol(GraphNode* node, const SymbolCopy& given);

Error get_memcpy(const GraphNode* node, Memcpy3D* out);

// A kernel node's parameters name the kernel by its symbol, which is the driver's function while this lives.
class WithFunction {
 public:
  explicit WithFunction(KernelNodeParams* given) : given_(given), symbol_(given->function) {
    Function* function = nullptr;
    failed = resolve_function(symbol_, &function);
    given->function = function;
  }
  ~WithFunction() { given_->function = symbol_; }
  WithFunction(const WithFunction&) = delete;
  Error failed;

 private:
  KernelNodeParams* given_;
  void* symbol_;
};

// Calls the driver's function for a node of any type but a copy, whose parameters agree.
template <class Call>
Error with_driver_params(NodeParams* given, Call call) {
  if (given->type != kernel_node) return call();
  WithFunction resolved(&given->kernel);
  return resolved.failed ? resolved.failed : call();
}

}  // namespace memsim::runtime
