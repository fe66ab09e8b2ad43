// Properties, attributes and limits of the chosen GPU.

#include <algorithm>
#include <cstdlib>

#include "state.h"

namespace memsim {

namespace {

template <typename T>
struct Field {
  const char* name;
  T DeviceProperties::* member;
};

#define FIELD(name) {#name, &DeviceProperties::name}
constexpr Field<int> int_fields[] = {
    FIELD(compute_capability_major), FIELD(compute_capability_minor), FIELD(has_persisting_l2),
    FIELD(has_clusters), FIELD(sms), FIELD(clock_khz), FIELD(memory_clock_khz), FIELD(memory_bus_bits), FIELD(l2_bytes), FIELD(shared_per_sm), FIELD(shared_per_block),
    FIELD(shared_per_block_optin), FIELD(reserved_shared_per_block), FIELD(registers_per_sm),
    FIELD(registers_per_block), FIELD(max_threads_per_sm), FIELD(max_threads_per_block), FIELD(max_blocks_per_sm),
    FIELD(warp_size), FIELD(launch_overhead_ns), FIELD(copy_latency_ns),
};
constexpr Field<double> double_fields[] = {
    FIELD(copy_bytes_per_us_h2d), FIELD(copy_bytes_per_us_d2h), FIELD(copy_bytes_per_us_d2d),
};
#undef FIELD

void set_property(DeviceProperties& properties, const std::string& name, const std::string& value) {
  if (name == "name") properties.name = value;
  if (name == "memory_bytes") properties.memory_bytes = strtoull(value.c_str(), nullptr, 10);
  for (const auto& field : int_fields)
    if (name == field.name) properties.*field.member = int(strtod(value.c_str(), nullptr));
  for (const auto& field : double_fields)
    if (name == field.name) properties.*field.member = strtod(value.c_str(), nullptr);
}

// Attributes that are the same on every GPU since compute capability 8.0 (CUDA C++ Programming Guide, "Compute
// Capabilities", and cudaDeviceGetAttribute of the Runtime API): number, value.
struct FixedAttribute {
  int number, value;
};
constexpr FixedAttribute fixed_attributes[] = {
    {2, 1024},       {3, 1024},      {4, 64},         // block dimensions
    {5, 2147483647}, {6, 65535},     {7, 65535},      // grid dimensions
    {9, 65536},      {11, 2147483647},                // constant memory, pitch
    {14, 512},       {51, 32},       {30, 512},       // texture, pitch and surface alignment
    {15, 1},         {40, 3},                         // copy engines
    {17, 0},         {18, 0},        {19, 1},         // time-out, integrated, maps host memory
    {20, 0},         {31, 1},        {32, 1},         // compute mode, concurrent kernels, ECC
    {33, 1},         {34, 0},        {50, 0},         // PCI bus, device, domain
    {35, 0},         {41, 1},                         // TCC, unified addressing
    {21, 131072},    {22, 131072},   {23, 65536},     // textures
    {24, 16384},     {25, 16384},    {26, 16384},    {27, 32768}, {28, 32768}, {29, 2048},
    {42, 32768},     {43, 2048},     {44, 1},        {45, 32768}, {46, 32768},
    {47, 8192},      {48, 8192},     {49, 32768},    {52, 32768}, {53, 32768}, {54, 2046},
    {55, 32768},     {56, 131072},   {57, 65536},    {58, 16384}, {59, 16384}, {60, 16384},  // surfaces
    {61, 32768},     {62, 2048},     {63, 32768},    {64, 32768}, {65, 2048},  {66, 32768},
    {67, 32768},     {68, 2046},     {69, 268435456},
    {70, 131072},    {71, 65000},    {72, 2097120},  {73, 32768}, {74, 32768}, {77, 32768},
    {78, 1},         {79, 1},        {80, 1},         // stream priorities, L1 caches
    {83, 1},         {84, 0},        {85, 0},         // managed memory, boards
    {86, 0},         {87, 2},        {88, 0},        {89, 1}, {90, 1}, {91, 1},
    {92, 0},         {93, 0},        {94, 0},         // stream memory operations
    {95, 1},         {96, 0},        {98, 0},        {99, 1}, {100, 0}, {101, 0},
    {102, 1},        {103, 0},       {104, 0},       {105, 0}, {107, 0},
    {110, 0},        {112, 0},       {113, 1},       {114, 0}, {115, 1}, {116, 0}, {117, 0}, {118, 0}, {119, 0},
    {121, 0},        {122, 0},       {123, 0},       {124, 0}, {125, 0}, {126, 1},
    {128, 0},        {129, 1},       {130, 0},       {131, -1}, {132, 0}, {133, 0}, {134, -1}, {135, 0},
    {136, 0},        {137, 0},       {138, 0},       {139, 0}, {140, 0}, {141, 0}, {142, 0}, {143, 0}, {144, 0},
    {145, 0},        {146, 0},       {147, 0},
};

// Attributes that follow from the properties.
bool varying_attribute(const DeviceProperties& p, int attribute, int* value) {
  switch (attribute) {
    case 1: *value = p.max_threads_per_block; return true;
    case 8: *value = p.shared_per_block; return true;
    case 10: *value = p.warp_size; return true;
    case 12: *value = p.registers_per_block; return true;
    case 13: *value = p.clock_khz; return true;
    case 16: *value = p.sms; return true;
    case 36: *value = p.memory_clock_khz; return true;
    case 37: *value = p.memory_bus_bits; return true;
    case 38: *value = p.l2_bytes; return true;
    case 39: *value = p.max_threads_per_sm; return true;
    case 75: *value = p.compute_capability_major; return true;
    case 76: *value = p.compute_capability_minor; return true;
    case 81: *value = p.shared_per_sm; return true;
    case 82: *value = p.registers_per_sm; return true;
    case 97: *value = p.shared_per_block_optin; return true;
    case 106: *value = p.max_blocks_per_sm; return true;
    case 108: *value = p.has_persisting_l2 ? p.l2_bytes / 4 * 3 : 0; return true;
    case 109: *value = p.has_persisting_l2 ? 134213632 : 0; return true;
    case 111: *value = p.reserved_shared_per_block; return true;
    case 120: *value = p.has_clusters; return true;
    case 127: *value = p.has_clusters; return true;
    default: return false;
  }
}

// cudaLimit: number, value at the start (cudaDeviceGetLimit).
constexpr std::pair<int, size_t> default_limits[] = {
    {limit_stack, 1024},    // stack of a thread
    {1, size_t(1) << 20},   // printf FIFO
    {2, size_t(8) << 20},   // malloc heap
    {3, 2},                 // device runtime: sync depth
    {4, 2048},              // device runtime: pending launches
    {5, 64},                // L2 fetch granularity
    {6, 0},                 // persisting L2
};

}  // namespace

void parse_properties(const std::string& lines) {
  DeviceProperties& properties = state().properties;
  size_t at = 0;
  while (at < lines.size()) {
    size_t end = std::min(lines.find('\n', at), lines.size());
    size_t space = lines.find(' ', at);
    if (space < end) set_property(properties, lines.substr(at, space - at), lines.substr(space + 1, end - space - 1));
    at = end + 1;
  }
  if (properties.copy_bytes_per_us_d2d <= 0)  // each byte is read and written: half of the peak DRAM bandwidth
    properties.copy_bytes_per_us_d2d = properties.memory_clock_khz / 1e3 * 2 * properties.memory_bus_bits / 8 / 2;
}

const DeviceProperties& device_properties() {
  connect_once();
  return state().properties;
}

bool device_attribute(int attribute, int* value) {
  if (varying_attribute(device_properties(), attribute, value)) return true;
  for (const auto& fixed : fixed_attributes)
    if (fixed.number == attribute) {
      *value = fixed.value;
      return true;
    }
  return false;
}

void device_uuid(unsigned char uuid[16]) {
  constexpr char text[] = "memsim simulated";
  memcpy(uuid, text, 16);
}

Status get_limit(int limit, size_t* value) {
  State& s = state();
  Lock hold(s.lock);
  for (const auto& [number, initial] : default_limits)
    if (number == limit) {
      auto set = s.limits.find(limit);
      *value = set == s.limits.end() ? initial : set->second;
      return status::success;
    }
  return 215;  // cudaErrorUnsupportedLimit
}

Status set_limit(int limit, size_t value) {
  size_t now;
  if (Status failed = get_limit(limit, &now)) return failed;
  Lock hold(state().lock);
  state().limits[limit] = value;
  return status::success;
}

}  // namespace memsim
