// Gives a CPU build of torch a CUDA device whose memory is the process's own.
//
// Tensors on "cuda" are genuine CUDA tensors (device, is_cuda, dispatch keys, autograd, DLPack). Their memory comes from
// memsim's libcuda.so.1, so kernels that Python packages launch find it. What torch itself computes on them is computed by
// torch's CPU kernels on the same memory: a boxed fallback of the CUDA dispatch key hands every operator CPU tensors that
// share the storages, and hands the results back as CUDA tensors. torch's own extension points are used throughout:
// the dispatcher, the allocator registry, the device guard registry and CUDAHooksRegistry.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <torch/library.h>

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using c10::IValue;
using c10::Storage;
using c10::StorageImpl;

const Device gpu(DeviceType::CUDA, 0);
const char no_sparse_tensors[] = "memsim: sparse CUDA tensors are not supported; use dense ones, or sparse ones on the CPU";

// -- the driver ---------------------------------------------------------------------------------------------------------

void* driver_function(const char* name) {
  static void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  TORCH_CHECK(library, "memsim: libcuda.so.1 is not found: ", dlerror());
  void* function = dlsym(library, name);
  TORCH_CHECK(function, "memsim: libcuda.so.1 has no ", name);
  return function;
}

template <class... Arguments>
void driver(const char* name, Arguments... arguments) {
  static std::unordered_map<std::string, void*> known;
  static std::mutex mutex;
  void* function;
  {
    std::lock_guard<std::mutex> guard(mutex);
    void*& slot = known[name];
    if (!slot) slot = driver_function(name);
    function = slot;
  }
  const int error = reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
  if (!error) return;
  const char* text = name;
  reinterpret_cast<int (*)(int, const char**)>(driver_function("cuGetErrorString"))(error, &text);
  TORCH_CHECK(false, "CUDA error: ", text);
}

void use_device() {
  static const bool once = [] {
    driver("cuInit", 0u);
    void* context = nullptr;
    driver("cuDevicePrimaryCtxRetain", &context, 0);
    return true;
  }();
  (void)once;
  void* current = nullptr;
  driver("cuCtxGetCurrent", &current);
  if (current) return;
  void* context = nullptr;
  driver("cuDevicePrimaryCtxRetain", &context, 0);
  driver("cuCtxSetCurrent", context);
}

// -- memory -------------------------------------------------------------------------------------------------------------

std::atomic<int64_t> allocated{0}, peak{0}, allocations{0};

std::mutex blocks_mutex;
std::unordered_map<void*, size_t> blocks;  // bytes by address

// Frees a block of the GPU's; false: it is none.
bool free_if_known(void* data) {
  {
    std::lock_guard<std::mutex> guard(blocks_mutex);
    auto found = blocks.find(data);
    if (found == blocks.end()) return false;
    allocated -= found->second;
    blocks.erase(found);
  }
  reinterpret_cast<int (*)(unsigned long long)>(driver_function("cuMemFree_v2"))(reinterpret_cast<uintptr_t>(data));
  return true;
}

void free_block(void* data) { free_if_known(data); }

void* new_block(size_t bytes) {
  use_device();
  unsigned long long address = 0;
  driver("cuMemAlloc_v2", &address, bytes);
  auto* data = reinterpret_cast<void*>(address);
  std::lock_guard<std::mutex> guard(blocks_mutex);
  blocks[data] = bytes;
  const int64_t now = allocated += bytes;
  if (now > peak) peak = now;
  ++allocations;
  return data;
}

struct GpuAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    if (!bytes) return {nullptr, nullptr, &c10::detail::deleteNothing, gpu};
    void* data = new_block(bytes);
    return {data, data, &free_block, gpu};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};

GpuAllocator allocator;

// Torch's CPU kernels allocate their results here while they compute for the GPU: results are device memory.
thread_local int computing_for_gpu = 0;

c10::Allocator* torch_allocator = nullptr;

