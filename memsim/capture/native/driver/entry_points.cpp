// cuGetProcAddress: the function of a name that a CUDA version knows (CUDA Driver API, "Driver Entry Point Access").
#include "entry_points.h"

#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "driver.h"

namespace {

using namespace memsim::driver;

constexpr uint64_t per_thread_flag = 2;
enum Found { symbol_found = 0, symbol_unknown = 1, version_too_old = 2 };

using Table = std::unordered_map<std::string_view, std::vector<const EntryPoint*>>;
Table table_of(const EntryPoints& entries) {
  Table table;
  for (size_t i = 0; i < entries.n; ++i) {
    const EntryPoint& entry = entries.entries[i];
    table[entry.name].push_back(&entry);
    // Some programs ask for the symbol, suffix included.
    if (strcmp(entry.name, entry.symbol) != 0) table[entry.symbol].push_back(&entry);
  }
  return table;
}

// The newest function of the name that the version knows. `known` says whether any version has it.
const EntryPoint* newest(const Table& table, const char* name, int version, bool* known) {
  auto found = table.find(name);
  *known = *known || found != table.end();
  const EntryPoint* best = nullptr;
  if (found == table.end()) return best;
  for (const EntryPoint* entry : found->second)
    if (entry->version <= version && (!best || entry->version > best->version)) best = entry;
  return best;
}

}  // namespace

CU cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* found) {
  static const Table& functions = *new Table(table_of(ordinary_entry_points()));
  static const Table& per_thread = *new Table(table_of(per_thread_entry_points()));
  if (!name || !function) return memsim::status::invalid_value;
  bool known = false;
  const EntryPoint* best = newest(functions, name, version, &known);
  if (flags & per_thread_flag) {
    const EntryPoint* own = newest(per_thread, name, version, &known);
    if (own && (!best || own->version >= best->version || own->version >= 7000)) best = own;
  }
  *function = best ? reinterpret_cast<void*>(best->function) : nullptr;
  if (found) *found = best ? symbol_found : known ? version_too_old : symbol_unknown;
  // Without a place for the reason, the status is the reason.
  return best || found ? memsim::status::success : memsim::status::not_found;
}

CU cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
