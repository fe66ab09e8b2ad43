// cuSOLVER's types for torch's headers, where NVIDIA's header is not installed.
#pragma once
#if __has_include_next(<cusolverDn.h>)
#include_next <cusolverDn.h>
#else
#include <cusolver_common.h>
typedef struct cusolverDnContext* cusolverDnHandle_t;
#endif