void free_on_cpu(void* data) {
  if (!free_if_known(data)) torch_allocator->raw_deleter()(data);
}

struct CpuAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    if (!computing_for_gpu || !bytes) return torch_allocator->allocate(bytes);
    void* data = new_block(bytes);
    return {data, data, &free_on_cpu, Device(DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_on_cpu; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};

CpuAllocator cpu_allocator;

struct ComputingForGpu {
  ComputingForGpu() { ++computing_for_gpu; }
  ~ComputingForGpu() { --computing_for_gpu; }
};

// -- the same memory seen from both devices -----------------------------------------------------------------------------

void drop_storage(void* context) { delete static_cast<Storage*>(context); }

// A storage on another device that owns a reference to `storage` and shows its memory.
Storage same_memory(const Storage& storage, Device device, c10::Allocator* owner) {
  void* data = storage.mutable_data();
  return Storage(c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(), storage.nbytes(),
      c10::DataPtr(data, new Storage(storage), &drop_storage, device), owner, /*resizable=*/true));
}

at::Tensor tensor_on(const at::Tensor& like, Storage storage, c10::DispatchKey key) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
  auto* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  if (like.is_conj()) impl->_set_conj(true);
  if (like.is_neg()) impl->_set_neg(true);
  return tensor;
}

struct Generator final : at::CPUGeneratorImpl {
  at::Generator inner;
  explicit Generator(at::Generator generator) : inner(std::move(generator)) { device_ = gpu; }
  void set_current_seed(uint64_t seed) override { inner.set_current_seed(seed); }
  uint64_t current_seed() const override { return inner.current_seed(); }
  uint64_t seed() override { return inner.seed(); }
  void set_state(const c10::TensorImpl& state) override { inner.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return inner.unsafeGetGeneratorImpl()->get_state(); }
};

// One call of an operator on the CPU.
class Call {
 public:
  void run(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    const auto& schema = op.schema();
    const size_t n = schema.arguments().size();
    for (size_t i = 0; i < n; ++i) to_cpu(torch::jit::peek(*stack, i, n));
    {
      at::AutoDispatchBelowADInplaceOrView below;
      ComputingForGpu computing;
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    }
    for (auto& pair : tensors_) update(pair.first, pair.second);
    const size_t results = schema.returns().size();
    for (size_t i = 0; i < results; ++i) to_gpu(torch::jit::peek(*stack, i, results));
  }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;  // on the GPU, on the CPU
  std::vector<std::pair<Storage, Storage>> storages_;
  std::vector<at::Tensor> host_;  // arguments that were on the CPU already
  bool results_on_cpu_ = false;

