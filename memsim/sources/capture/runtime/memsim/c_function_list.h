// The functions that host files in C may call: MEMSIM_C_FUNCTION(result, name, parameters, arguments), which whoever
// includes this defines.
MEMSIM_C_FUNCTION(cudaError_t, memsim_allocate, (const char* text, void** pointer, size_t bytes, unsigned flags),
                  (text, pointer, bytes, flags))
MEMSIM_C_FUNCTION(cudaError_t, cudaMalloc, (void** pointer, size_t bytes), (pointer, bytes))
MEMSIM_C_FUNCTION(cudaError_t, cudaMallocHost, (void** pointer, size_t bytes), (pointer, bytes))
MEMSIM_C_FUNCTION(cudaError_t, cudaMallocManaged, (void** pointer, size_t bytes, unsigned flags),
                  (pointer, bytes, flags))
MEMSIM_C_FUNCTION(cudaError_t, cudaHostAlloc, (void** pointer, size_t bytes, unsigned flags), (pointer, bytes, flags))
MEMSIM_C_FUNCTION(cudaError_t, cudaFree, (void* pointer), (pointer))
MEMSIM_C_FUNCTION(cudaError_t, cudaFreeHost, (void* pointer), (pointer))
MEMSIM_C_FUNCTION(cudaError_t, cudaMemcpy, (void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind),
                  (to, from, bytes, kind))
MEMSIM_C_FUNCTION(cudaError_t, cudaMemcpyAsync,
                  (void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
                  (to, from, bytes, kind, stream))
MEMSIM_C_FUNCTION(cudaError_t, cudaMemset, (void* to, int value, size_t bytes), (to, value, bytes))
MEMSIM_C_FUNCTION(cudaError_t, cudaMemGetInfo, (size_t * free, size_t* total), (free, total))
MEMSIM_C_FUNCTION(cudaError_t, cudaSetDevice, (int device), (device))
MEMSIM_C_FUNCTION(cudaError_t, cudaGetDevice, (int* device), (device))
MEMSIM_C_FUNCTION(cudaError_t, cudaGetDeviceCount, (int* count), (count))
MEMSIM_C_FUNCTION(cudaError_t, cudaGetDeviceProperties, (cudaDeviceProp * properties, int device), (properties, device))
MEMSIM_C_FUNCTION(cudaError_t, cudaSetDeviceFlags, (unsigned flags), (flags))
MEMSIM_C_FUNCTION(cudaError_t, cudaDeviceSynchronize, (void), ())
MEMSIM_C_FUNCTION(cudaError_t, cudaThreadSynchronize, (void), ())
MEMSIM_C_FUNCTION(cudaError_t, cudaDeviceReset, (void), ())
MEMSIM_C_FUNCTION(cudaError_t, cudaThreadExit, (void), ())
MEMSIM_C_FUNCTION(cudaError_t, cudaGetLastError, (void), ())
MEMSIM_C_FUNCTION(cudaError_t, cudaPeekAtLastError, (void), ())
MEMSIM_C_FUNCTION(const char*, cudaGetErrorString, (cudaError_t error), (error))
MEMSIM_C_FUNCTION(const char*, cudaGetErrorName, (cudaError_t error), (error))
MEMSIM_C_FUNCTION(cudaError_t, cudaStreamCreate, (cudaStream_t * stream), (stream))
MEMSIM_C_FUNCTION(cudaError_t, cudaStreamDestroy, (cudaStream_t stream), (stream))
MEMSIM_C_FUNCTION(cudaError_t, cudaStreamSynchronize, (cudaStream_t stream), (stream))
MEMSIM_C_FUNCTION(cudaError_t, cudaEventCreate, (cudaEvent_t * event), (event))
MEMSIM_C_FUNCTION(cudaError_t, cudaEventDestroy, (cudaEvent_t event), (event))
MEMSIM_C_FUNCTION(cudaError_t, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
MEMSIM_C_FUNCTION(cudaError_t, cudaEventQuery, (cudaEvent_t event), (event))
MEMSIM_C_FUNCTION(cudaError_t, cudaEventSynchronize, (cudaEvent_t event), (event))
MEMSIM_C_FUNCTION(cudaError_t, cudaEventElapsedTime, (float* milliseconds, cudaEvent_t start, cudaEvent_t stop),
                  (milliseconds, start, stop))
