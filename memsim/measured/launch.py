"""One profiled launch of a kernel, and which of a report's launches is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from memsim.support.errors import InputError

_MOST_NAMED = 5  # kernels that an error lists


@dataclass(frozen=True)
class MeasuredLaunch:
    """A launch and its metrics.

    Attributes:
        kernel: the function's name as the report has it, with or without its arguments' types.
        grid, block: extents as (x, y, z); None where the report does not state it.
        metrics: by name, in the profiler's base units (ns, byte, %, or a count).
    """

    kernel: str
    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    metrics: Mapping[str, float]


def grid_of_blocks(
    extents: tuple[int, int, int] | None, block: tuple[int, int, int] | None, metrics: Mapping[str, float]
) -> tuple[int, int, int] | None:
    """A launch's grid in blocks; older reports store its extents in threads.

    The profiler's own counts decide: ``launch__grid_size`` is the number of blocks, ``launch__thread_count`` that of
    threads (Nsight Compute documentation, launch metrics). Without them the extents stay as they are.

    >>> grid_of_blocks((1024, 8, 1), (128, 4, 1), {"launch__grid_size": 16.0})
    (8, 2, 1)
    >>> grid_of_blocks((8, 2, 1), (128, 4, 1), {"launch__grid_size": 16.0})
    (8, 2, 1)
    """
    if extents is None or block is None or 0 in block:
        return extents
    blocks = metrics.get("launch__grid_size", metrics.get("launch__thread_count", 0.0) / prod(block))
    fits = all(extent % size == 0 for extent, size in zip(extents, block, strict=True))
    if not fits or prod(extents) == blocks or prod(extents) != blocks * prod(block):
        return extents
    x, y, z = (extent // size for extent, size in zip(extents, block, strict=True))
    return x, y, z


def function_name(kernel: str) -> str:
    """A kernel's name without what its declaration adds.

    >>> function_name("void ns::sum<float, (int)4>(const float *, float *, int)"), function_name("copy(float*)")
    ('sum', 'copy')
    """
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", kernel)) != kernel:
        kernel = shorter
    words = kernel.split()
    return words[-1].rpartition("::")[2] if words else ""


def choose(
    path: str | Path, launches: Sequence[MeasuredLaunch], kernel: str, part: str | None, number: int | None
) -> MeasuredLaunch:
    """The launch of a report that a result is compared with.

    Args:
        path: the report, for errors.
        launches: of the report, in its order.
        kernel: the simulated kernel's name, which the report's must be where `part` is None.
        part: of the name that the report calls it, instead.
        number: which of its launches, from 0; None: the only one, or the first.

    Raises:
        InputError: no such kernel or launch.
    """
    if part is not None:
        found = [launch for launch in launches if part in launch.kernel]
    else:
        found = [launch for launch in launches if function_name(launch.kernel) == function_name(kernel)]
    if not found:
        names = list(dict.fromkeys(function_name(launch.kernel) for launch in launches))
        listed = ", ".join(names[:_MOST_NAMED]) + ", ..." * (len(names) > _MOST_NAMED)
        raise InputError(path, "kernel", f"{part or kernel!r} is not in the report; give --kernel, one of: {listed}")
    if not 0 <= (number or 0) < len(found):
        raise InputError(
            path, "launch", f"{number} does not exist; the report has launches 0 to {len(found) - 1} of this kernel"
        )
    return found[number or 0]
