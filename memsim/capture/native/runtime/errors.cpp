// The last error of each thread, and the names and texts of errors (CUDA Runtime API, "Error Handling").

#include <cstring>

#include "common.h"

namespace memsim::runtime {

namespace {

thread_local Error last_error = success;

struct ErrorText {
  Error number;
  const char *name, *text;
};
const ErrorText error_texts[] = {
#define ERROR(number, driver_name, name, text) {number, "cuda" #name, text},
#define RUNTIME_ERROR(number, name, text) {number, "cuda" #name, text},
#define DRIVER_ERROR(number, name, text)
#include "../core/errors.def"
};

const ErrorText* find_text(Error number) {
  for (const ErrorText& one : error_texts)
    if (one.number == number) return &one;
  return nullptr;
}

}  // namespace

Error done(Status result) {
  if (result == success) memsim_use_primary_context();
  if (result != success && result != error_not_ready) last_error = result;
  return result;
}

}  // namespace memsim::runtime

using namespace memsim;
using namespace memsim::runtime;

// A sticky error stays until the device is reset.
MEMSIM_CUDA Error cudaGetLastError() {
  Error was = last_error;
  last_error = success;
  return was ? was : Error(sticky_error());
}

MEMSIM_CUDA Error cudaPeekAtLastError() { return last_error ? last_error : Error(sticky_error()); }

MEMSIM_CUDA const char* cudaGetErrorName(Error number) {
  const ErrorText* found = find_text(number);
  return found ? found->name : "unrecognized error code";
}

MEMSIM_CUDA const char* cudaGetErrorString(Error number) {
  const ErrorText* found = find_text(number);
  return found ? found->text : "unrecognized error code";
}
