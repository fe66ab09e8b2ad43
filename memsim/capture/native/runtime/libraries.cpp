// Libraries: modules that programs load themselves (CUDA Runtime API, "Library Management"), and entry points of the
// driver.

#include <fstream>
#include <iterator>

#include "common.h"

extern "C" int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* found);

using namespace memsim;
using namespace memsim::runtime;

MEMSIM_CUDA Error cudaLibraryLoadData(Module** library, const void* code, int*, void**, unsigned, int*, void**,
                                      unsigned) {
  if (!library || !code) return done(error_invalid_value);
  return done(load_module(code, 0, "", library));
}
MEMSIM_CUDA Error cudaLibraryLoadFromFile(Module** library, const char* path, int*, void**, unsigned, int*, void**,
                                          unsigned) {
  if (!library || !path) return done(error_invalid_value);
  std::ifstream file(path, std::ios::binary);
  if (!file) return done(status::file_not_found);
  std::string image{std::istreambuf_iterator<char>(file), {}};
  return done(load_module(image.c_str(), image.size() + 1, "", library));
}
MEMSIM_CUDA Error cudaLibraryUnload(Module* library) { return done(unload_module(library)); }

MEMSIM_CUDA Error cudaLibraryGetKernel(Function** kernel, Module* library, const char* name) {
  if (!kernel || !name) return done(error_invalid_value);
  if (!is_module(library)) return done(error_invalid_resource_handle);
  *kernel = library->function(name);
  return *kernel ? success : done(error_symbol_not_found);
}
MEMSIM_CUDA Error cudaLibraryGetKernelCount(unsigned* count, Module* library) {
  if (!count) return done(error_invalid_value);
  if (!is_module(library)) return done(error_invalid_resource_handle);
  *count = unsigned(library->functions.size());
  return success;
}
MEMSIM_CUDA Error cudaLibraryEnumerateKernels(Function** kernels, unsigned n, Module* library) {
  if (!kernels) return done(error_invalid_value);
  if (!is_module(library)) return done(error_invalid_resource_handle);
  for (unsigned i = 0; i < n && i < library->functions.size(); ++i) kernels[i] = library->functions[i].get();
  return success;
}

static Error library_variable(void** pointer, size_t* bytes, Module* library, const char* name, bool managed) {
  if (!name) return done(error_invalid_value);
  if (!is_module(library)) return done(error_invalid_resource_handle);
  const Variable* found = library->variable(name);
  if (!found || (managed && !found->managed)) return done(error_symbol_not_found);
  if (pointer) *pointer = pointer_to(found->address);
  if (bytes) *bytes = found->bytes;
  return success;
}
MEMSIM_CUDA Error cudaLibraryGetGlobal(void** pointer, size_t* bytes, Module* library, const char* name) {
  return library_variable(pointer, bytes, library, name, false);
}
MEMSIM_CUDA Error cudaLibraryGetManaged(void** pointer, size_t* bytes, Module* library, const char* name) {
  return library_variable(pointer, bytes, library, name, true);
}

// cudaDriverEntryPointQueryResult: 0 found, 1 not found, 2 of a newer version.
MEMSIM_CUDA Error cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                   unsigned long long flags, int* found) {
  if (!name || !function) return done(error_invalid_value);
  int symbol_status = 0;
  Status failed = cuGetProcAddress_v2(name, function, int(version), flags, &symbol_status);
  if (found) {
    *found = symbol_status;
    return failed == status::not_found ? success : done(failed);
  }
  return done(failed == status::not_found ? Status(error_symbol_not_found) : failed);
}
