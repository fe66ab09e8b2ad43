"""What commands read of a program's profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memsim.analysis.choices import Convention
from memsim.cli.output import print_output
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.analysis.result import RunResult

MOST_ON_A_PAGE = 8  # kernels, those that take longest


def program_kernel(
    path: Path, convention: Convention, kernel: str | None, needs_one: bool, format: str
) -> RunResult | None:
    """The result of a program's kernel; None where none was chosen: then the program's table was printed.

    Args:
        kernel: a part of its label.
        needs_one: whether what is to be printed is of one kernel.
        format: of the program's table.

    Raises:
        InputError: no kernel or several have that in their label; none was chosen and one is needed.
    """
    from memsim.analysis.program import ProgramResult
    from memsim.report.profile import profile_output

    found = ProgramResult.load(path, convention)
    labels = found.labels()
    if kernel is None:
        if needs_one and len(labels) > 1:
            raise InputError(path, "kernel", f"is not chosen; give --kernel with one of {', '.join(labels)}")
        if not needs_one:
            print_output(profile_output(found), format)
            return None
        return found.groups[0].typical
    chosen = [group for label, group in zip(labels, found.groups, strict=True) if kernel == label] or [
        group for label, group in zip(labels, found.groups, strict=True) if kernel in label
    ]
    if len(chosen) != 1:
        problem = f"is {kernel!r:.60}, of which there {'are several' if chosen else 'is none'}"
        raise InputError(path, "--kernel", f"{problem}; there are {', '.join(labels)}")
    return chosen[0].typical


def program_results(path: Path, convention: Convention) -> dict[str, RunResult]:
    """The results of a program's kernels that take longest, by label; nothing where it is another file."""
    from memsim.analysis.program import ProgramResult, is_program

    if not is_program(path):
        return {}
    found = ProgramResult.load(path, convention)
    return {
        label: group.typical for label, group in list(zip(found.labels(), found.groups, strict=True))[:MOST_ON_A_PAGE]
    }