  void to_cpu(IValue& value) {
    if (value.isTensor()) {
      value = cpu_tensor(value.toTensor());
    } else if (value.isTensorList()) {
      auto list = value.toTensorVector();
      for (auto& tensor : list) tensor = cpu_tensor(tensor);
      value = IValue(c10::List<at::Tensor>(list));
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor> tensor : value.toOptionalTensorVector())
        list.push_back(tensor ? std::optional<at::Tensor>(cpu_tensor(*tensor)) : std::nullopt);
      value = IValue(list);
    } else if (value.isDevice()) {
      if (value.toDevice().is_cpu()) results_on_cpu_ = true;
      if (value.toDevice().is_cuda()) value = IValue(Device(DeviceType::CPU));
    } else if (value.isStorage()) {
      if (value.toStorage().device().is_cuda()) value = IValue(cpu_storage(value.toStorage()));
    } else if (value.isGenerator()) {
      if (auto* ours = dynamic_cast<Generator*>(value.toGenerator().unsafeGetGeneratorImpl())) value = IValue(ours->inner);
    }
  }

  at::Tensor cpu_tensor(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (!tensor.is_cuda()) {
      host_.push_back(tensor);
      return tensor;
    }
    for (auto& pair : tensors_)
      if (pair.first.is_same(tensor)) return pair.second;
    tensors_.emplace_back(tensor, tensor_on(tensor, cpu_storage(tensor.storage()), c10::DispatchKey::CPU));
    return tensors_.back().second;
  }

  Storage cpu_storage(const Storage& storage) {
    for (auto& pair : storages_)
      if (pair.first.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) return pair.second;
    storages_.emplace_back(storage, same_memory(storage, Device(DeviceType::CPU), c10::GetAllocator(DeviceType::CPU)));
    return storages_.back().second;
  }

  Storage gpu_storage(const Storage& storage) {
    for (auto& pair : storages_)
      if (pair.second.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) return pair.first;
    storages_.emplace_back(same_memory(storage, gpu, &allocator), storage);
    return storages_.back().first;
  }

  // An operator may have resized an argument, or given it another storage.
  void update(const at::Tensor& tensor, const at::Tensor& seen) {
    auto* impl = tensor.unsafeGetTensorImpl();
    const Storage storage = gpu_storage(seen.storage());
    if (storage.unsafeGetStorageImpl() != tensor.storage().unsafeGetStorageImpl()) impl->set_storage_keep_dtype(storage);
    if (storage.data() != seen.storage().data() || storage.nbytes() != seen.storage().nbytes()) {
      auto* target = storage.unsafeGetStorageImpl();
      target->set_data_ptr_noswap(
          c10::DataPtr(seen.storage().mutable_data(), new Storage(seen.storage()), &drop_storage, gpu));
      target->set_nbytes(seen.storage().nbytes());
    }
    if (tensor.sizes() != seen.sizes() || tensor.strides() != seen.strides() ||
        tensor.storage_offset() != seen.storage_offset())
      impl->set_sizes_and_strides(seen.sizes(), seen.strides(), seen.storage_offset());
  }

  void to_gpu(IValue& value) {
    if (value.isTensor()) {
      value = gpu_tensor(value.toTensor());
    } else if (value.isTensorList()) {
      auto list = value.toTensorVector();
      for (auto& tensor : list) tensor = gpu_tensor(tensor);
      value = IValue(c10::List<at::Tensor>(list));
    }
  }

  at::Tensor gpu_tensor(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_cpu()) return tensor;
    for (auto& pair : tensors_)
      if (pair.second.is_same(tensor)) return pair.first;
    for (auto& one : host_)
      if (one.is_same(tensor) || one.is_alias_of(tensor)) return tensor;
    if (results_on_cpu_) return tensor;
    TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == c10::kStrided, no_sparse_tensors);
    return tensor_on(tensor, gpu_storage(tensor.storage()), c10::DispatchKey::CUDA);
  }
};

// An operator that was called while a stream is captured into a graph: the graph calls it again at each replay.
struct Recorded {
  c10::OperatorHandle op;
  torch::jit::Stack arguments, results;

  static void replay(void* data) {
    auto& self = *static_cast<Recorded*>(data);
    torch::jit::Stack stack = self.arguments;
    Call().run(self.op, &stack);
    for (size_t i = 0; i < stack.size(); ++i) copy(self.results[i], stack[i]);
  }
  static void copy(const IValue& to, const IValue& from) {
    if (to.isTensorList()) {
      const auto targets = to.toTensorVector(), sources = from.toTensorVector();
      for (size_t i = 0; i < targets.size(); ++i) copy(IValue(targets[i]), IValue(sources[i]));
    } else if (to.isTensor() && to.toTensor().defined() && !to.toTensor().is_alias_of(from.toTensor())) {
      at::AutoDispatchBelowADInplaceOrView below;
      to.toTensor().copy_(from.toTensor());
    }
  }
};

bool writes_arguments_alone(const c10::FunctionSchema& schema) {
  for (const auto& one : schema.returns())
    if (!one.alias_info() || !one.alias_info()->isWrite()) return false;
  return schema.is_mutable();
}

thread_local bool capturing = false;
thread_local int64_t current_stream = 0;  // a CUstream

