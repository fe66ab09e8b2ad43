// Addresses of the functions in functions.def, which is made of names/driver.txt: FUNCTION(name that programs ask for, CUDA
// version that introduced it, symbol), and PER_THREAD(symbol of the per-thread default stream, symbol, name, version).
// They are declared here without their parameters, so this file includes no header that declares one of them.
#include "entry_points.h"

#define FUNCTION(name, version, symbol) extern "C" int symbol();
#define PER_THREAD(per_thread, symbol, name, version) extern "C" int per_thread();
#include "functions.def"
#undef FUNCTION
#undef PER_THREAD

namespace memsim::driver {
namespace {

const EntryPoint ordinary[] = {
#define FUNCTION(name, version, symbol) {#name, version, #symbol, &symbol},
#define PER_THREAD(per_thread, symbol, name, version)
#include "functions.def"
#undef FUNCTION
#undef PER_THREAD
    {"cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags", &cuGraphInstantiateWithFlags},
};
const EntryPoint per_thread_default[] = {
#define FUNCTION(name, version, symbol)
#define PER_THREAD(per_thread, symbol, name, version) {#name, version, #per_thread, &per_thread},
#include "functions.def"
};

}  // namespace

EntryPoints ordinary_entry_points() { return {ordinary, sizeof ordinary / sizeof *ordinary}; }
EntryPoints per_thread_entry_points() { return {per_thread_default, sizeof per_thread_default / sizeof *per_thread_default}; }

}  // namespace memsim::driver
