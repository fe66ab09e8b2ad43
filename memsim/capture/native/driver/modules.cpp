// Modules, libraries and the linker (CUDA Driver API, "Module Management", "Library Management"). Images are fat
// binaries, PTX texts, and cubins that carry their PTX; the server reads them.
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "driver.h"

using namespace memsim;
using namespace memsim::driver;

namespace {

// CUjit_option: those that return something or are passed on.
enum JitOption {
  max_registers = 0, info_log = 3, info_log_bytes = 4, error_log = 5, error_log_bytes = 6, wall_time = 2
};

struct JitOptions {
  char *info = nullptr, *error = nullptr;
  size_t info_bytes = 0, error_bytes = 0;
  void **info_size = nullptr, **error_size = nullptr;
  std::string text;  // as ptxas would have them

  JitOptions(unsigned n, const int* options, void** values) {
    for (unsigned i = 0; options && values && i < n; ++i) {
      auto number = reinterpret_cast<uintptr_t>(values[i]);
      switch (options[i]) {
        case max_registers: text += "--maxrregcount=" + std::to_string(unsigned(number)) + " "; break;
        case info_log: info = static_cast<char*>(values[i]); break;
        case info_log_bytes: info_bytes = unsigned(number), info_size = values + i; break;
        case error_log: error = static_cast<char*>(values[i]); break;
        case error_log_bytes: error_bytes = unsigned(number), error_size = values + i; break;
        case wall_time: memset(values + i, 0, sizeof(float)); break;
        default: break;
      }
    }
  }
  // The logs end up in the caller's buffers, and their length where its size was given.
  void report(const std::string& failure) const {
    write(info, info_bytes, info_size, "");
    write(error, error_bytes, error_size, failure);
  }

 private:
  static void write(char* to, size_t bytes, void** size, const std::string& text) {
    size_t n = 0;
    if (to && bytes) {
      n = std::min(text.size(), bytes - 1);
      memcpy(to, text.data(), n);
      to[n] = 0;
    }
    if (size) *size = reinterpret_cast<void*>(n ? n + 1 : 0);
  }
};

// A fat binary may be given by the wrapper that nvcc puts around it: magic number, version, address.
const void* unwrapped(const void* image) {
  constexpr uint32_t wrapper_magic = 0x466243B1;
  struct Wrapper {
    uint32_t magic, version;
    const void* fat_binary;
  } wrapper;
  memcpy(&wrapper.magic, image, sizeof wrapper.magic);
  if (wrapper.magic != wrapper_magic) return image;
  memcpy(&wrapper, image, sizeof wrapper);
  return wrapper.fat_binary;
}

int load(const void* image, size_t bytes, const JitOptions& options, Module** module) {
  MEMSIM_REQUIRE(module && image, invalid_value);
  image = unwrapped(image);
  Status failed = load_module(image, bytes, options.text, module);
  options.report(failed ? load_failure() : std::string());
  return failed;
}
bool read_file(const char* path, std::vector<char>& bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  bytes.push_back(0);  // PTX text ends with a zero byte
  return true;
}
int load_file(const char* path, const JitOptions& options, Module** module) {
  MEMSIM_REQUIRE(path, invalid_value);
  std::vector<char> bytes;
  MEMSIM_REQUIRE(read_file(path, bytes), file_not_found);
  return load(bytes.data(), bytes.size(), options, module);
}
int find_variable(Module* module, const char* name, uint64_t* address, size_t* bytes, bool managed_only) {
  MEMSIM_REQUIRE(name, invalid_value);
  MEMSIM_REQUIRE(is_module(module), invalid_handle);
  Variable* variable = module->variable(name);
  MEMSIM_REQUIRE(variable && (variable->managed || !managed_only), not_found);
  if (address) *address = variable->address;
  if (bytes) *bytes = variable->bytes;
  return status::success;
}

}  // namespace

CU cuModuleLoadDataEx(Module** module, const void* image, unsigned n, int* options, void** values) {
  return load(image, 0, {n, options, values}, module);
}
CU cuModuleLoadData(Module** module, const void* image) { return load(image, 0, {0, nullptr, nullptr}, module); }
CU cuModuleLoad(Module** module, const char* path) { return load_file(path, {0, nullptr, nullptr}, module); }
CU cuModuleUnload(Module* module) {
  MEMSIM_REQUIRE(is_module(module), invalid_handle);
  return unload_module(module);
}
CU cuModuleGetLoadingMode(int* mode) {
  return give(mode, 2);  // lazy
}
CU cuModuleGetFunction(Function** function, Module* module, const char* name) {
  MEMSIM_REQUIRE(function && name, invalid_value);
  MEMSIM_REQUIRE(is_module(module), invalid_handle);
  *function = module->function(name);
  return *function ? status::success : status::not_found;
}
CU cuModuleGetFunctionCount(unsigned* count, Module* module) {
  MEMSIM_REQUIRE(is_module(module), invalid_handle);
  return give(count, unsigned(module->functions.size()));
}
CU cuModuleEnumerateFunctions(Function** functions, unsigned n, Module* module) {
  MEMSIM_REQUIRE(functions, invalid_value);
  MEMSIM_REQUIRE(is_module(module), invalid_handle);
  for (unsigned i = 0; i < n && i < module->functions.size(); ++i) functions[i] = module->functions[i].get();
  return status::success;
}
CU cuModuleGetGlobal_v2(uint64_t* address, size_t* bytes, Module* module, const char* name) {
  return find_variable(module, name, address, bytes, false);
}