// How often device memory was written so far; `more`: of which just now.
uint64_t device_writes(unsigned more = 0) {
  static auto* function = reinterpret_cast<uint64_t (*)(unsigned)>(driver_function("memsim_device_writes"));
  return function(more);
}

bool only_looks(const c10::FunctionSchema& schema) {
  for (const auto& one : schema.returns())
    if (!one.alias_info() || one.alias_info()->isWrite()) return false;
  return !schema.returns().empty();
}

void compute_on_cpu(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  if (!only_looks(op.schema())) {
    driver("cuCtxResetPersistingL2Cache");  // does nothing but return the error of a kernel that has failed
    device_writes(1);
  }
  if (!capturing) return Call().run(op, stack);
  const size_t n = op.schema().arguments().size();
  auto* recorded = new Recorded{op, torch::jit::Stack(stack->end() - n, stack->end()), {}};
  if (writes_arguments_alone(op.schema())) {  // a captured operator is not executed yet
    torch::jit::Stack results;
    for (size_t i = 0; i < n; ++i)
      if (op.schema().is_mutable({c10::SchemaArgType::input, i})) results.push_back(recorded->arguments[i]);
    torch::jit::drop(*stack, n);
    for (size_t i = 0; i < op.schema().returns().size(); ++i) stack->push_back(results[i]);
  } else {  // once, for its results' shapes
    Call().run(op, stack);
  }
  recorded->results.assign(stack->end() - op.schema().returns().size(), stack->end());
  driver("cuLaunchHostFunc", reinterpret_cast<void*>(current_stream), &Recorded::replay, static_cast<void*>(recorded));
}

// Layer norms and matrix products: a GPU adds numbers of half precision in single precision, a CPU does not, and takes many
// times longer for half precision. The first result has the type of the first argument. The others are statistics of rows, in single precision, or gradients of the last tensor, a weight.
void compute_in_single_precision(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

// A matrix product that repeats the latest one, while no device memory was written: its result, if it gets the place of
// the latest result, is there already. Programs that time a product repeat it thousands of times.
void multiply(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const at::Tensor left = torch::jit::peek(*stack, 0, 2).toTensor(), right = torch::jit::peek(*stack, 1, 2).toTensor();
  if (capturing || !at::isReducedFloatingType(left.scalar_type()) || left.dim() != 2 || right.dim() != 2)
    return compute_in_single_precision(op, keys, stack);
  static std::mutex mutex;
  static std::vector<int64_t> latest;
  static uint64_t writes = 0;
  const at::Tensor result = at::detail::empty_generic({left.size(0), right.size(1)}, &allocator,
                                                      c10::DispatchKeySet(c10::DispatchKey::CUDA), left.scalar_type(), {});
  std::vector<int64_t> call;
  for (const at::Tensor& one : {left, right, result}) {
    call.push_back(reinterpret_cast<int64_t>(one.data_ptr()));
    call.push_back(int64_t(one.scalar_type()));
    for (int64_t d = 0; d < 2; ++d) call.insert(call.end(), {one.size(d), one.stride(d)});
  }
  std::lock_guard<std::mutex> guard(mutex);
  if (call != latest || writes != device_writes()) {
    compute_in_single_precision(op, keys, stack);
    at::AutoDispatchBelowADInplaceOrView below;
    result.copy_(torch::jit::pop(*stack).toTensor());
    latest = call, writes = device_writes();
  } else {
    torch::jit::drop(*stack, 2);
  }
  torch::jit::push(*stack, result);
}

void compute_in_single_precision(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  at::AutoDispatchBelowADInplaceOrView below;
  std::vector<at::ScalarType> types;
  for (size_t i = stack->size() - op.schema().arguments().size(); i < stack->size(); ++i) {
    IValue& value = (*stack)[i];
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    types.push_back(value.toTensor().scalar_type());
    if (at::isReducedFloatingType(types.back())) value = value.toTensor().to(at::kFloat);
  }
  compute_on_cpu(op, keys, stack);
  const size_t first = stack->size() - op.schema().returns().size();
  const bool gradients = op.schema().name() == "aten::native_layer_norm_backward";
  for (size_t i = first; i < stack->size(); ++i) {
    IValue& value = (*stack)[i];
    if (value.isTensor() && value.toTensor().defined() && (i == first || gradients))
      value = value.toTensor().to(i == first ? types.front() : types.back());
  }
}

void refuse_sparse(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, no_sparse_tensors);
}

