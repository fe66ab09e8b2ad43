// cuFFT: facts about the library, and the functions that it lacks.
#include "../common/report.h"

namespace standin {
const LibraryFacts library = {"cuFFT", 16};  // CUFFT_NOT_SUPPORTED
}
#define MEMSIM_NAMES "../names/cufft.def"
#include "../common/unsupported.h"
