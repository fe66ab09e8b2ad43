#include "../../memsim/cub_device.h"
