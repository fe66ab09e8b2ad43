// Modules, their functions and variables.

#include "state.h"

namespace memsim {

namespace {

thread_local std::string failure;

Extent3 read_extent(Reader& in) {
  Extent3 extent;
  extent.x = in.u32();
  extent.y = in.u32();
  extent.z = in.u32();
  return extent;
}

std::unique_ptr<Function> read_function(Reader& in, Module* module, uint32_t index) {
  auto f = std::make_unique<Function>();
  f->module = module;
  f->index = index;
  f->name = in.text();
  f->registers = int(in.u32());
  f->static_shared = int(in.u32());
  f->local_bytes = int(in.u32());
  f->const_bytes = int(in.u32());
  f->max_threads = int(in.u32());
  f->ptx_version = int(in.u32());
  f->binary_version = int(in.u32());
  f->required_block = read_extent(in);
  f->cluster = read_extent(in);
  uint32_t n = in.u32();
  for (uint32_t i = 0; i < n && in.ok; ++i) {
    Parameter parameter;
    parameter.offset = in.u32();
    parameter.bytes = in.u32();
    f->parameters.push_back(parameter);
  }
  return f;
}

Variable read_variable(Reader& in) {
  Variable v;
  v.name = in.text();
  v.bytes = in.u64();
  v.align = in.u32();
  v.space = in.u32();
  v.managed = in.u32() != 0;
  return v;
}

// Gives every variable its memory and reports it to the server, which writes the initial values.
Status place_variables(Module& module) {
  Writer places;
  places.u64(module.id).u32(uint32_t(module.variables.size()));
  for (Variable& v : module.variables) {
    uint64_t bytes = v.bytes ? v.bytes : 1;  // `extern __shared__`-like arrays without a size
    if (Status failed = allocate(AllocationKind::variable, bytes, &v.address, 0, v.align ? v.align : 1, v.name))
      return failed;
    places.u64(v.address);
  }
  if (module.variables.empty()) return status::success;
  send_allocations();
  return request(protocol::place_variables, places).status;
}

void register_functions(State& s, Module& module) {
  s.modules.insert(&module);
  for (auto& f : module.functions) s.functions.insert(f.get());
}

Status load_bytes(std::vector<uint8_t> image, const std::string& options, Module** loaded) {
  Writer payload;
  payload.text(options).u64(image.size()).raw(image.data(), image.size());
  Reply reply = request(protocol::load_module, payload);
  Reader fields(reply.payload);
  if (reply.status) {
    failure = fields.text();
    return reply.status;
  }
  auto module = std::make_unique<Module>();
  module->id = fields.u64();
  uint32_t functions = fields.u32();
  for (uint32_t i = 0; i < functions && fields.ok; ++i)
    module->functions.push_back(read_function(fields, module.get(), i));
  uint32_t variables = fields.u32();
  for (uint32_t i = 0; i < variables && fields.ok; ++i) module->variables.push_back(read_variable(fields));
  if (!fields.ok) return status::unknown;
  if (Status failed = place_variables(*module)) return failed;
  register_functions(state(), *module);
  *loaded = module.release();
  return status::success;
}

}  // namespace

Function* Module::function(std::string_view name) const {
  for (const auto& f : functions)
    if (f->name == name) return f.get();
  return nullptr;
}

Variable* Module::variable(std::string_view name) {
  for (Variable& v : variables)
    if (v.name == name) return &v;
  return nullptr;
}

uint32_t Function::parameter_bytes() const {
  return parameters.empty() ? 0 : parameters.back().offset + parameters.back().bytes;
}

const std::string& load_failure() { return failure; }

Status load_module(const void* image, size_t bytes, const std::string& options, Module** module) {
  if (Status failed = ready()) return failed;
  failure.clear();
  if (!image) return status::invalid_value;
  if (!bytes) bytes = image_bytes(image);
  if (!bytes) return status::invalid_image;
  Lock hold(state().lock);
  const auto* first = static_cast<const uint8_t*>(image);
  return load_bytes({first, first + bytes}, options, module);
}

Status load_modules_linked(const std::vector<std::pair<const void*, size_t>>& images, const std::string& options,
                           Module** module) {
  if (Status failed = ready()) return failed;
  failure.clear();
  Writer container;
  container.raw(protocol::linked_images, 8).u32(uint32_t(images.size()));
  for (const auto& [image, given] : images) {
    size_t bytes = given ? given : image_bytes(image);
    if (!bytes) return status::invalid_image;
    container.u64(bytes).raw(image, bytes);
  }
  Lock hold(state().lock);
  return load_bytes(container.data(), options, module);
}

Status unload_module(Module* module) {
  State& s = state();
  Lock hold(s.lock);
  if (!s.modules.erase(module)) return status::invalid_handle;
  for (auto& f : module->functions) s.functions.erase(f.get());
  for (Variable& v : module->variables) release(v.address);
  delete module;
  return status::success;
}

bool is_module(const Module* module) {
  State& s = state();
  Lock hold(s.lock);
  return s.modules.count(const_cast<Module*>(module)) != 0;
}

bool is_function(const void* function) {
  State& s = state();
  Lock hold(s.lock);
  return s.functions.count(function) != 0;
}

std::vector<uint8_t> pack_parameters(const Function& function, void* const* arguments) {
  std::vector<uint8_t> packed(function.parameter_bytes());
  for (size_t i = 0; i < function.parameters.size(); ++i)
    if (arguments && arguments[i])
      memcpy(packed.data() + function.parameters[i].offset, arguments[i], function.parameters[i].bytes);
  return packed;
}

void assemble(Function& f) {
  if (f.assembled) return;
  Reply reply = request(protocol::assembled, Writer().u64(f.module->id).u32(f.index));
  Reader fields(reply.payload);
  f.assembled = true;
  if (reply.status) return;
  f.registers = int(fields.u32());
  f.static_shared = int(fields.u32());
  f.local_bytes = int(fields.u32());
  f.const_bytes = int(fields.u32());
}

bool function_attribute(const Function& f, int attribute, int* value) {
  assemble(const_cast<Function&>(f));
  const DeviceProperties& p = device_properties();
  switch (attribute) {
    case 0: *value = f.max_threads; return true;
    case 1: *value = f.static_shared; return true;
    case 2: *value = f.const_bytes; return true;
    case 3: *value = f.local_bytes; return true;
    case 4: *value = f.registers; return true;
    case 5: *value = f.ptx_version; return true;
    case 6: *value = f.binary_version; return true;
    case 7: *value = 0; return true;
    case 8: *value = f.max_dynamic_shared ? f.max_dynamic_shared : p.shared_per_block - f.static_shared; return true;
    case 9: *value = f.preferred_carveout; return true;
    case 11: *value = int(f.cluster.x); return true;
    case 12: *value = int(f.cluster.y); return true;
    case 13: *value = int(f.cluster.z); return true;
    case 14: *value = f.nonportable_cluster; return true;
    case 10:
    case 15: {
      auto set = f.set_attributes.find(attribute);
      *value = set == f.set_attributes.end() ? 0 : set->second;
      return true;
    }
    default: return false;
  }
}

Status set_function_attribute(Function& f, int attribute, int value) {
  const DeviceProperties& p = device_properties();
  Lock hold(state().lock);
  switch (attribute) {
    case 8:
      if (value < 0 || value + f.static_shared > p.shared_per_block_optin) return status::invalid_value;
      f.max_dynamic_shared = value;
      return status::success;
    case 9:
      if (value < -1 || value > 100) return status::invalid_value;
      f.preferred_carveout = value;
      return status::success;
    case 14:
      f.nonportable_cluster = value != 0;
      return status::success;
    case 11: f.cluster.x = uint32_t(value); break;
    case 12: f.cluster.y = uint32_t(value); break;
    case 13: f.cluster.z = uint32_t(value); break;
    case 10:
    case 15: break;
    default: return status::invalid_value;
  }
  f.set_attributes[attribute] = value;
  return status::success;
}

// Functions keep their handles, which the program's stubs hold in static variables; variables get their first values.
void reset_device() {
  State& s = state();
  Lock hold(s.lock);
  if (!s.connected || s.socket < 0) return;
  s.fault = status::success;
  std::vector<uint64_t> addresses;
  for (const auto& [address, one] : s.allocations)
    if (one.kind != AllocationKind::variable && !one.registered) addresses.push_back(address);
  for (uint64_t address : addresses) release(address);
  for (const Module* module : s.modules) {
    if (module->variables.empty()) continue;
    Writer places;
    places.u64(module->id).u32(uint32_t(module->variables.size()));
    for (const Variable& v : module->variables) places.u64(v.address);
    send_allocations();
    request(protocol::place_variables, places);
  }
  s.limits.clear();
}

}  // namespace memsim
