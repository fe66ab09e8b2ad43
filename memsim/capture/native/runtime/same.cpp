// Functions of names/same.txt and names/per_thread.txt, and those that leave out parameters of the driver's function.
#include "same.h"

#include "../core/jump.h"

using memsim::runtime::own;

#include "same.def"
#include "per_thread.def"

MEMSIM_SAME(cudaStreamCreate, cuStreamCreate, a, 0, c, d, e, f)
MEMSIM_SAME(cudaEventCreate, cuEventCreate, a, 0, c, d, e, f)
MEMSIM_OTHER_NAME(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion)
