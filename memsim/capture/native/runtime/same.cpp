// Functions of names/same.txt, and those that leave out parameters of the driver's function.
#include "same.h"

using memsim::runtime::own;

#include "same.def"

MEMSIM_SAME(cudaStreamCreate, cuStreamCreate, a, 0, c, d, e, f)
MEMSIM_SAME(cudaEventCreate, cuEventCreate, a, 0, c, d, e, f)
