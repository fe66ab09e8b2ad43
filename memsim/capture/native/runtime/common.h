// What every file of libcudart shares: how results are returned, streams found and kernels resolved.
#pragma once

#include "../gpu.h"
#include "abi.h"

namespace memsim::runtime {

// Returns a result to the program and remembers it as the thread's last error (CUDA Runtime API, "Error Handling").
Error done(Status result);

// Handle 0 is the legacy default stream; the functions that end in _ptsz pass 2 for it (per_thread.cpp).
inline Stream* stream_of(StreamHandle handle) { return find_stream(handle); }
inline StreamHandle per_thread(StreamHandle handle) { return handle ? handle : reinterpret_cast<StreamHandle>(2); }

inline uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
inline void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }
inline Extent3 extent(const Dim3& size) { return {size.x, size.y, size.z}; }

// There is one device, number 0.
inline Error check_device(int device) {
  if (!has_device()) return error_no_device;
  return device == 0 ? success : error_invalid_device;
}

// registration.cpp: the function of a kernel's host stub, or of a cudaKernel_t / cudaFunction_t; loads its module.
Error resolve_function(const void* symbol, Function** function);
// The same where nothing else has connected to the device yet.
Error with_function(const void* symbol, Function** function);
// The variable of a host symbol.
Error resolve_variable(const void* symbol, Variable* variable);

// launches.cpp
Error make_launch(const void* symbol, Dim3 grid, Dim3 block, void* const* arguments, size_t shared, Launch* launch);
std::string call_site(const void* return_address);

// copies.cpp
struct CheckedCopy {  // a copy, or why it cannot be made
  CheckedCopy(Copy made) : copy(std::move(made)) {}
  CheckedCopy(Error why) : failed(why) {}
  Error failed = success;
  Copy copy;
};
Error run(const CheckedCopy& made, StreamHandle stream, bool wait);
// A function that waits for its copy, the same in a stream, and that with the thread's own stream instead of stream 0.
#define MEMSIM_LIST(...) __VA_ARGS__
#define MEMSIM_COPY_FUNCTIONS(name, parameters, copy)                                                                  \
  MEMSIM_CUDA Error name(MEMSIM_LIST parameters) { return run(copy, nullptr, true); }                                  \
  MEMSIM_CUDA Error name##Async(MEMSIM_LIST parameters, StreamHandle stream) { return run(copy, stream, false); }      \
  MEMSIM_CUDA Error name##Async_ptsz(MEMSIM_LIST parameters, StreamHandle stream) {                                    \
    return run(copy, per_thread(stream), false);                                                                       \
  }
Copy make_line(void* to, const void* from, size_t bytes, int kind);
inline bool is_copy_kind(int kind) { return kind >= 0 && kind <= 4; }
Error make_copy(const Memcpy3D& given, Copy* copy);
Memcpy3D unmake_copy(const Copy& copy);

}  // namespace memsim::runtime
