"""Tries the configurations that a program's own tuner tries: Triton's autotune, without a GPU."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from memsim.exploration.search import ONE_WAVE, Asked, Effort, Exploration, Progress, Task, search
from memsim.exploration.space import Chosen
from memsim.gpu.config import GPU
from memsim.sources.ptx.launchers.script import Configuration, TunedScript
from memsim.support.errors import InputError
from memsim.support.files import read_small
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace

_LARGEST_FILE = 1 << 20
Tune = Callable[[Path, Sequence[str]], TunedScript]  # into a folder, of which blocks


def is_program(path: str | Path) -> bool:
    """Whether a file is a program that imports Triton itself, and so no file of workloads.

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
    return "triton" in imported


def explore_tuned(tune: Tune, shown: str, gpu: GPU, effort: Effort, progress: Progress | None = None) -> Exploration:
    """All configurations by model, the best few by simulation.

    Args:
        tune: runs the program.
        shown: the program, as its user named it.
        effort: how many configurations are simulated, and how.
        gpu, progress: as for :func:`memsim.api.explore`.

    Raises:
        InputError: no kernel is tuned, or no configuration can be.
    """
    with Scratch() as folder:
        waves = list(dict.fromkeys([ONE_WAVE, effort.blocks]))
        tuned = tune(Path(folder), waves)
        choices = _choices(tuned.configurations)
        known = {_key(_open(one.chosen, choices)): one for one in tuned.configurations}
        task = Task(partial(_trace, known, waves), gpu, effort)
        versions = [_open(one.chosen, choices) for one in tuned.configurations]
        return search(task, Asked(f"{shown}:{tuned.kernel}", {}, choices), versions, progress)


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
    return Trace.open(configuration.traces[waves.index(blocks)])
