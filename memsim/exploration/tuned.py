"""Compares the configurations of a kernel that a program tunes by Triton or torch.compile, without a GPU."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from memsim.capture.tuning import Configuration, SilentTuner, TunedKernel
from memsim.exploration.model import modelled
from memsim.exploration.search import ONE_WAVE, Effort, Exploration, ExplorationRequest, Progress, SearchTask, search
from memsim.exploration.space import Chosen
from memsim.gpu.config import GPU
from memsim.sources.described_workloads import described_workloads
from memsim.sources.outputs import SUFFIX
from memsim.sources.selection import CaptureSelection
from memsim.support.errors import InputError
from memsim.support.files import read_small
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace

_LARGEST_FILE = 1 << 20
_NOT_TUNED = (
    "tunes no kernel; give one with @triton.autotune and two configurations or more, or torch.compile with "
    "max_autotune_pointwise, and launch it"
)


def is_program(path: str | Path) -> bool:
    """Whether a file is a program that imports Triton, or torch and describes no workload.

    Raises:
        InputError: it cannot be read, or is larger than any program.

    >>> is_program("spmv")
    False
    """
    file = Path(path)
    if file.suffix != ".py" or not file.is_file():
        return False
    text = read_small(file, _LARGEST_FILE, "a Python program or a file of workloads")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    imported = {name for node in ast.walk(tree) for name in _imports(node)}
    return "triton" in imported or ("torch" in imported and not described_workloads(file))


def explore_tuned(
    script: Path,
    arguments: Sequence[str],
    kernel: str | None,
    gpu: GPU,
    effort: Effort,
    progress: Progress | None = None,
) -> Exploration:
    """Rank all configurations by model, and the best few by simulation.

    Args:
        script, arguments: the program; it runs until the kernel is tuned.
        kernel: which; None: the first that is tuned.
        effort: how many configurations are simulated, and how.
        gpu, progress: as for :func:`memsim.api.explore`.

    Raises:
        InputError: the program fails, tunes no such kernel, or no configuration can be launched.
    """
    with Scratch() as folder:
        waves = list(dict.fromkeys([ONE_WAVE, effort.blocks]))
        tuned = _tuned(script, arguments, kernel, Path(folder), gpu, waves)
        choices = _choices(tuned.configurations)
        known = {_key(_open(one.chosen, choices)): one for one in tuned.configurations}
        task = SearchTask(partial(_trace, known, waves), gpu, effort)
        versions = [_open(one.chosen, choices) for one in tuned.configurations]
        return search(task, ExplorationRequest(f"{script}:{tuned.kernel}", {}, choices), versions, progress)


def _tuned(
    script: Path, arguments: Sequence[str], kernel: str | None, folder: Path, gpu: GPU, blocks: Sequence[str]
) -> TunedKernel:
    """Run the program until the kernel is tuned by the models' times, with traces of all configurations."""
    from memsim.capture.python.script import capture_script
    from memsim.capture.timer import Timer

    def clock(trace: Trace, flushed: bool) -> float:
        return modelled(trace, gpu).milliseconds

    timer = Timer(clock, blocks, folder, until=lambda name: kernel in (None, name))
    no_launches = CaptureSelection(launches=())  # of launches that are not timed
    capture_script(script, arguments, folder / f"launch{SUFFIX}", gpu, no_launches, timer=timer, needs_trace=False)
    others = []
    for one in timer.tuned:
        if isinstance(one, SilentTuner):
            problem = "does not report the configurations that it tries; give a Python with Triton 3.8 or newer"
            raise InputError(script, one.name, problem)
        if kernel in (None, one.kernel):
            return one
        others.append(one.kernel)
    problem = f"is not tuned; tuned are {', '.join(others)}" if others else _NOT_TUNED
    raise InputError(script, kernel or "kernel", problem)


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]] if isinstance(node, ast.ImportFrom) and not node.level else []


def _choices(configurations: Sequence[Configuration]) -> dict[str, tuple[Any, ...]]:
    """Values by choice, as they occur; what is the same everywhere is none."""
    names = dict.fromkeys(name for one in configurations for name in one.chosen)
    values = {name: tuple(dict.fromkeys(one.chosen.get(name) for one in configurations)) for name in names}
    return {name: several for name, several in values.items() if len(several) > 1}


def _open(chosen: Chosen, choices: dict[str, tuple[Any, ...]]) -> Chosen:
    return {name: chosen.get(name) for name in choices}


def _key(chosen: Chosen) -> tuple[Any, ...]:
    return tuple(chosen.values())


def _trace(
    known: dict[tuple[Any, ...], Configuration], waves: Sequence[str], chosen: Chosen, blocks: str, _: Path
) -> Trace:
    configuration = known[_key(chosen)]
    if configuration.reason:
        raise InputError("triton", "configuration", configuration.reason)
    longest = max(configuration.launches, key=lambda one: one.milliseconds)
    return Trace.open(longest.traces[waves.index(blocks)])
