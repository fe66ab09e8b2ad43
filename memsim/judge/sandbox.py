"""Runs a function in a process of its own, within a budget, and away from the network and other people's files.

Where the system permits it (Linux with unprivileged user namespaces), the process has namespaces of its own: no
network, only its own processes, a file system that it can read but not write, but for a private folder in memory. When
the process is ended, the system ends all that it started. Limits on memory, file size and processes hold everywhere.

Not protected: files that this user may read can be read, and the candidate's time is not shielded from other processes.
Sources: namespaces(7), mount_setattr(2), setrlimit(2).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from memsim.capture.program import descendants
from memsim.support.cache import cache_folder

_NEW_USER, _NEW_MOUNTS, _NEW_PROCESSES, _NEW_NETWORK, _NEW_IPC = 0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000
_PRIVATE, _RECURSIVE, _NO_SUID, _NO_DEVICES = 1 << 18, 1 << 14, 2, 4  # of mount(2)
_MOUNT_SETATTR, _AT_RECURSIVE, _AT_CWD, _READ_ONLY = 442, 0x8000, -100, 1
WALL = 5  # seconds from start to end per second of processor time
_PARENT_DIED = 1  # PR_SET_PDEATHSIG of prctl(2)
_INHERITED = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "MEMSIM_CACHE", "XDG_CACHE_HOME", "HOME", "PYTHONPATH")
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Budget:
    """What one candidate may use.

    Attributes:
        seconds: of processor time, of all its processes together; from start to end it has WALL times as many, so that
            a busy machine changes no verdict.
        memory_bytes: of each of its processes, beyond what memsim itself takes.
        processes: that it may start at a time; the compiler is several.
        disk_bytes: of its private folder.
    """

    seconds: float = 20.0
    memory_bytes: int = 4 << 30
    processes: int = 64
    disk_bytes: int = 1 << 30


class SandboxedProcess:
    """A process that runs a function, whose JSON result is read from a pipe.

    Args:
        work: called with a private folder; returns what JSON can hold.
        budget: of it.

    Attributes:
        pipe: a descriptor that becomes readable when there is something to :meth:`take`.
        cpu_seconds: that it and all that it started used, once it has ended.
    """

    def __init__(self, work: Callable[[Path], dict[str, Any]], budget: Budget) -> None:
        self.budget, self.begun = budget, time.monotonic()
        self._folder = tempfile.TemporaryDirectory(prefix="memsim-judge-", ignore_cleanup_errors=True)
        self.pipe, to_parent = os.pipe()
        self._received, self.cpu_seconds = b"", 0.0
        self._process = os.fork()
        if self._process == 0:
            os.close(self.pipe)
            _child(work, budget, Path(self._folder.name), to_parent)
        os.close(to_parent)

    @property
    def seconds_left(self) -> float:
        """Until its budget ends at the earliest, if one core works for it."""
        wall = self.begun + WALL * self.budget.seconds - time.monotonic()
        return min(wall, self.budget.seconds - self._used())

    def _used(self) -> float:
        return sum(map(_cpu_seconds, [self._process, *descendants(self._process)]))

    def take(self) -> bool:
        """Read what is there; whether that is all."""
        part = os.read(self.pipe, 1 << 16)
        self._received += part
        return not part

    def end(self) -> dict[str, Any] | None:
        """End it with all that it started; the result, or None if it gave none."""
        used = self._used()  # the time of what is killed is not counted for its parent
        for process in [*descendants(self._process), self._process]:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        os.close(self.pipe)
        _, _, usage = os.wait4(self._process, 0)
        self.cpu_seconds = max(used, usage.ru_utime + usage.ru_stime)
        self._folder.cleanup()
        try:
            found: dict[str, Any] = json.loads(self._received)
        except ValueError:
            return None
        return found


def _cpu_seconds(process: int) -> float:
    """Processor time of a process and of its children that have ended (proc_pid_stat(5)); 0 if it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # utime, stime, cutime, cstime


