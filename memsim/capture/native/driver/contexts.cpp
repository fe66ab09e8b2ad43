// Contexts: the device's primary one and those that the program creates (CUDA Driver API, "Context Management" and
// "Primary Context Management"). All share the device's memory, as one process has one arena.
#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "driver.h"

namespace memsim::driver {

struct Context {
  uint64_t id;
  unsigned flags = 0;
  int cache_config = 0;
  bool primary = false;
  int uses = 0;  // of the primary context
};

namespace {

std::mutex context_lock;
std::set<Context*>& created() {
  static auto* contexts = new std::set<Context*>;
  return *contexts;
}
std::atomic<uint64_t> next_id{1};
thread_local std::vector<Context*> stack;

}  // namespace

Context* primary_context() {
  static auto* primary = [] {
    auto* made = new Context{next_id++};
    made->primary = true;
    std::lock_guard<std::mutex> hold(context_lock);
    created().insert(made);
    return made;
  }();
  return primary;
}
bool is_context(const Context* context) {
  primary_context();
  std::lock_guard<std::mutex> hold(context_lock);
  return created().count(const_cast<Context*>(context)) != 0;
}
Context* current_context() { return stack.empty() ? nullptr : stack.back(); }

namespace {

void make_current(Context* context) {
  if (stack.empty()) stack.push_back(context);
  stack.back() = context;
  if (!context) stack.pop_back();
}
int create(Context** made, unsigned flags, int device) {
  MEMSIM_REQUIRE(made, invalid_value);
  MEMSIM_RETURN_IF(check_device(device));
  *made = new Context{next_id++, flags};
  {
    std::lock_guard<std::mutex> hold(context_lock);
    created().insert(*made);
  }
  stack.push_back(*made);
  return status::success;
}

}  // namespace
}  // namespace memsim::driver

using namespace memsim;
using namespace memsim::driver;

// For the runtime library: a thread without a context uses the primary one.
extern "C" MEMSIM_API void memsim_use_primary_context() {
  if (current_context()) return;
  Context* primary = primary_context();
  if (!primary->uses) primary->uses = 1;
  make_current(primary);
}

CU cuDevicePrimaryCtxRetain(Context** context, int device) {
  MEMSIM_REQUIRE(context, invalid_value);
  MEMSIM_RETURN_IF(check_device(device));
  *context = primary_context();
  ++(*context)->uses;
  return status::success;
}
CU cuDevicePrimaryCtxRelease_v2(int device) {
  MEMSIM_RETURN_IF(check_device(device));
  MEMSIM_REQUIRE(primary_context()->uses > 0, invalid_context);
  --primary_context()->uses;
  return status::success;
}
CU cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  MEMSIM_RETURN_IF(check_device(device));
  primary_context()->flags = flags;
  return status::success;
}
CU cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  MEMSIM_RETURN_IF(check_device(device));
  if (flags) *flags = primary_context()->flags;
  if (active) *active = primary_context()->uses > 0;
  return status::success;
}
CU cuDevicePrimaryCtxReset_v2(int device) {
  MEMSIM_REQUIRE(device == first_device, invalid_device);
  reset_device();
  primary_context()->uses = 0;
  return status::success;
}

CU cuCtxCreate_v2(Context** made, unsigned flags, int device) { return create(made, flags, device); }
CU cuCtxCreate_v3(Context** made, void*, int, unsigned flags, int device) { return create(made, flags, device); }
CU cuCtxCreate_v4(Context** made, void*, unsigned flags, int device) { return create(made, flags, device); }
CU cuCtxDestroy_v2(Context* context) {
  MEMSIM_REQUIRE(is_context(context) && !context->primary, invalid_context);
  if (current_context() == context) stack.pop_back();
  std::lock_guard<std::mutex> hold(context_lock);
  created().erase(context);
  delete context;
  return status::success;
}
CU cuCtxAttach(Context** context, unsigned) {
  MEMSIM_REQUIRE(current_context(), invalid_context);
  return give(context, current_context());
}
CU cuCtxDetach(Context* context) { return is_context(context) ? status::success : status::invalid_context; }
CU cuCtxPushCurrent_v2(Context* context) {
  MEMSIM_REQUIRE(is_context(context), invalid_context);
  stack.push_back(context);
  return status::success;
}
CU cuCtxPopCurrent_v2(Context** context) {
  MEMSIM_REQUIRE(!stack.empty(), invalid_context);
  if (context) *context = stack.back();
  stack.pop_back();
  return status::success;
}
CU cuCtxSetCurrent(Context* context) {
  MEMSIM_REQUIRE(!context || is_context(context), invalid_context);
  make_current(context);
  return status::success;
}
CU cuCtxGetCurrent(Context** context) { return give(context, current_context()); }
CU cuCtxGetDevice(int* device) {
  MEMSIM_REQUIRE(current_context(), invalid_context);
  return give(device, first_device);
}
CU cuCtxGetDevice_v2(int* device, Context* context) {
  MEMSIM_REQUIRE(context ? is_context(context) : current_context() != nullptr, invalid_context);
  return give(device, first_device);
}
CU cuCtxGetFlags(unsigned* flags) {
  MEMSIM_REQUIRE(current_context(), invalid_context);
  return give(flags, current_context()->flags);
}
CU cuCtxSetFlags(unsigned flags) {
  MEMSIM_REQUIRE(current_context(), invalid_context);
  current_context()->flags = flags;
  return status::success;
}
CU cuCtxGetId(Context* context, uint64_t* id) {
  if (!context) context = current_context();
  MEMSIM_REQUIRE(context && is_context(context), invalid_context);
  return give(id, context->id);
}
CU cuCtxGetApiVersion(Context* context, unsigned* version) {
  MEMSIM_REQUIRE(!context || is_context(context), invalid_context);
  return give(version, 3020);
}
CU cuCtxSynchronize() { return synchronize_device(); }
CU cuCtxGetLimit(size_t* value, int limit) { return value ? get_limit(limit, value) : status::invalid_value; }
CU cuCtxSetLimit(int limit, size_t value) { return set_limit(limit, value); }
CU cuCtxGetCacheConfig(int* config) { return give(config, current_context() ? current_context()->cache_config : 0); }
CU cuCtxSetCacheConfig(int config) {
  if (current_context()) current_context()->cache_config = config;
  return status::success;
}
CU cuCtxGetSharedMemConfig(int* config) {
  return give(config, 1);  // banks of four bytes
}
CU cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = least_priority;
  if (greatest) *greatest = greatest_priority;
  return ready();
}
CU cuCtxResetPersistingL2Cache() { return ready(); }
CU cuCtxGetExecAffinity(void*, int) { return 224; }  // CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
CU cuCtxEnablePeerAccess(Context*, unsigned) { return status::invalid_device; }
CU cuCtxDisablePeerAccess(Context*) { return status::peer_access_not_enabled; }
