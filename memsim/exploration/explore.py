"""Tries the choices that a kernel declares."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from memsim.exploration.search import Effort, Exploration, ExplorationRequest, Progress, SearchTask, search
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
    effort: Effort,
    progress: Progress | None = None,
) -> Exploration:
    """See :func:`memsim.api.explore`."""
    loaded = workload if isinstance(workload, Workload) else load_workload(workload)
    choices = choices_of(loaded, parameters, vary)
    trace = partial(_trace, loaded if _FORKS else workload, parameters, gpu)
    if not _FORKS and isinstance(workload, Workload):
        effort = replace(effort, jobs=1)
    given = {name: loaded.parameters(parameters)[name] for name in parameters}
    request = ExplorationRequest(loaded.shown, given, choices)
    return search(SearchTask(trace, gpu, effort), request, list(combinations(choices)), progress)


def _trace(
    workload: Workload | str | Path, parameters: Mapping[str, Any], gpu: GPU, chosen: Chosen, blocks: str, folder: Path
) -> Trace:
    return record(workload, {**parameters, **chosen}, gpu, blocks, folder / "trace.h5")
