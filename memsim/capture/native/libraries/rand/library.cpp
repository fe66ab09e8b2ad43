// cuRAND: facts about the library, and the functions that it lacks.
#include "../common/report.h"

namespace standin {
const LibraryFacts library = {"cuRAND", 103};  // CURAND_STATUS_TYPE_ERROR; cuRAND has no "not supported"
}
#define MEMSIM_NAMES "../names/curand.def"
#include "../common/unsupported.h"
