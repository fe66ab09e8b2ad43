// What extensions call of libc10_cuda and libtorch_cuda, the libraries that a CPU build of torch lacks.
//
// Its headers declare these functions, so extensions compile. Each is carried out by the CUDA runtime, by the device of
// torch_device.cpp, or by memsim's stand-ins for cuBLAS, cuSPARSE and cuSOLVER.

#include <ATen/cuda/CUDAContext.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace {

const c10::Device gpu(c10::DeviceType::CUDA, 0);

c10::impl::VirtualGuardImpl guard() { return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA); }

c10::cuda::CUDAStream as_stream(int64_t id) {
  return c10::cuda::CUDAStream(c10::cuda::CUDAStream::UNCHECKED, c10::Stream(c10::Stream::UNSAFE, gpu, id));
}

void check(int error, const char* file, const char* function, uint32_t line) {
  if (!error) return;
  cudaGetLastError();
  throw c10::Error({function, file, line}, std::string("CUDA error: ") + cudaGetErrorString(cudaError_t(error)));
}

}  // namespace

namespace c10::cuda {

void c10_cuda_check_implementation(int32_t error, const char* file, const char* function, int32_t line, bool) {
  check(error, file, function, uint32_t(line));
}
void c10_cuda_check_implementation(int32_t error, const char* file, const char* function, uint32_t line, bool) {
  check(error, file, function, line);
}
const char* get_cuda_check_suffix() noexcept { return ""; }

DeviceIndex device_count() noexcept { return 1; }
DeviceIndex device_count_ensure_non_zero() { return 1; }
DeviceIndex current_device() { return 0; }
void set_device(DeviceIndex index) { C10_CUDA_CHECK(cudaSetDevice(index)); }
void set_device(DeviceIndex index, bool) { C10_CUDA_CHECK(cudaSetDevice(index)); }
void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }
void warn_or_error_on_sync() {}
cudaError_t GetDeviceCount(int* count) { return cudaGetDeviceCount(count); }
cudaError_t GetDevice(DeviceIndex* index) { return *index = 0, cudaSuccess; }
cudaError_t SetDevice(DeviceIndex index) { return cudaSetDevice(index); }
cudaError_t SetDevice(DeviceIndex index, bool) { return cudaSetDevice(index); }
cudaError_t MaybeSetDevice(DeviceIndex index) { return cudaSetDevice(index); }
DeviceIndex ExchangeDevice(DeviceIndex) { return 0; }
DeviceIndex MaybeExchangeDevice(DeviceIndex) { return 0; }
void SetTargetDevice() {}
bool hasPrimaryContext(DeviceIndex) { return true; }

cudaStream_t CUDAStream::stream() const { return reinterpret_cast<cudaStream_t>(id()); }
bool CUDAStream::query() const { return cudaStreamQuery(stream()) == cudaSuccess; }
void CUDAStream::synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(stream())); }
CUDAStream getStreamFromPool(const bool high, DeviceIndex) { return as_stream(guard().getStreamFromGlobalPool(gpu, high).id()); }
CUDAStream getStreamFromPool(const int priority, DeviceIndex index) { return getStreamFromPool(priority < 0, index); }
CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex) { return as_stream(reinterpret_cast<int64_t>(stream)); }
CUDAStream getDefaultCUDAStream(DeviceIndex) { return as_stream(0); }
CUDAStream getCurrentCUDAStream(DeviceIndex) { return as_stream(guard().getStream(gpu).id()); }
void setCurrentCUDAStream(CUDAStream stream) { guard().exchangeStream(stream.unwrap()); }
std::ostream& operator<<(std::ostream& out, const CUDAStream& stream) { return out << stream.unwrap(); }

namespace CUDACachingAllocator {
std::atomic<CUDAAllocator*> allocator;  // none: memory is the CPU's; guards refer to it
}
}  // namespace c10::cuda

extern "C" {  // as in NVIDIA's headers, which may not be there
cublasStatus_t cublasCreate_v2(cublasHandle_t*);
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t);
cublasStatus_t cublasLtCreate(cublasLtHandle_t*);
cusparseStatus_t cusparseCreate(cusparseHandle_t*);
cusparseStatus_t cusparseSetStream(cusparseHandle_t, cudaStream_t);
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t*);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t, cudaStream_t);
const char* cublasGetStatusName(cublasStatus_t);
}

namespace at::cuda {
namespace {

// A handle for as long as the process lives, on the current stream.
template <class Handle, class Status>
Handle handle(Status (*create)(Handle*), Status (*set_stream)(Handle, cudaStream_t)) {
  static Handle made;
  if (!made) TORCH_CHECK(create(&made) == 0, "CUDA error: a library cannot be initialized");
  if (set_stream) set_stream(made, c10::cuda::getCurrentCUDAStream());
  return made;
}

}  // namespace

cublasHandle_t getCurrentCUDABlasHandle(bool) { return handle(cublasCreate_v2, cublasSetStream_v2); }
cublasHandle_t getCurrentCUDABlasHandle() { return getCurrentCUDABlasHandle(true); }  // of older releases
cublasLtHandle_t getCurrentCUDABlasLtHandle() { return handle<cublasLtHandle_t, cublasStatus_t>(cublasLtCreate, nullptr); }
cusparseHandle_t getCurrentCUDASparseHandle() { return handle(cusparseCreate, cusparseSetStream); }
cusolverDnHandle_t getCurrentCUDASolverDnHandle() { return handle(cusolverDnCreate, cusolverDnSetStream); }
c10::Allocator* getCUDADeviceAllocator() { return c10::GetAllocator(c10::DeviceType::CUDA); }

namespace blas {
const char* _cublasGetErrorEnum(cublasStatus_t status) { return cublasGetStatusName(status); }
}
namespace solver {
const char* cusolverGetErrorMessage(cusolverStatus_t status) {
  return status == CUSOLVER_STATUS_SUCCESS ? "CUSOLVER_STATUS_SUCCESS" : "a call of cuSOLVER failed";
}
}

cudaDeviceProp* getDeviceProperties(c10::DeviceIndex) {
  static cudaDeviceProp* const properties = [] {
    auto* found = new cudaDeviceProp;
    C10_CUDA_CHECK(cudaGetDeviceProperties(found, 0));
    return found;
  }();
  return properties;
}
cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(0); }
int warp_size() { return getDeviceProperties(0)->warpSize; }
bool canDeviceAccessPeer(c10::DeviceIndex, c10::DeviceIndex) { return false; }

}  // namespace at::cuda