// -- libraries ----------------------------------------------------------------------------------------------------------

CU cuLibraryLoadData(Module** library, const void* code, int* options, void** values, unsigned n, void*, void**,
                     unsigned) {
  return load(code, 0, {n, options, values}, library);
}
CU cuLibraryLoadFromFile(Module** library, const char* path, int* options, void** values, unsigned n, void*, void**,
                         unsigned) {
  return load_file(path, {n, options, values}, library);
}
CU cuLibraryGetModule(Module** module, Module* library) {
  MEMSIM_REQUIRE(is_module(library), invalid_handle);
  return give(module, library);
}
CU cuLibraryGetManaged(uint64_t* address, size_t* bytes, Module* library, const char* name) {
  return find_variable(library, name, address, bytes, true);
}

// -- linking: the inputs are kept until the linked "cubin", a list of them, is loaded --------------------------------------

namespace {

// cuLinkComplete returns the images, in the container that protocol.h describes, for cuModuleLoadData.
struct LinkState {
  JitOptions options;
  std::vector<std::vector<char>> images;
  std::vector<char> linked;
};
std::set<LinkState*>& link_states() {
  static auto* states = new std::set<LinkState*>;
  return *states;
}
enum JitInput { input_cubin = 0, input_ptx = 1, input_fat_binary = 2, input_object = 3, input_library = 4 };

int add_input(LinkState* state, int type, const char* data, size_t bytes, const char* name) {
  MEMSIM_REQUIRE(link_states().count(state), invalid_handle);
  MEMSIM_REQUIRE(data && bytes, invalid_value);
  // The device runtime (cudaMalloc in kernels, cudaDeviceSynchronize) is the server's.
  if (type == input_library && name && strstr(name, "cudadevrt")) return status::success;
  if (type == input_library || type > input_library) return unsupported("cuLinkAddData of an archive");
  state->images.emplace_back(data, data + bytes);
  if (type == input_ptx) state->images.back().push_back(0);
  return status::success;
}

}  // namespace

CU cuLinkCreate_v2(unsigned n, int* options, void** values, LinkState** state) {
  MEMSIM_REQUIRE(state, invalid_value);
  MEMSIM_RETURN_IF(ready());
  *state = new LinkState{{n, options, values}, {}, {}};
  link_states().insert(*state);
  return status::success;
}
CU cuLinkAddData_v2(LinkState* state, int type, void* data, size_t bytes, const char* name, unsigned, int*, void**) {
  return add_input(state, type, static_cast<char*>(data), bytes, name);
}
CU cuLinkAddFile_v2(LinkState* state, int type, const char* path, unsigned, int*, void**) {
  std::vector<char> bytes;
  MEMSIM_REQUIRE(path, invalid_value);
  MEMSIM_REQUIRE(read_file(path, bytes), file_not_found);
  return add_input(state, type, bytes.data(), bytes.size() - 1, path);
}
CU cuLinkComplete(LinkState* state, void** image, size_t* bytes) {
  MEMSIM_REQUIRE(link_states().count(state), invalid_handle);
  MEMSIM_REQUIRE(image, invalid_value);
  state->options.report("");
  if (state->images.size() == 1) {
    state->linked = state->images.front();
  } else {
    state->linked.assign(protocol::linked_images, protocol::linked_images + 8);
    auto append = [&](auto number) {
      state->linked.insert(state->linked.end(), reinterpret_cast<char*>(&number), reinterpret_cast<char*>(&number + 1));
    };
    append(uint32_t(state->images.size()));
    for (const auto& one : state->images) {
      append(uint64_t(one.size()));
      state->linked.insert(state->linked.end(), one.begin(), one.end());
    }
  }
  *image = state->linked.data();
  if (bytes) *bytes = state->linked.size();
  return status::success;
}
CU cuLinkDestroy(LinkState* state) {
  MEMSIM_REQUIRE(link_states().erase(state), invalid_handle);
  delete state;
  return status::success;
}