def _child(work: Callable[[Path], dict[str, Any]], budget: Budget, folder: Path, pipe: int) -> NoReturn:
    """Isolate this process, do the work, and end; never returns into the parent's code."""
    try:
        _libc.prctl(_PARENT_DIED, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        missing = _isolate(folder, budget)
        if not missing and (inner := os.fork()):  # the first process of a namespace is its child's
            os.waitpid(inner, 0)
            os._exit(0)
        _libc.prctl(_PARENT_DIED, signal.SIGKILL, 0, 0, 0)
        if not missing:
            missing = _own_files(folder, budget)
        _limit(budget)
        _leave_behind(folder)
        found = work(folder)
        found["sandbox"] = {"isolated": not missing, "missing": missing}
        with os.fdopen(pipe, "w") as out:
            json.dump(found, out, allow_nan=False)
    finally:
        os._exit(0)


def _isolate(folder: Path, budget: Budget) -> str:
    """Take namespaces of its own; what is missing, empty if nothing is."""
    user, group = os.getuid(), os.getgid()
    spaces = _NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_NETWORK | _NEW_IPC
    if _libc.unshare(spaces):
        return f"no network, process and file isolation: unshare: {os.strerror(ctypes.get_errno())}"
    with suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return ""


def _own_files(folder: Path, budget: Budget) -> str:
    """Make all files read-only but a folder in memory; what is missing, empty if nothing is."""

    class MountAttributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user")]

    read_only = MountAttributes(_READ_ONLY, 0, 0, 0)
    cache = os.fsencode(cache_folder("programs").parent)  # loops that memsim compiles here last as long as it does
    size = f"size={budget.disk_bytes}".encode()
    folder_name = os.fsencode(folder)
    steps: list[tuple[str, Callable[[], int]]] = [
        ("private mounts", lambda: _libc.mount(None, b"/", None, _PRIVATE | _RECURSIVE, None)),
        (
            "read-only files",
            lambda: _libc.syscall(
                _MOUNT_SETATTR, _AT_CWD, b"/", _AT_RECURSIVE, ctypes.byref(read_only), ctypes.sizeof(read_only)
            ),
        ),
        ("a private folder", lambda: _libc.mount(b"memsim", folder_name, b"tmpfs", _NO_SUID | _NO_DEVICES, size)),
        ("a layer above memsim's cache", lambda: _overlay(cache, folder_name)),
        ("a view of its own processes", lambda: _libc.mount(b"proc", b"/proc", b"proc", _NO_SUID | _NO_DEVICES, None)),
    ]
    return "; ".join(f"no {name}: {os.strerror(ctypes.get_errno())}" for name, step in steps if step())


def _overlay(lower: bytes, folder: bytes) -> int:
    """What is written to a folder goes to a layer in the private one (filesystems/overlayfs of the kernel's manual)."""
    upper, work = folder + b"/cache", folder + b"/work"
    for one in (upper, work):
        os.mkdir(one)
    options = b"lowerdir=%s,upperdir=%s,workdir=%s,userxattr" % (lower, upper, work)
    found: int = _libc.mount(b"overlay", lower, b"overlay", _NO_SUID | _NO_DEVICES, options)
    return found


def _limit(budget: Budget) -> None:
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = {
        resource.RLIMIT_AS: taken + budget.memory_bytes,
        resource.RLIMIT_FSIZE: budget.disk_bytes,
        resource.RLIMIT_NPROC: budget.processes,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in limits.items():
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))


def _leave_behind(folder: Path) -> None:
    """Nothing of the parent's that a candidate could use: secrets in the environment, its terminal, its folders."""
    null_device = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null_device, descriptor)
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    os.environ.clear()
    os.environ.update(inherited, TMPDIR=str(folder), MEMSIM_CACHE_MB="0")
    tempfile.tempdir = str(folder)
    os.chdir(folder)
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_DFL)
