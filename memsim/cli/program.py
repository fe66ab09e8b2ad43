"""What commands read of a program's profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memsim.analysis.choices import Convention
from memsim.cli.output import print_output
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.analysis.compare_programs import ProgramComparison
    from memsim.analysis.program import ProgramResult
    from memsim.analysis.result import RunResult
    from memsim.report.figure_options import FigureOptions
    from memsim.why import Bottleneck

MOST_ON_A_PAGE = 8  # kernels, those that take longest


def program_kernel(
    path: Path, convention: Convention, kernel: str | None, needs_one: bool, format: str
) -> tuple[RunResult, list[Bottleneck] | None] | None:
    """The result of a program's kernel, and its causes if the profile explained it.

    None where none was chosen: then the program's table was printed.

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
            raise InputError(path, "kernel", f"is missing; give --kernel with one of {', '.join(labels)}")
        if not needs_one:
            print_output(profile_output(found), format)
            return None
        kernel = labels[0]
    chosen = [label for label in labels if kernel == label] or [label for label in labels if kernel in label]
    if len(chosen) != 1:
        problem = f"is {kernel!r:.60}, which names {'several kernels' if chosen else 'no kernel'}"
        raise InputError(path, "--kernel", f"{problem}; there are {', '.join(labels)}")
    (label,) = chosen
    return found.groups[labels.index(label)].typical, explained_kernels(found, path).get(label)


def explained_kernels(program: ProgramResult, path: Path) -> dict[str, list[Bottleneck]]:
    """What makes kernels slow, by label, as the profile found it when it was made.

    Raises:
        InputError: the file is damaged.
    """
    from memsim.why.stored import bottlenecks

    stored = program.about["causes"]
    groups = dict(zip(program.labels(), program.groups, strict=True))
    return {
        label: bottlenecks(path, stored[label], len(group.typical.trials.ops))
        for label, group in groups.items()
        if label in stored
    }


def longest_kernels(program: ProgramResult) -> dict[str, RunResult]:
    """The results of a program's kernels that take longest, by label."""
    pairs = list(zip(program.labels(), program.groups, strict=True))[:MOST_ON_A_PAGE]
    return {label: group.typical for label, group in pairs}


def compared_programs(paths: list[Path], convention: Convention, format: str) -> dict[str, ProgramComparison]:
    """Compare profiles with the first and print it; the comparisons by the other's path, none for other files.

    Raises:
        InputError: some files are profiles and some are not.
    """
    from memsim.analysis.compare_programs import compare_programs
    from memsim.report.compare_programs import programs_output

    loaded = _all_programs(paths, convention, "memsim compare")
    if not loaded:
        return {}
    (first, base), *others = loaded
    found = {other: compare_programs(base, one) for other, one in others}
    print_output(programs_output(first, found), format)
    return found


def plotted_programs(paths: list[Path], out: Path, convention: Convention, figure_options: FigureOptions) -> list[Path]:
    """Draw profiles; the files written, none for other results.

    Raises:
        InputError: some files are profiles and some are not.
    """
    from memsim.report.program_figures import plot_programs

    loaded = _all_programs(paths, convention, "memsim plot")
    return plot_programs({Path(path).stem: one for path, one in loaded}, out, figure_options) if loaded else []


def _all_programs(paths: list[Path], convention: Convention, command: str) -> list[tuple[str, ProgramResult]]:
    from memsim.analysis.program import ProgramResult, is_program

    programs = [path for path in paths if is_program(path)]
    if not programs:
        return []
    if len(programs) < len(paths):
        other = next(path for path in paths if path not in programs)
        if not Path(other).exists():
            raise InputError(other, "file", "does not exist; give the path of one that does")
        raise InputError(command, str(other), f"is not a program's profile like {programs[0]}; give files of one kind")
    return [(str(path), ProgramResult.load(path, convention)) for path in paths]
