"""Runs one command in a forked child that cannot hang, take all memory or leave anything behind."""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

SECONDS = 60  # no damaged input is worth more; what it makes is small
LARGEST = 1 << 30  # bytes that a child may take in addition to what its parent had
_ROOM = 1 << 32  # where a child is stopped
_TRACEBACK = 99


class Outcome(StrEnum):
    """How a command on damaged input ended."""

    done = "done"  # the damage did not matter, or was allowed
    refused = "refused"  # exit code 2 and a message
    hang = "hang"
    traceback = "traceback"  # a crash of the interpreter too
    memory = "over 1 GB"
    accepted = "accepted"  # a file that is not as it was written


def command(arguments: Sequence[str]) -> Callable[[], None]:
    """A memsim command, in this process: ends by SystemExit."""

    def run() -> None:
        from memsim.cli import app

        app(list(arguments))

    return run


def tried(action: Callable[[], None], folder: Path) -> tuple[Outcome, str]:
    """The outcome of `action` in a child of its own with `folder` as the current one, and what it said on stderr.

    What is slow to import or compile must have been used here before: the child inherits it.
    """
    said = folder / ".said"
    before = _resident_bytes()
    child = os.fork()
    if child == 0:
        _become(action, folder, said)
    _, status, used = os.wait4(child, 0)
    text = said.read_text(errors="replace") if said.exists() else ""
    if os.WIFSIGNALED(status):
        return (Outcome.hang if os.WTERMSIG(status) == signal.SIGALRM else Outcome.traceback), text
    code = os.WEXITSTATUS(status)
    if code not in (0, 1, 2):
        return Outcome.traceback, text
    if used.ru_maxrss * 1024 - before > LARGEST:
        return Outcome.memory, text
    return (Outcome.refused if code else Outcome.done), text


def _become(action: Callable[[], None], folder: Path, said: Path) -> None:
    """Run `action` and end the process, whatever happens."""
    code = _TRACEBACK
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        room = _virtual_bytes() + _ROOM
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(folder)
        silent, loud = os.open(os.devnull, os.O_RDWR), os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number, to in enumerate((silent, silent, loud)):
            os.dup2(to, number)
        sys.stdout, sys.stderr = os.fdopen(1, "w", errors="replace"), os.fdopen(2, "w", errors="replace")
        action()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _virtual_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
