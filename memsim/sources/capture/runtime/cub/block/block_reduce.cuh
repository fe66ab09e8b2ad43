#include "../../memsim/cub_block.h"
