#include "../../memsim/cub_sort.h"
