// What nvcc's stubs register before main: fat binaries, kernels, variables.
//
// A fat binary is loaded at the first use of something in it, as CUDA does with lazy loading; one with managed variables
// when the program initializes it, because host code reads those without a call.

#include <mutex>
#include <unordered_map>

#include "common.h"

namespace memsim::runtime {

namespace {

struct FatBinary {
  std::vector<std::pair<const void*, size_t>> images;  // more than one: relocatable device code, to be linked
  Module* module = nullptr;
  bool tried = false;
  Status failure = success;
};
struct Kernel {
  FatBinary* binary = nullptr;
  std::string name;
  Function* function = nullptr;
};
struct HostVariable {
  FatBinary* binary = nullptr;
  std::string name;
  void** managed = nullptr;  // where the stub reads the address of a managed variable
};

struct Registry {
  std::recursive_mutex lock;
  std::unordered_map<const void*, Kernel> kernels;
  std::unordered_map<const void*, HostVariable> variables;
};

Registry& registry() {  // never destroyed: stubs unregister at exit
  static Registry* only = new Registry;
  return *only;
}
using Hold = std::lock_guard<std::recursive_mutex>;

// __fatBinC_Wrapper_t of the stubs.
struct Wrapper {
  int magic, version;
  const void* image;
  void* prelinked;  // version 2: a table of fat binaries that end with a null
};

void set_managed_pointers(Registry& r, FatBinary* binary) {
  for (auto& [symbol, variable] : r.variables) {
    if (variable.binary != binary || !variable.managed) continue;
    if (const Variable* found = binary->module->variable(variable.name)) *variable.managed = pointer_to(found->address);
  }
}

Status load(FatBinary* binary) {
  Registry& r = registry();
  Hold hold(r.lock);
  if (binary->tried) return binary->failure;
  if (Status failed = ready()) return failed;
  binary->tried = true;
  binary->failure = binary->images.size() == 1
                        ? load_module(binary->images[0].first, binary->images[0].second, "", &binary->module)
                        : load_modules_linked(binary->images, "", &binary->module);
  if (!binary->failure) set_managed_pointers(r, binary);
  return binary->failure;
}

}  // namespace

Error resolve_function(const void* symbol, Function** function) {
  Registry& r = registry();
  Hold hold(r.lock);
  auto found = r.kernels.find(symbol);
  if (found == r.kernels.end()) {
    *function = static_cast<Function*>(const_cast<void*>(symbol));
    return is_function(symbol) ? success : error_invalid_device_function;
  }
  Kernel& kernel = found->second;
  if (!kernel.function) {
    if (Status failed = load(kernel.binary)) return failed;
    kernel.function = kernel.binary->module->function(kernel.name);
  }
  *function = kernel.function;
  return kernel.function ? success : error_invalid_device_function;
}

Error with_function(const void* symbol, Function** function) {
  if (Status failed = ready()) return failed;
  return resolve_function(symbol, function);
}

Error resolve_variable(const void* symbol, Variable* variable) {
  Registry& r = registry();
  Hold hold(r.lock);
  auto found = r.variables.find(symbol);
  if (found == r.variables.end()) return error_invalid_symbol;
  if (Status failed = load(found->second.binary)) return failed;
  const Variable* in_module = found->second.binary->module->variable(found->second.name);
  if (!in_module) return error_invalid_symbol;
  *variable = *in_module;
  return success;
}

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA void** __cudaRegisterFatBinary(void* wrapper) {
  const auto* given = static_cast<const Wrapper*>(wrapper);
  auto* binary = new FatBinary;
  if (given->version == 2 && given->prelinked)  // its own image is the device linker's: machine code, or empty
    for (auto one = static_cast<const void* const*>(given->prelinked); *one; ++one) binary->images.emplace_back(*one, 0);
  if (binary->images.empty()) binary->images.emplace_back(given->image, 0);
  return reinterpret_cast<void**>(binary);
}

MEMSIM_CUDA void __cudaRegisterFatBinaryEnd(void**) {}

// Its kernels' handles stay valid: destructors that run later may still launch.
MEMSIM_CUDA void __cudaUnregisterFatBinary(void**) {}

MEMSIM_CUDA void __cudaRegisterFunction(void** binary, const char* host, char*, const char* name, int, void*, void*,
                                        void*, void*, int*) {
  Registry& r = registry();
  Hold hold(r.lock);
  r.kernels[host] = {reinterpret_cast<FatBinary*>(binary), name, nullptr};
}

MEMSIM_CUDA void __cudaRegisterVar(void** binary, char* host, char*, const char* name, int, size_t, int, int) {
  Registry& r = registry();
  Hold hold(r.lock);
  r.variables[host] = {reinterpret_cast<FatBinary*>(binary), name, nullptr};
}

MEMSIM_CUDA void __cudaRegisterManagedVar(void** binary, void** host_pointer, char*, const char* name, int, size_t, int,
                                          int) {
  Registry& r = registry();
  Hold hold(r.lock);
  r.variables[host_pointer] = {reinterpret_cast<FatBinary*>(binary), name, host_pointer};
}

MEMSIM_CUDA void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}
MEMSIM_CUDA void __cudaRegisterTexture(void**, const void*, const void**, const char*, int, int, int) {}
MEMSIM_CUDA void __cudaRegisterSurface(void**, const void*, const void**, const char*, int, int) {}
MEMSIM_CUDA void __cudaRegisterUnifiedTable(void*, int) {}

MEMSIM_CUDA char __cudaInitModule(void** binary) {
  load(reinterpret_cast<FatBinary*>(binary));
  return 1;
}

// The stub keeps the handle in a static variable. That of a kernel whose module cannot be loaded is the stub itself, so
// that each launch reports why.
MEMSIM_CUDA Error __cudaGetKernel(void** kernel, const void* host) {
  Function* function = nullptr;
  *kernel = resolve_function(host, &function) ? const_cast<void*>(host) : function;
  return success;
}

MEMSIM_CUDA Error cudaGetKernel(void** kernel, const void* host) {
  Function* function = nullptr;
  Error failed = resolve_function(host, &function);
  if (!failed) *kernel = function;
  return done(failed);
}

MEMSIM_CUDA Error cudaGetFuncBySymbol(void** function, const void* host) { return cudaGetKernel(function, host); }
