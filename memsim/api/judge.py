"""Verdicts on candidates: what ``memsim judge`` does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.gpu.config import GPU
    from memsim.judge.batch import PathLines

_MOST_MEMORY = 1 << 62  # bytes that a limit of a process can state


def judge(
    candidates: str | Path | Sequence[str | Path] | PathLines,
    task: str | Path,
    gpu: GPU | str | Path = DEFAULT_GPU,
    *,
    seconds: float = 20.0,
    memory_bytes: float = 4 << 30,
    gains: bool = False,
    jobs: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Compile and run kernels that somebody or something wrote, compare, predict and explain; see docs/how_to/judge.md.

    Args:
        candidates: CUDA C++ files with one kernel each, or folders of such.
        task: a Python file that sets grid, block, arguments and expected.
        gpu: that times are predicted for.
        seconds, memory_bytes: budget of each candidate, in processor time and bytes.
        gains: replay repaired kernels, so that findings have predicted gains.
        jobs: candidates at a time; None: all cores.

    Yields:
        A document of fixed keys for each candidate, as they finish.

    Raises:
        InputError: a bad task or GPU, no candidate, or no compiler.

    ::

        for document in memsim.judge("candidates/", "task.py", "a100"):
            print(document["file"], document["verdict"], document["time_us"])
    """
    from memsim.api.arguments import named_gpu
    from memsim.judge.batch import PathLines, judge_all
    from memsim.judge.candidate import Judge
    from memsim.judge.sandbox import Budget
    from memsim.judge.task import read_task
    from memsim.support.cores import chosen_jobs

    for name, value, most in (("seconds", seconds, inf), ("memory", memory_bytes, _MOST_MEMORY)):
        if not 0 < value < most:
            raise InputError("judge", name, f"is {value:g}; give a number above 0 and below {most:g}")
    given = candidates if isinstance(candidates, PathLines) else _files(candidates)
    ready = Judge(read_task(Path(task)), named_gpu(gpu), gains)
    return judge_all(given, ready, Budget(seconds, int(memory_bytes)), chosen_jobs(jobs))


def _files(given: str | Path | Sequence[str | Path]) -> list[Path]:
    names = [given] if isinstance(given, str | Path) else given
    found: list[Path] = []
    for one in map(Path, names):
        found += sorted(one.glob("*.cu")) if one.is_dir() else [one]
        if not one.exists():
            raise InputError(one, "file", "does not exist; give CUDA C++ files or folders of them")
    if not found:
        raise InputError("judge", "candidates", "are missing; give CUDA C++ files or folders of them")
    return found
