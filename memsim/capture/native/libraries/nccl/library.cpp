// NCCL: facts about the library, and the functions that it lacks.
#include "../common/report.h"

namespace standin {
const LibraryFacts library = {"NCCL", 5};  // ncclInvalidUsage; NCCL has no "not supported"
}
#define MEMSIM_NAMES "../names/nccl.def"
#include "../common/unsupported.h"
