"""memsim: a GPU kernel's memory behaviour, with error bars.

::

    trace = memsim.trace("spmv", rows=86016, nnz_per_row=51, out="spmv.h5")
    result = memsim.simulate(trace, gpu="tesla-c2050", trials=64, seed=1, jobs=2)
    print(result.l2_read.mean, result.l2_read.interval())
    print(result.loads)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Two functions share their names with subpackages. Python binds a subpackage to its parent when it first imports it, so
# both are imported here, before the functions take the names; `from memsim.trace.reader import Trace` still works.
import memsim.capture  # noqa: F401  isort: skip
import memsim.trace  # noqa: F401  isort: skip
from memsim.api import (
    capacity,
    capture,
    capture_ptx,
    check,
    compare,
    estimate,
    explore,
    open_trace,
    predicted_times,
    profile_program,
    prune,
    sensitivity,
    simulate,
    simulate_program,
    trace,
    uncertainty,
)  # fmt: skip
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.gpu.presets import load_gpu
    from memsim.interactive import Study, StudyResult, gpus
    from memsim.interactive_result import Result
    from memsim.sources.describe.thread import Thread
    from memsim.sources.describe.workload import Launch, workload
    from memsim.sources.imported.accelsim import export_accelsim, import_accelsim
    from memsim.sources.imported.nvbit import import_nvbit

__version__ = "1.0.0"
__all__ = [
    "workload", "Launch", "Thread", "trace", "open_trace", "capture", "capture_ptx", "check", "import_accelsim",
    "import_nvbit", "export_accelsim", "load_gpu", "gpus", "simulate", "simulate_program", "profile_program",
    "estimate", "explore", "prune", "predicted_times",
    "Result", "Study", "StudyResult", "capacity", "compare", "sensitivity", "uncertainty", "InputError", "__version__",
]  # fmt: skip

_LATER = {  # imported when first asked for: they need numba and pydantic, which `memsim --help` does not
    "Launch": "memsim.sources",
    "Result": "memsim.interactive_result",
    "Study": "memsim.interactive",
    "StudyResult": "memsim.interactive",
    "Thread": "memsim.sources",
    "gpus": "memsim.interactive",
    "export_accelsim": "memsim.sources.imported.accelsim",
    "import_accelsim": "memsim.sources.imported.accelsim",
    "import_nvbit": "memsim.sources.imported.nvbit",
    "load_gpu": "memsim.gpu.presets",
    "workload": "memsim.sources",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)
