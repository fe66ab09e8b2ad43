"""Tries the choices that a kernel declares."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from memsim.exploration.search import Asked, Exploration, Progress, Task, check_numbers, search
from memsim.exploration.space import Chosen, choices_of, combinations
from memsim.gpu.config import GPU
from memsim.sources.describe import Workload, load_workload
from memsim.sources.record import record
from memsim.trace.reader import Trace

_FORKS = platform.system() == "Linux"  # workers then inherit what they work on; elsewhere it is pickled


def explore(
    workload: Workload | str | Path,
    gpu: GPU,
    parameters: Mapping[str, Any],
    vary: Mapping[str, Sequence[Any]],
    *,
    keep: int,
    blocks: str,
    trials: int,
    seed: int,
    jobs: int,
    progress: Progress | None = None,
) -> Exploration:
    """See :func:`memsim.api.explore`."""
    check_numbers(keep=keep, trials=trials, seed=seed, jobs=jobs)
    loaded = workload if isinstance(workload, Workload) else load_workload(workload)
    choices = choices_of(loaded, parameters, vary)
    trace = partial(_trace, loaded if _FORKS else workload, parameters, gpu)
    jobs = jobs if _FORKS or not isinstance(workload, Workload) else 1
    given = {name: loaded.parameters(parameters)[name] for name in parameters}
    asked = Asked(loaded.shown, given, choices)
    return search(Task(trace, gpu, blocks, trials, seed), asked, list(combinations(choices)), keep, jobs, progress)


def _trace(
    workload: Workload | str | Path, parameters: Mapping[str, Any], gpu: GPU, chosen: Chosen, blocks: str, folder: Path
) -> Trace:
    return record(workload, {**parameters, **chosen}, gpu, blocks, folder / "trace.h5")
