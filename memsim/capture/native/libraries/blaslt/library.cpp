// cuBLASLt: facts about the library, and the functions that it lacks.
#include "../common/report.h"

namespace standin {
const LibraryFacts library = {"cuBLASLt", 15};  // CUBLAS_STATUS_NOT_SUPPORTED
}
#define MEMSIM_NAMES "../names/cublasLt.def"
#include "../common/unsupported.h"
