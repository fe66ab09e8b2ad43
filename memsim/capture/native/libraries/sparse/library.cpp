// cuSPARSE: facts about the library, and the functions that it lacks.
#include "../common/report.h"

namespace standin {
const LibraryFacts library = {"cuSPARSE", 10};  // CUSPARSE_STATUS_NOT_SUPPORTED
}
#define MEMSIM_NAMES "../names/cusparse.def"
#include "../common/unsupported.h"
