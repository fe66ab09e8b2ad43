// NVML: facts about the library, and the functions that it lacks.
#include "../common/report.h"

namespace standin {
const LibraryFacts library = {"NVML", 3};  // NVML_ERROR_NOT_SUPPORTED
}
#define MEMSIM_NAMES "../names/nvml.def"
#include "../common/unsupported.h"
