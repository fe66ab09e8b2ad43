// NCCL (NCCL documentation, "NCCL API"): its types and functions; a program of one device may make a communicator, and
// what communicates is refused at the call.
#pragma once

#include "cuda_runtime.h"
#include "memsim/library_calls.h"

#define NCCL_MAJOR 2
#define NCCL_MINOR 18
#define NCCL_VERSION_CODE 21800
#define NCCL_UNIQUE_ID_BYTES 128

typedef struct ncclComm* ncclComm_t;
typedef struct {
    char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;
typedef enum {
    ncclSuccess,
    ncclUnhandledCudaError,
    ncclSystemError,
    ncclInternalError,
    ncclInvalidArgument,
    ncclInvalidUsage,
    ncclRemoteError,
    ncclInProgress
} ncclResult_t;
typedef enum { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg } ncclRedOp_t;
typedef enum {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9
} ncclDataType_t;

inline const char* ncclGetErrorString(ncclResult_t result) { return result ? "an error of NCCL" : "no error"; }
inline ncclResult_t ncclGetVersion(int* version) { return *version = NCCL_VERSION_CODE, ncclSuccess; }
inline ncclResult_t ncclGetUniqueId(ncclUniqueId* id) { return *id = {}, ncclSuccess; }
MEMSIM_REFUSED(ncclResult_t, ncclCommInitRank)
MEMSIM_REFUSED(ncclResult_t, ncclCommInitAll)
MEMSIM_REFUSED(ncclResult_t, ncclCommDestroy)
MEMSIM_REFUSED(ncclResult_t, ncclCommAbort)
MEMSIM_REFUSED(ncclResult_t, ncclCommCount)
MEMSIM_REFUSED(ncclResult_t, ncclCommCuDevice)
MEMSIM_REFUSED(ncclResult_t, ncclCommUserRank)
MEMSIM_REFUSED(ncclResult_t, ncclGroupStart)
MEMSIM_REFUSED(ncclResult_t, ncclGroupEnd)
MEMSIM_REFUSED(ncclResult_t, ncclAllReduce)
MEMSIM_REFUSED(ncclResult_t, ncclBroadcast)
MEMSIM_REFUSED(ncclResult_t, ncclBcast)
MEMSIM_REFUSED(ncclResult_t, ncclReduce)
MEMSIM_REFUSED(ncclResult_t, ncclAllGather)
MEMSIM_REFUSED(ncclResult_t, ncclReduceScatter)
MEMSIM_REFUSED(ncclResult_t, ncclSend)
MEMSIM_REFUSED(ncclResult_t, ncclRecv)
