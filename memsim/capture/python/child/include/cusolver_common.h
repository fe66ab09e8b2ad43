// cuSOLVER's types for torch's headers, where NVIDIA's header is not installed.
#pragma once
#if __has_include_next(<cusolver_common.h>)
#include_next <cusolver_common.h>
#else
typedef enum { CUSOLVER_STATUS_SUCCESS = 0, CUSOLVER_STATUS_INVALID_VALUE = 3 } cusolverStatus_t;
#endif
