// Libraries: modules that programs load themselves (CUDA Runtime API, "Library Management"), and entry points of the
// driver.

#include "common.h"

using namespace memsim;
using namespace memsim::runtime;

extern "C" int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* found);
extern "C" int cuLibraryLoadFromFile(Module** library, const char* path, int*, void**, unsigned, void*, void**, unsigned);

MEMSIM_CUDA Error cudaLibraryLoadData(Module** library, const void* code, int*, void**, unsigned, int*, void**,
                                      unsigned) {
  if (!library || !code) return done(error_invalid_value);
  return done(load_module(code, 0, "", library));
}
MEMSIM_CUDA Error cudaLibraryLoadFromFile(Module** library, const char* path, int*, void**, unsigned, int*, void**,
                                          unsigned) {
  return done(cuLibraryLoadFromFile(library, path, nullptr, nullptr, 0, nullptr, nullptr, 0));
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
