// What the front end puts first in an instrumented file: CUDA on the host, and the probes. With MEMSIM_GPU the file
// goes through nvcc, and the probes write their records on the device.
#pragma once

#ifdef MEMSIM_GPU
#include <cuda_runtime.h>

#include "memsim/gpu_device.h"
#include "memsim/gpu_host.h"
#else
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#include "cuda_runtime.h"

#include "memsim/probe.h"
#include "memsim/shifts.h"
#endif
