// cuSOLVER: facts about the library, and the functions that it lacks.
#include "../common/report.h"

namespace standin {
const LibraryFacts library = {"cuSOLVER", 9};  // CUSOLVER_STATUS_NOT_SUPPORTED
}
#define MEMSIM_NAMES "../names/cusolver.def"
#include "../common/unsupported.h"
