"""The process that runs a user's Python program with its launches caught: ``memsim capture script.py``."""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.sources.ptx.launchers.timing import Tried
    from memsim.trace.reader import Trace

INTERRUPTED = 130


def main() -> None:
    """Entry point: what to do, as JSON, and the descriptor to write messages to (``launchers/script.py``)."""
    about = json.loads(sys.argv[1])
    out = os.fdopen(int(sys.argv[2]), "w", buffering=1)

    def tell(**message: Any) -> None:
        out.write(f"{json.dumps(message)}\n")

    try:
        done = tune(about) if "tune" in about else run(about, lambda *blocks: tell(progress=blocks))
    except InputError as error:
        tell(error=[error.where, error.field, error.problem])
        _leave(2)
    except KeyboardInterrupt:
        _leave(INTERRUPTED)
    tell(done=done)
    _leave(0)


def run(about: dict[str, Any], progress: Any) -> dict[str, Any]:
    """Run the program; the traces' paths, how often each kernel was launched, and notes."""
    from memsim.api import capturing
    from memsim.gpu.config import GPU

    gpu = GPU.model_validate_json(about["gpu"])
    wanted = about["wanted"]
    chosen = {name: wanted[name] for name in ("blocks", "registers", "snapshot_only", "stop")}
    which = {"kernel": wanted["kernels"], "launch": wanted["launches"]}
    with capturing(gpu, out=about["out"], progress=progress, **which, **chosen) as captured:
        _program(about)
    if not captured.traces:
        raise captured.nothing()
    launches = Counter(one.kernel for one in captured.launches)
    notes = [*captured.notes, *captured.wanted.never_came(launches)]
    return {"traces": [str(one.path) for one in captured.traces], "launches": launches, "notes": notes}


def tune(about: dict[str, Any]) -> dict[str, Any]:
    """Run the program until the wanted kernel is tuned, by the models' times; its configurations and their traces."""
    from memsim.exploration.model import modelled
    from memsim.gpu.config import GPU
    from memsim.sources.ptx.launchers.capturing import Capturing
    from memsim.sources.ptx.launchers.installed import caught
    from memsim.sources.ptx.launchers.timing import Timing
    from memsim.sources.wanted import Wanted

    asked, gpu = about["tune"], GPU.model_validate_json(about["gpu"])

    def clock(trace: Trace) -> float:
        return modelled(trace, gpu).milliseconds

    timing = Timing(clock, asked["blocks"], Path(asked["folder"]), stop=True)
    kernels = (asked["kernel"],) if asked["kernel"] else ()
    wanted = Wanted(kernels=kernels, launches=())  # of what is launched untimed, nothing is traced
    with caught(Capturing(gpu, Path(about["out"]), wanted, timing=timing)) as captured:
        _program(about)
    tuned = [one for one in captured.tuned if wanted.takes_kernel(one.kernel)]
    if not tuned:
        problem = "tunes no kernel; give one with @triton.autotune and two configurations or more, and launch it"
        others = ", ".join(one.kernel for one in captured.tuned)
        raise InputError(
            about["script"], asked["kernel"] or "kernel", f"is not tuned; tuned are {others}" if others else problem
        )
    return {
        "kernel": tuned[0].kernel,
        "configurations": [_configuration(*one) for one in zip(tuned[0].configurations, tuned[0].calls, strict=True)],
    }


def _configuration(chosen: dict[str, Any], call: list[Tried] | str) -> dict[str, Any]:
    """What is told of one; of several launches in a call, the longest stands for it."""
    if isinstance(call, str):
        return {"chosen": chosen, "reason": call}
    longest = max(call, key=lambda one: one.milliseconds)
    return {"chosen": chosen, "traces": [str(trace.path) for trace in longest.traces]}


def _program(about: dict[str, Any]) -> None:
    """Run the user's program as Python would, or as much of it as is needed."""
    from memsim.sources.ptx.launchers.capturing import Enough
    from memsim.sources.ptx.launchers.needed import not_caught, not_installed

    script = about["script"]
    sys.argv = [script, *about["arguments"]]
    sys.path[0] = str(Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except Enough:
        pass
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            _leave(leaving.code if isinstance(leaving.code, int) else 1, leaving.code)
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:
        told = not_installed(error, script) if isinstance(error, ModuleNotFoundError) else not_caught(error, script)
        if told is not None:
            raise told from None
        _show(error, script)
        _leave(1)


def _show(error: BaseException, script: str) -> None:
    """Print an exception as Python would have, from the program's own first line on."""
    place: TracebackType | None = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != script:
        place = place.tb_next
    traceback.print_exception(type(error), error, place)


def _leave(code: int, said: object = None) -> NoReturn:
    if isinstance(said, str):
        print(said, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
