// Does the runtime declare the operating system as its headers do?
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "memsim/system.h"

using namespace memsim_probe::os;

static_assert(interrupted == EINTR && die_with_parent == PR_SET_PDEATHSIG && kill_signal == SIGKILL);
static_assert(no_access == PROT_NONE && read_write == (PROT_READ | PROT_WRITE));
static_assert(private_memory == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE) && give_back == MADV_DONTNEED);
static_assert(close_on_exec == O_CLOEXEC && write_only == O_WRONLY && wait_and_lock == F_LOCK);
static_assert(bus_error == SIGBUS && arithmetic_error == SIGFPE && segmentation_fault == SIGSEGV);
static_assert(with_info == SA_SIGINFO && on_stack == SA_ONSTACK);
static_assert(offsetof(SignalInfo, address) == offsetof(siginfo_t, si_addr));
static_assert(sizeof(SignalAction) == sizeof(struct sigaction) &&
              offsetof(SignalAction, mask) == offsetof(struct sigaction, sa_mask));
static_assert(offsetof(SignalAction, flags) == offsetof(struct sigaction, sa_flags));
static_assert(sizeof(SignalStack) == sizeof(stack_t) && offsetof(SignalStack, start) == offsetof(stack_t, ss_sp));
static_assert(offsetof(SignalStack, flags) == offsetof(stack_t, ss_flags) &&
              offsetof(SignalStack, bytes) == offsetof(stack_t, ss_size));