void do_nothing(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, op.schema().arguments().size());
}

// scaled_dot_product_attention: by matrix products, for the fused kernels are the GPU's.
void choose_products(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, op.schema().arguments().size());
  torch::jit::push(*stack, int64_t(0));
}

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>, std::optional<Device>,
                 std::optional<bool>, std::optional<at::MemoryFormat> format) {
  const auto type = dtype.value_or(c10::typeMetaToScalarType(c10::get_default_dtype()));
  return at::detail::empty_generic(size, &allocator, c10::DispatchKeySet(c10::DispatchKey::CUDA), type, format);
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<Device>, std::optional<bool>) {
  const auto type = dtype.value_or(c10::typeMetaToScalarType(c10::get_default_dtype()));
  return at::detail::empty_strided_generic(size, stride, &allocator, c10::DispatchKeySet(c10::DispatchKey::CUDA), type);
}

TORCH_LIBRARY_IMPL(_, CUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&compute_on_cpu>()); }

TORCH_LIBRARY_IMPL(_, SparseCUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_sparse>()); }
TORCH_LIBRARY_IMPL(_, SparseCsrCUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_sparse>()); }

// Operators whose general implementation asks for kernels of the GPU by other ways than the dispatcher.
TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  for (const char* name : {"copy_", "convolution", "convolution_backward", "convolution_overrideable", "cdist_backward"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&compute_on_cpu>());
  for (const char* name : {"native_layer_norm", "native_layer_norm_backward", "bmm", "addmm", "baddbmm", "addmv", "mv"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&compute_in_single_precision>());
  m.impl("mm", torch::CppFunction::makeFromBoxedFunction<&multiply>());
  m.impl("record_stream", torch::CppFunction::makeFromBoxedFunction<&do_nothing>());
  m.impl("_fused_sdp_choice", torch::CppFunction::makeFromBoxedFunction<&choose_products>());
}

// -- streams, events, the device ----------------------------------------------------------------------------------------

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr DeviceType static_type = DeviceType::CUDA;
  c10::Stream stream(int64_t id) const { return c10::Stream(c10::Stream::UNSAFE, gpu, id); }
  DeviceType type() const override { return static_type; }
  Device exchangeDevice(Device) const override { return gpu; }
  Device getDevice() const override { return gpu; }
  void setDevice(Device device) const override { check(device); }
  void uncheckedSetDevice(Device) const noexcept override {}
  void check(Device device) const { TORCH_CHECK(device.index() <= 0, "CUDA error: invalid device ordinal"); }
  c10::Stream getStream(Device) const noexcept override { return stream(current_stream); }
  c10::Stream getDefaultStream(Device) const override { return stream(0); }
  c10::Stream getStreamFromGlobalPool(Device device, bool) const override { return getNewStream(device, 0); }
  c10::Stream getNewStream(Device, int priority = 0) const override {
    use_device();
    void* handle = nullptr;
    driver("cuStreamCreateWithPriority", &handle, 1u, priority);
    return stream(reinterpret_cast<int64_t>(handle));
  }
  c10::Stream exchangeStream(c10::Stream other) const noexcept override {
    const int64_t before = current_stream;
    current_stream = other.id();
    return stream(before);
  }
  void* getStreamNativeHandle(const c10::Stream s) const { return reinterpret_cast<void*>(s.id()); }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override {
    if (event) reinterpret_cast<int (*)(void*)>(driver_function("cuEventDestroy_v2"))(event);
  }
  void record(void** event, const c10::Stream& s, const DeviceIndex, const c10::EventFlag flag) const override {
    use_device();
    if (!*event) driver("cuEventCreate", event, flag == c10::EventFlag::BACKEND_DEFAULT ? 0u : 2u);
    driver("cuEventRecord", *event, reinterpret_cast<void*>(s.id()));
  }
  void block(void* event, const c10::Stream& s) const override {
    if (event) driver("cuStreamWaitEvent", reinterpret_cast<void*>(s.id()), event, 0u);
  }
  bool queryEvent(void*) const override { return true; }
  DeviceIndex deviceCount() const noexcept override { return 1; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream& s) const override { driver("cuStreamSynchronize", reinterpret_cast<void*>(s.id())); }
  void synchronizeEvent(void* event) const override {
    if (event) driver("cuEventSynchronize", event);
  }
  void synchronizeDevice(const DeviceIndex) const override { driver("cuCtxSynchronize"); }
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
  double elapsedTime(void* start, void* stop, const DeviceIndex) const override {
    float milliseconds = 0;
    driver("cuEventElapsedTime", &milliseconds, start, stop);
    return milliseconds;
  }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard);

