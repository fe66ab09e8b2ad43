// How the headers of Thrust and libcu++ (CCCL, pip's nvidia-cuda-cccl), where they are at hand, are to see this runtime:
// algorithms run on the host, one element after another, and half precision is the runtime's own.
#pragma once

#ifndef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif
#define CCCL_DISABLE_CTK_COMPATIBILITY_CHECK
#define CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_BF16_SUPPORT
#define CCCL_DISABLE_NVFP8_SUPPORT
