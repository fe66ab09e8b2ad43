#include "../../memsim/cub_moves.h"
