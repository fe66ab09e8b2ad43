"""``memsim run``: replay a trace in many trials."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from memsim.analysis.choices import Convention
from memsim.cli.bottlenecks import bottlenecks_with_gains
from memsim.cli.options import AsJson, CountedAs, Force, GpuOfTrace, Jobs, OutputFormat, QuietTables, Seed, Settings
from memsim.cli.output import print_output
from memsim.montecarlo.choices import Engine
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.analysis.result import RunResult
    from memsim.analysis.stopping import Plan
    from memsim.cli.run_folder import Outputs
    from memsim.interactive_result import Result
    from memsim.studies.uncertain import ModelError
    from memsim.trace.reader import Trace
    from memsim.why import Bottleneck

UNREACHED = 3  # exit code: --until was not reached
LONG_SECONDS = 60  # a run whose result one would rather not make again
_POINTS, _TRIALS = 24, 2  # of the model's error bar


_Trace = Annotated[
    Path,
    typer.Argument(metavar="TRACE", help="A trace file, or kernelslist.g, .traceg or .tracez; or a folder of traces."),
]
_ResultOut = Annotated[Path | None, typer.Option("--out", "-o", help="The results file to write.")]
_Resume = Annotated[
    bool, typer.Option("--resume", help="Continue with the trials of that file, and with those of a killed run.")
]
_Kernel = Annotated[
    str | None, typer.Option("--kernel", "-k", help="Kernel of kernelslist.g: its id, file or part of its name.")
]
_Trials = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of trials. Default: 3 to 8, until time and hit ratios are known.",
        show_default=False,
    ),
]
_Until = Annotated[
    float | None,
    typer.Option(
        min=1e-6,
        max=1,
        help="Stop when the 95 % interval of every hit ratio is narrower than this; 0.002 is 0.2 points.",
    ),
]
_Precise = Annotated[
    bool, typer.Option("--precise", help="Stop when every hit ratio is known within 0.1 points, 8 to 64 trials.")
]
_MinTrials = Annotated[
    int | None,
    typer.Option(min=2, help="Fewest trials if --trials is not given; 20 with --until.", show_default="3"),
]
_MaxTrials = Annotated[
    int | None,
    typer.Option(min=2, help="Most trials if --trials is not given; 1000 with --until.", show_default="8"),
]
_Warm = Annotated[
    bool,
    typer.Option(
        "--warm",
        help="Start with warm caches, as one replay leaves them. In a folder, L2 stays warm from launch to launch.",
    ),
]
_EveryLaunch = Annotated[
    bool, typer.Option("--every-launch", help="With --warm: replay all launches, even those that are alike.")
]
_FromItsStart = Annotated[
    bool, typer.Option("--whole", help="Replay a whole launch from its start; refuse a trace of part of a launch.")
]
_Sample = Annotated[
    bool,
    typer.Option("--sample", help="Experimental: replay groups of a large launch's blocks, not all of them."),
]
_EngineName = Annotated[
    Engine, typer.Option("--engine", help="reference: the readable SimPy model; same results, but slow.")
]
_Uncertain = Annotated[
    bool, typer.Option("--uncertain", help="Also report the error bar of the model (docs/how_to/sensitivity.md).")
]
_Quick = Annotated[bool, typer.Option("--quick", help="With --json: findings without replays.")]


def run(
    path: _Trace,
    out: _ResultOut = None,
    resume: _Resume = False,
    force: Force = False,
    kernel: _Kernel = None,
    gpu: GpuOfTrace = None,
    trials: _Trials = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    until: _Until = None,
    precise: _Precise = False,
    min_trials: _MinTrials = None,
    max_trials: _MaxTrials = None,
    warm: _Warm = False,
    every_launch: _EveryLaunch = False,
    whole: _FromItsStart = False,
    sample: _Sample = False,
    engine: _EngineName = Engine.compiled,
    setting: Settings = None,
    uncertain: _Uncertain = False,
    convention: CountedAs = Convention.model,
    format: OutputFormat = None,
    json: AsJson = False,
    quick: _Quick = False,
    quiet: QuietTables = False,
) -> None:
    """Replay a trace on a GPU in many trials and report hit ratios and latencies.

    It stops when the predicted time is known within 1 % and each hit ratio within 0.5 points (95 % intervals, hits and
    merges counted together). It runs at least 3 and at most 8 trials. --precise sets the width of hit ratios to 0.1
    points, --until sets another width, and --trials runs a fixed number of trials. A folder with --warm stops when
    the time of all launches is known within 1 %; of launches that are alike each trial replays the first and one other,
    unless -o or --every-launch is given.

    Ctrl-C (or SIGTERM) keeps all finished trials, stores them and prints their tables. If the process is killed, only
    the trials in progress are lost. --resume continues the run, and can also add trials (--trials counts all) or set
    --until. A folder with --warm keeps nothing.

    Exit status: 0, also after Ctrl-C with finished trials; 2, bad input; 3, --until was not reached; 130, Ctrl-C before
    a trial was finished.

    \b
    memsim run spmv.h5 --seed 1 -j 2 -o result.h5
    memsim run spmv.h5 --gpu tesla-c2050 --trials 64
    memsim run spmv.h5 --gpu h100 --until 0.002 -j 0
    memsim run whole.h5 --whole
    memsim run large.h5 --whole --sample
    memsim run traces/ --warm
    memsim run small.h5 --engine reference --trials 2
    memsim run spmv.h5 --set l2.size_bytes=37748736
    memsim run traces/kernelslist.g -k spmv --gpu tesla-v100
    """
    from memsim.analysis.stopping import Plan
    from memsim.api import simulate
    from memsim.cli.run_folder import Outputs, run_folder
    from memsim.gpu.presets import parse_settings
    from memsim.report.formats import chosen_format
    from memsim.support.cores import chosen_jobs

    printed = Outputs(out, force, chosen_format(format, json), quiet)
    workers = chosen_jobs(jobs)  # a bad MEMSIM_JOBS is an error even where one process does all
    replay = partial(
        simulate, gpu=gpu, trials=trials, min_trials=min_trials, max_trials=max_trials, seed=seed,
        precise=precise, jobs=None if jobs is None else workers, warm=warm, whole=whole, convention=convention,
        settings=parse_settings(setting or []), engine=engine, sample=sample,
    )  # fmt: skip
    if path.is_dir():
        of_one_trace = {"--resume": resume, "--kernel": kernel, "--until": until, "--uncertain": uncertain}
        of_one_trace |= {"--engine (with --warm)": warm and engine is Engine.reference}
        return run_folder(path, replay, [name for name, value in of_one_trace.items() if value], printed, every_launch)
    if every_launch:
        raise InputError("run", "--every-launch", "needs a folder of traces and --warm")
    _check_out(out, resume, force, path, *([gpu] if gpu else []))
    plan = Plan.of(trials, until, min_trials, max_trials, precise)
    vary = partial(_model_error, gpu, seed, workers, setting or [], convention, quiet) if uncertain else None
    explain = partial(bottlenecks_with_gains, quick=quick, jobs=jobs)
    replay = partial(replay, until=until, out=out, resume=resume, force=force)
    result = _run_trace(_opened(path, kernel, quiet), replay, plan, printed, vary, explain)
    if result.unreached:
        raise typer.Exit(UNREACHED)


def _opened(path: Path, kernel: str | None, quiet: bool) -> Trace:
    """A trace, which is imported first where another tool wrote it."""
    from memsim.api import open_trace
    from memsim.support.progress import bar

    with bar("bytes", hidden=quiet) as advance:
        return open_trace(path, kernel, advance)


def _run_trace(
    trace: Trace,
    replay: Callable[..., Result],
    plan: Plan,
    printed: Outputs,
    vary: Callable[[Trace], ModelError] | None,
    explain: Callable[..., Sequence[Bottleneck] | None],
) -> Result:
    """Replay one trace and print its result.

    Args:
        trace: to replay.
        replay: with a trace, and what is called with each trial.
        plan: of the trials.
        printed: where the result goes, and how it is printed.
        vary: what the preset's uncertain numbers make of the answer; None: not requested.
        explain: with a result and its trace, what makes the kernel slow.
    """
    begin = monotonic()
    result = _replayed(partial(replay, trace), plan, printed.quiet)
    error = None if vary is None or result.interrupted else vary(trace)
    bottlenecks = partial(explain, result, trace, **({"quick": True} if result.interrupted else {}))
    _print_result(
        result, bottlenecks, error, None if result.interrupted else printed.out, printed.format, printed.quiet
    )
    _print_storage(result, plan.most, printed.out, monotonic() - begin)
    return result


def _check_out(out: Path | None, resume: bool, force: bool, *inputs: str | Path) -> None:
    """Refuse an output that cannot be, and what concerns one that is not given."""
    from memsim.montecarlo.checkpoint import check_resume_or_force

    if out is not None:
        check_resume_or_force(out, resume, force, *inputs)
    elif resume or force:
        raise InputError("run", "--resume, --force", "need a results file; give it with -o")


def _replayed(replay: partial[Result], plan: Plan, quiet: bool) -> Result:
    """The result of a trace, with a bar that says how narrow its intervals are."""
    from memsim.analysis.stopping import Running
    from memsim.support.progress import bar

    running, most = Running(plan.watched(replay.keywords["convention"])), plan.most
    with bar("trials", name="replaying", hidden=quiet) as advance:
        advance(0, most)
        return replay(progress=lambda finished: advance(note=running.add(finished), done=running.trials, total=most))


def _print_result(
    result: RunResult,
    bottlenecks: Callable[[], Sequence[Bottleneck] | None],
    error: ModelError | None,
    stored: Path | None,
    format: str,
    quiet: bool,
) -> None:
    """Print the tables, or JSON with the findings that `memsim show --why` has, in its order.

    Notes go to standard error where the tables with them are not printed.
    """
    from memsim.report.formats import FOR_PEOPLE
    from memsim.report.text import notes, output

    found = f"stored in {stored}; what makes it slow: memsim show {shlex.quote(str(stored))} --why"
    print_output(output(result, bottlenecks=bottlenecks, error=error, notes=[found] if stored else ()), format, quiet)
    for note in notes(result) if quiet or format not in FOR_PEOPLE else ():
        typer.echo(f"memsim: {note}", err=True)


def _print_storage(result: RunResult, most: int, out: Path | None, seconds: float) -> None:
    """Say what became of the trials, where it is not what was asked for."""
    trials = len(result.trials.trial)
    counted = f"{trials:,} trial{'s' * (trials != 1)}"
    if result.interrupted:
        destination = (
            f"in {out}; --resume continues" if out is not None else "in what is printed alone; give -o to store them"
        )
        typer.echo(f"memsim: interrupted: {counted} of {most:,} kept, {destination}", err=True)
    elif out is None and seconds > LONG_SECONDS:
        lost = f"{counted} took {seconds:,.0f} s and {'is' if trials == 1 else 'are'} not stored"
        typer.echo(f"memsim: {lost}; give -o to keep them", err=True)


def _model_error(
    gpu: str | None, seed: int, jobs: int, setting: list[str], convention: str, quiet: bool, trace: Trace
) -> ModelError:
    """What the preset's uncertain numbers make of the answer."""
    from memsim.api import uncertainty
    from memsim.gpu.presets import parse_settings
    from memsim.support.progress import bar

    with bar("trials", hidden=quiet) as advance:
        return uncertainty(
            trace, gpu, points=_POINTS, effects=False, trials=_TRIALS, seed=seed, jobs=jobs,
            settings=parse_settings(setting), convention=convention, progress=advance,
        )  # fmt: skip
