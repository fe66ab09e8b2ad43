// Names and texts of CUresult (CUDA Driver API, "Data types used by CUDA driver", CUresult).
#include "driver.h"

namespace {

struct ErrorText {
  int status;
  const char *name, *text;
};
const ErrorText texts[] = {
#define ERROR(status, name, runtime_name, text) {status, "CUDA_" #name, text},
#define DRIVER_ERROR(status, name, text) {status, "CUDA_" #name, text},
#define RUNTIME_ERROR(status, name, text)
#include "../core/errors.def"
};

const ErrorText* text_of(int status) {
  for (const ErrorText& one : texts)
    if (one.status == status) return &one;
  return nullptr;
}

}  // namespace

CU cuGetErrorName(int status, const char** name) {
  MEMSIM_REQUIRE(name, invalid_value);
  const ErrorText* found = text_of(status);
  *name = found ? found->name : nullptr;
  return found ? memsim::status::success : memsim::status::invalid_value;
}
CU cuGetErrorString(int status, const char** text) {
  MEMSIM_REQUIRE(text, invalid_value);
  const ErrorText* found = text_of(status);
  *text = found ? found->text : nullptr;
  return found ? memsim::status::success : memsim::status::invalid_value;
}
