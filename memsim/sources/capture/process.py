"""The instrumented program as it runs: its log comes through one pipe, answers go to it through another."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from memsim.sources.capture.lane_log import Message, read_log
from memsim.support.errors import InputError

PIPE_BYTES = 1 << 20  # fewer turns between the program and its reader


class Process:
    """Runs a program in the user's current folder; its output goes where the user's goes.

    Args:
        path: the program.
        arguments: of its command line.
        shown: how messages name it.
        tells_arguments: whether it tells the arguments of launches.
    """

    def __init__(self, path: Path, arguments: Sequence[str], shown: str, tells_arguments: bool = False) -> None:
        self._path, self._arguments, self._shown = path, arguments, shown
        self._asked = {"MEMSIM_ARGUMENTS": "1"} if tells_arguments else {}

    def __enter__(self) -> Process:
        log, log_end = os.pipe()
        reply_end, reply = os.pipe()
        fcntl.fcntl(log, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._log, self._reply = open(log, "rb", buffering=0), open(reply, "w")  # noqa: SIM115
        environment = {**os.environ, "MEMSIM_LOG_FD": str(log_end), "MEMSIM_REPLY_FD": str(reply_end)} | self._asked
        sys.stdout.flush()
        self._process = subprocess.Popen(
            [str(self._path), *self._arguments], pass_fds=(log_end, reply_end), env=environment
        )
        os.close(log_end)
        os.close(reply_end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._log.close()
        with suppress(BrokenPipeError):  # it ended before it read an answer
            self._reply.close()

    @property
    def number(self) -> int:
        """The system's, of the process."""
        return self._process.pid

    def messages(self) -> Iterator[Message]:
        """What the program says, until it ends.

        Raises:
            InputError: it died in the middle of a message, or what it says is no log.
        """
        try:
            yield from read_log(self._log, self._shown)
        except InputError:
            self.check()
            raise

    def answer(self, text: str) -> None:
        with suppress(BrokenPipeError):  # it died; its end of the log says more
            self._reply.write(f"{text}\n")
            self._reply.flush()

    def check(self) -> None:
        """Wait until the program ends, and refuse an exit code that is not 0.

        Raises:
            InputError: it did not end well.
        """
        code = self._process.wait()
        if code < 0:
            raise InputError(self._shown, "run", f"was ended by {signal.Signals(-code).name}; no trace was kept")
        if code:
            raise InputError(self._shown, "run", f"ended with exit code {code}; no trace was kept")
