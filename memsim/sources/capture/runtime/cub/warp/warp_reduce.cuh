#include "../../memsim/cub_warp.h"