struct Hooks final : at::CUDAHooksInterface {
  explicit Hooks(at::CUDAHooksArgs) {}
  void init() const override { use_device(); }
  void initCUDA() const { use_device(); }  // until torch 2.5
  bool isBuilt() const { return true; }
  bool isAvailable() const { return true; }
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const { return 1; }
  DeviceIndex current_device() const override { return 0; }
  void setCurrentDevice(DeviceIndex) const {}
  DeviceIndex getCurrentDevice() const { return 0; }
  DeviceIndex exchangeDevice(DeviceIndex) const { return 0; }
  DeviceIndex maybeExchangeDevice(DeviceIndex) const { return 0; }
  int getNumGPUs() const override { return 1; }
  at::Allocator* getPinnedMemoryAllocator() const override { return c10::GetAllocator(DeviceType::CPU); }
  at::Allocator* getCUDADeviceAllocator() const override { return &allocator; }
  Device getDeviceFromPtr(void*) const override { return gpu; }
  const at::Generator& getDefaultGenerator(DeviceIndex = -1) const {
    static const at::Generator generator = at::make_generator<Generator>(at::detail::getDefaultCPUGenerator());
    return generator;
  }
  const at::Generator& getDefaultCUDAGenerator(DeviceIndex = -1) const { return getDefaultGenerator(); }
  at::Generator getNewGenerator(DeviceIndex = -1) const { return at::make_generator<Generator>(at::detail::createCPUGenerator()); }
  void deviceSynchronize(DeviceIndex) const override { driver("cuCtxSynchronize"); }
  std::string showConfig() const override { return "memsim"; }
};

}  // namespace

namespace at {
using CUDAHooks = Hooks;  // torch looks the class up by this name
REGISTER_CUDA_HOOKS(CUDAHooks);
}  // namespace at

extern "C" {
__attribute__((visibility("default"))) int64_t memsim_torch_stream() { return current_stream; }
__attribute__((visibility("default"))) void memsim_torch_set_stream(int64_t id) { current_stream = id; }
__attribute__((visibility("default"))) void memsim_torch_start() {
  torch_allocator = c10::GetAllocator(DeviceType::CPU);
  c10::SetAllocator(DeviceType::CPU, &cpu_allocator, 255);
  c10::SetAllocator(DeviceType::CUDA, &allocator, 255);
}
__attribute__((visibility("default"))) void memsim_torch_capture(int on) { capturing = on; }
// Bytes allocated now and at most, and allocations made.
__attribute__((visibility("default"))) void memsim_torch_memory(int64_t* values) {
  values[0] = allocated, values[1] = peak, values[2] = allocations;
}
__attribute__((visibility("default"))) void memsim_torch_reset_peak() { peak = allocated.load(); }
}
