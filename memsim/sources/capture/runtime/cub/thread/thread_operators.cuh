#include "../../memsim/cub_operators.h"
