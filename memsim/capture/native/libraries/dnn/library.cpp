// cuDNN: facts about the library, and the functions that it lacks.
#include "../common/report.h"

namespace standin {
const LibraryFacts library = {"cuDNN", 3000};  // CUDNN_STATUS_NOT_SUPPORTED of version 9
}
#define MEMSIM_NAMES "../names/cudnn.def"
#include "../common/unsupported.h"
