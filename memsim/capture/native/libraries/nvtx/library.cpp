// NVTX version 2's library: marks for a profiler that is not there. (Version 3 is a header that finds no profiler by
// itself.) Every function does nothing and returns 0.
#include "../common/report.h"

namespace standin {
const LibraryFacts library = {"NVTX", 0};
}
#define NAME(function) MEMSIM_EXPORT unsigned long long function() { return 0; }
#include "../names/nvtx.def"
