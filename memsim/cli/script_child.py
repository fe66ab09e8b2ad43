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
from typing import Any, NoReturn

from memsim.support.errors import InputError

INTERRUPTED = 130


def main() -> None:
    """Entry point: what to do, as JSON, and the descriptor to write messages to (``launchers/script.py``)."""
    about = json.loads(sys.argv[1])
    out = os.fdopen(int(sys.argv[2]), "w", buffering=1)

    def tell(**message: Any) -> None:
        out.write(f"{json.dumps(message)}\n")

    try:
        done = run(about, lambda *blocks: tell(progress=blocks))
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
    from memsim.sources.ptx.launchers.capturing import Enough

    script, wanted = about["script"], about["wanted"]
    sys.argv = [script, *about["arguments"]]
    sys.path[0] = str(Path(script).resolve().parent)
    chosen = {name: wanted[name] for name in ("blocks", "registers", "snapshot_only", "stop")}
    which = {"kernel": wanted["kernels"], "launch": wanted["launches"]}
    with capturing(about["gpu"], out=about["out"], progress=progress, **which, **chosen) as captured:
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
            _show(error, script)
            _leave(1)
    if not captured.traces:
        raise captured.nothing()
    launches = Counter(one.kernel for one in captured.launches)
    return {"traces": [str(one.path) for one in captured.traces], "launches": launches, "notes": captured.notes}


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
