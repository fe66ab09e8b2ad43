"""``memsim run FOLDER``: the traces of a program's launches, each by itself or one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

from memsim.api import simulate_program
from memsim.cli.output import check_file, print_output
from memsim.interactive_result import Result
from memsim.report.program import program_output
from memsim.sources.launch_list import all_launches
from memsim.sources.outputs import SUFFIX
from memsim.support.errors import InputError
from memsim.support.files import writing
from memsim.support.progress import bar
from memsim.trace.reader import Trace

_IN_ORDER = ("gpu", "trials", "seed", "jobs", "settings", "convention")  # the options of launches that run in order
_IGNORED_IN_ORDER = ("whole", "sample", "precise", "min_trials", "max_trials")  # what those runs do not use


@dataclass(frozen=True)
class Outputs:
    """What becomes of the results.

    Attributes:
        out: the results file of a trace; for a folder of traces, a folder with one per launch that is replayed, named
            like its trace; None: none is written.
        force: write over files that exist.
        format: of the table.
        quiet: print no progress bar and no table.
    """

    out: Path | None = None
    force: bool = False
    format: str = "text"
    quiet: bool = False

    def files(self, traces: Sequence[Trace]) -> list[Path]:
        """The results files of the launches, which can be written; a further launch of a trace adds its place.

        Raises:
            InputError: one exists, without `force`, or cannot be written, or the folder is that of the traces.
        """
        if self.out is None:
            if self.force:
                raise InputError("run", "--force", "needs a folder of results; give it with -o")
            return []
        if self.out.suffix == SUFFIX or self.out.resolve() == traces[0].path.parent.resolve():
            raise InputError(self.out, "-o", "must differ from the folder of traces; it gets one file per launch")
        with writing(self.out):
            self.out.mkdir(parents=True, exist_ok=True)
        known: set[Path] = set()
        files = []
        for place, trace in enumerate(traces):
            name = f"{trace.path.stem}.{place}{SUFFIX}" if trace.path in known else trace.path.name
            known.add(trace.path)
            files.append(self.out / name)
        for file in files:
            check_file(file, self.force)
        return files


def run_folder(
    folder: Path, replay: partial[Result], refused: Sequence[str], outputs: Outputs, every_launch: bool = False
) -> None:
    """Replay a program's launches, and print its time by kernel; as JSON, each launch.

    Args:
        folder: with their traces.
        replay: of one, as the command line has it; with ``warm``, L2 is left to the next.
        refused: options that were given and that concern one trace.
        outputs: what becomes of the results; a file per launch needs a replay of each.
        every_launch: replay every launch, also those that are like others.

    Raises:
        InputError: an option that does not concern these launches, a folder or trace that will not do.
    """
    in_order = replay.keywords["warm"]
    if every_launch and not in_order:
        raise InputError("run", "--every-launch", "needs --warm; without it every launch is replayed")
    if in_order:
        ignored = [f"--{name.replace('_', '-')}" for name in _IGNORED_IN_ORDER if replay.keywords[name]]
        if ignored:
            problem = f"of a folder does not support {', '.join(ignored)}; leave one out"
            raise InputError("run", "--warm", problem)
    traces = folder_traces(folder, refused, in_order)
    launches = all_launches(folder, traces, some_suffice=not in_order)
    files = outputs.files(launches if in_order else traces)
    if in_order:
        with bar("trials", name="replaying", hidden=outputs.quiet) as advance:
            given = {name: replay.keywords[name] for name in _IN_ORDER}
            results = simulate_program(launches, **given, sample=not (every_launch or files), progress=advance)
    else:
        results = until_interrupted(traces, replay)
    for file, result in zip(files, results, strict=False):  # interrupted, there are fewer results
        result.save(file)
    if not in_order:
        by_trace = {trace.path: result for trace, result in zip(traces, results, strict=False)}
        launches = [one for one in launches if one.path in by_trace]
        results = [by_trace[one.path] for one in launches]
    print_output(program_output([trace.path for trace in launches], results), outputs.format, outputs.quiet)


def folder_traces(folder: Path, refused: Sequence[str], in_order: bool = False) -> list[Trace]:
    """All traces of a folder, in the order of their launches where they state it, else of their names' numbers.

    Args:
        folder: with trace files.
        refused: options that were given and that concern one trace.
        in_order: whether the order matters, so that each trace must record its position.

    Raises:
        InputError: an option of those, no trace in the folder, or one without its position where that matters.
    """
    if refused:
        raise InputError(
            folder, "folder", f"has several traces, but {', '.join(refused)} needs a single one; give one trace"
        )
    traces = [Trace.open(path) for path in sorted(folder.glob(f"*{SUFFIX}"), key=_by_number)]
    if not traces:
        raise InputError(folder, "folder", f"has no trace ({SUFFIX}); give a folder that memsim capture wrote")
    for trace in traces:
        if in_order and "order" not in trace.parameters:
            problem = "has no order, the launch's position in the program; capture it again, or leave --warm out"
            raise InputError(trace.path, "parameters", problem)
    return sorted(traces, key=lambda trace: trace.parameters.get("order", 0))


def until_interrupted(traces: Sequence[Trace], replay: Callable[[Trace], Result]) -> list[Result]:
    """The launches' results, each by itself; Ctrl-C, which keeps the finished trials of one, ends them all.

    Args:
        traces: of the launches.
        replay: of one.
    """
    results = []
    for trace in traces:
        results.append(replay(trace))
        if results[-1].interrupted:
            typer.echo(f"memsim: interrupted: {len(results)} of {len(traces)} launches are in the table", err=True)
            break
    return results


def _by_number(path: Path) -> list[str | int]:
    """A name's words and numbers in turn, as a key: add-2 comes before add-10."""
    words = re.split(r"(\d+)", path.stem)
    return [int(word) if number % 2 else word for number, word in enumerate(words)]
