// The functions of the driver API by name and version.
#pragma once

#include <cstddef>

namespace memsim::driver {

struct EntryPoint {
  const char* name;
  int version;
  const char* symbol;
  int (*function)();
};
struct EntryPoints {
  const EntryPoint* entries;
  size_t n;
};
EntryPoints ordinary_entry_points();
EntryPoints per_thread_entry_points();  // for programs compiled with a default stream per thread

}  // namespace memsim::driver
