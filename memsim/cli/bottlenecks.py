"""What makes a result's kernel slow, as commands find it: with a bar while their what-if transforms are replayed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from memsim.analysis.result import RunResult
    from memsim.trace.reader import Trace
    from memsim.why import Bottleneck


def bottlenecks_with_gains(
    result: RunResult, trace: Trace | Path | None, quick: bool, jobs: int | None, notes: set[str] | None = None
) -> list[Bottleneck] | None:
    """The causes, the largest estimated speed-up first; a note on standard error where the trace was not read.

    None of a file of an older version, which does not hold what findings need.

    Args:
        notes: that were printed before, of other results; they are not printed again.
    """
    from memsim.support.cores import chosen_jobs
    from memsim.support.progress import bar
    from memsim.why import explain, has_profiles

    if not has_profiles(result):
        return None
    hidden = quick or "launches_before" in result.trials.about
    with bar("replays", name="estimating speed-ups", hidden=hidden) as advance:
        found = explain(result, trace, quick=quick, jobs=chosen_jobs(jobs), progress=advance)
    printed = set() if notes is None else notes
    if found.note and found.note not in printed:
        printed.add(found.note)
        typer.echo(f"memsim: {found.note}", err=True)
    return found.bottlenecks
