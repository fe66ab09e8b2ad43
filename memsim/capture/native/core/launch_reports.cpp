// Reports of launches to an observer in another library, CUPTI's stand-in.

#include "../launch_reports.h"

#include "state.h"

namespace memsim {

namespace {

MemsimLaunchObserver observer = nullptr;
uint64_t reported = 0;

}  // namespace

bool launches_are_observed() { return observer != nullptr; }

LaunchReports::LaunchReports(const Stream& stream, const Launch& launch) {
  if (!observer) return;
  const Function& f = *launch.function;
  report_.number = ++reported;
  report_.kernel = f.name.c_str();
  report_.stream = stream.id;
  const uint32_t grid[] = {launch.grid.x, launch.grid.y, launch.grid.z};
  const uint32_t block[] = {launch.block.x, launch.block.y, launch.block.z};
  for (int d = 0; d < 3; ++d) {
    report_.grid[d] = grid[d];
    report_.block[d] = block[d];
  }
  report_.registers = uint32_t(f.registers);
  report_.static_shared = uint32_t(f.static_shared);
  report_.dynamic_shared = launch.shared_bytes;
  report_.local_bytes = uint32_t(f.local_bytes);
  observer(&report_, 0);
}

void LaunchReports::end(uint64_t start_ns, uint64_t ns) {
  if (!observer || !report_.number) return;
  report_.start_ns = start_ns;
  report_.end_ns = start_ns + ns;
  observer(&report_, 1);
}

}  // namespace memsim

// What CUPTI's stand-in looks up with dlsym: where reports go (null ends them), and simulated time.
extern "C" MEMSIM_API void memsim_observe_launches(MemsimLaunchObserver observer) {
  memsim::Lock hold(memsim::state().lock);
  memsim::observer = observer;
}

extern "C" MEMSIM_API uint64_t memsim_host_time_ns() {
  memsim::Lock hold(memsim::state().lock);
  return memsim::host_time_ns();
}
