"""A Python program as it is: run in a process of its own with its launches caught; what it says comes by a pipe.

A message is a line of JSON with one member: ``progress`` [done, all], ``error`` [where, field, problem], or ``done``
{traces, launches, notes}; of a tuning, ``done`` {kernel, configurations: [{chosen, traces or reason}]}.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsim.gpu.config import GPU
from memsim.sources.outputs import SUFFIX
from memsim.sources.ptx.trace import Progress
from memsim.support.errors import InputError


def tune_script(
    child: Sequence[str],
    script: Path,
    arguments: Sequence[str],
    folder: Path,
    gpu: GPU,
    blocks: Sequence[str],
    kernel: str | None,
) -> TunedScript:
    """Run a Python program until Triton's autotuner has asked for the times of a kernel's configurations.

    Args:
        child, script, arguments, gpu: as for :func:`capture_script`.
        folder: for the traces.
        blocks: that are traced of each configuration, a trace each; the first is what the tuner's times are of.
        kernel: which; None: the first that is tuned.

    Raises:
        InputError: the program fails, or tunes no such kernel.
    """
    check_script(script)
    about = _about(script, arguments, folder / f"traced{SUFFIX}", gpu)
    tune = {"folder": str(folder), "blocks": list(blocks), "kernel": kernel}
    done = _run([*child, json.dumps(about | {"tune": tune})], script, None)
    return TunedScript(done["kernel"], [Configuration(**one) for one in done["configurations"]])


@dataclass(frozen=True)
class Configuration:
    """One of a tuned kernel: its choices, and its traces' files, or why it cannot be."""

    chosen: dict[str, Any]
    traces: Sequence[str] = ()
    reason: str = ""


@dataclass(frozen=True)
class TunedScript:
    """A program's tuned kernel, and its configurations in the program's order."""

    kernel: str
    configurations: Sequence[Configuration]


def check_script(script: Path) -> None:
    if not script.is_file():
        raise InputError(script, "file", "does not exist; give a Python program")


def _about(script: Path, arguments: Sequence[str], out: Path, gpu: GPU) -> dict[str, Any]:
    """What the program's process is told; the GPU whole, as no file need have it."""
    return {"script": str(script), "arguments": list(arguments), "out": str(out), "gpu": gpu.model_dump_json()}


def _run(command: list[str], script: Path, progress: Progress | None) -> dict[str, Any]:
    """Start the program and wait for its end; what it left."""
    messages, end = os.pipe()
    sys.stdout.flush()
    with open(messages, "rb") as stream:
        process = subprocess.Popen([*command, str(end)], pass_fds=(end,))
        os.close(end)
        try:
            done = _listen(stream, progress)
        finally:
            code = _ended(process)
    if done is None:
        raise _failure(script, code)
    return done


def _listen(stream: Any, progress: Progress | None) -> dict[str, Any] | None:
    """What the program left, once it is done; None if it came to no good end."""
    for line in stream:
        ((kind, value),) = json.loads(line).items()
        if kind == "progress" and progress:
            progress(*value)
        elif kind == "error":
            raise InputError(*value)
        elif kind == "done":
            return value
    return None


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Wait for the process; after Ctrl-C, which it got too, no longer than it takes to clean up."""
    with suppress(KeyboardInterrupt):
        return process.wait(None if sys.exc_info()[0] is not KeyboardInterrupt else 10)
    process.kill()
    return process.wait()


def _failure(script: Path, code: int) -> InputError:
    if code < 0:
        return InputError(script, "run", f"was ended by {signal.Signals(-code).name}; no trace was kept")
    return InputError(script, "run", f"ended with exit code {code}; no trace was kept")
