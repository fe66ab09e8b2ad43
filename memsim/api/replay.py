"""Replays of traces, and two results side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.api.arguments import named_gpu, open_trace, opened
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.gpu.config import GPU
    from memsim.interactive import Comparison
    from memsim.interactive_result import Result
    from memsim.montecarlo.trials import Trials
    from memsim.trace.reader import Trace


def simulate(
    trace: Trace | str | Path,
    gpu: GPU | str | Path | None = None,
    *,
    trials: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    until: float | None = None,
    precise: bool = False,
    min_trials: int | None = None,
    max_trials: int | None = None,
    warm: bool = False,
    whole: bool = False,
    settings: Mapping[str, object] | None = None,
    convention: str = "model",
    progress: Callable[[Trials], None] | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
    engine: str = "compiled",
    sample: bool = False,
) -> Result:
    """Replay a trace on a GPU's memory hierarchy, many times with the order of warps redrawn.

    Args:
        trace: a trace, or the path of its file, or of Accel-Sim's (see :func:`open_trace`).
        gpu: a GPU, the name of a preset, or the path of a TOML file; None: that which the trace was made for, or the
            default, ``"rtx4090"``.
        trials: how many. Without it, `until` and `precise`, as many as it takes to know the predicted time within 1 %
            and each hit ratio, merges counted as hits, within 0.5 points (95 % intervals): 3 at least, 8 at most.
        seed: of all random draws. A trial's draws depend on the seed and the trial's number alone.
        jobs: processes; None: all cores (or ``MEMSIM_JOBS``), this process alone where there is little to do. The
            result is the same.
        until: stop when the 95 % interval of every hit ratio is narrower than this.
        precise: as `until` of 0.002, with 8 to 64 trials.
        min_trials, max_trials: bounds without `trials`; 20 and 1000 with `until`.
        warm: every trial starts with the caches that one replay leaves, instead of empty ones.
        whole: replay a launch as it begins, from its first block on and without random phases; the trace must hold all
            of its blocks.
        settings: fields of the GPU to change, ``{"l1.ways": 4}``.
        convention: of the result's hit ratios, see :mod:`memsim.analysis.conventions`.
        progress: called with each trial as it finishes, those that `resume` finds first.
        out: the results file to write. Until it is whole, finished trials are kept next to it, and outlive this process
            however it ends.
        resume: go on with the trials of `out`, and with those that a killed run left: of the same trace, GPU and seed.
        force: write over `out`.
        engine: ``"compiled"``, or ``"reference"``: the reference model (docs/explanation/reference_model.md), which
            counts the same bit by bit, slowly; for small traces, and not with `warm`.
        sample: experimental: of a launch of many blocks, replay some groups of blocks in time and walk the others
            through the tags of the caches (docs/how_to/sample_blocks.md). ``result.sampling`` has the intervals due to
            that.

    Ctrl-C returns the trials that are finished, if there are any; ``result.interrupted`` is then true.

    Raises:
        InputError: a bad trace, GPU, setting or number, a part of a launch with `whole`, or an `out` that exists
            without `resume` or `force`.

    ::

        result = memsim.simulate("spmv.h5", gpu="tesla-c2050", seed=1, jobs=2)
        print(result.l2_read.mean, result.l2_read.interval())
    """
    from memsim.analysis.stopping import Plan
    from memsim.interactive_result import Result
    from memsim.montecarlo.run import run
    from memsim.trace.reader import Trace
    from memsim.trace.target_gpu import resolve_gpu

    plan = Plan.of(trials, until, min_trials, max_trials, precise)
    recorded = trace if isinstance(trace, Trace) else open_trace(trace)
    named = resolve_gpu(recorded, gpu)
    if whole:
        settings = dict(settings or {}) | _begun_together(recorded)
    done = run(
        recorded, named_gpu(named, settings), trials=plan.most, seed=seed, jobs=jobs, enough=plan.enough(convention),
        at_least=plan.least, warm=warm, progress=progress, provenance=origins(named, settings),
        rule=plan.rule(convention), out=out, resume=resume, force=force, engine=engine, sample=sample,
    )  # fmt: skip
    return Result(done, convention)


def simulate_program(
    traces: Sequence[Trace | str | Path],
    gpu: GPU | str | Path | None = None,
    *,
    trials: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    settings: Mapping[str, object] | None = None,
    convention: str = "model",
    progress: Callable[[int, int], None] | None = None,
    sample: bool = False,
) -> list[Result]:
    """Replay the launches of a program one after the other, each with L2 as the one before left it.

    Args:
        traces: of one run of the program, in the order of their launches.
        gpu: as for :func:`simulate`; None: that which the traces were made for.
        trials: how many of the whole program; without it, as many as it takes to know the time of all launches within
            1 % (95 % interval): 3 to 8.
        seed, jobs, settings, convention: as for :func:`simulate`.
        progress: called with the trials done, and all.
        sample: of many launches that are alike, replay the first and one other in each trial
            (docs/how_to/profile.md#which-launches-are-simulated).

    Returns:
        A result for each launch. With `sample`, launches that are alike may have one object in common.

    Raises:
        InputError: a bad trace, GPU, setting or number; traces made for several GPUs where none is named.
    """
    from memsim.analysis.stopping import Plan, total_time_known
    from memsim.interactive_result import Result
    from memsim.montecarlo.sampled_launches import groups_of, replays_all, run_launches, separate, trials_by_launch

    plan = Plan.of(trials, None)
    recorded, machine, known = opened_launches("simulate_program", traces, gpu, settings)
    groups = groups_of(recorded)
    if not sample or replays_all(groups):
        groups = separate(recorded)
    interrupted = run_launches(
        recorded, machine, groups, at_least=plan.least, most=plan.most, seed=seed, jobs=jobs, progress=progress,
        enough=lambda found: plan.time is not None and total_time_known(trials_by_launch(found)), origins=known,
    )  # fmt: skip
    if interrupted:
        raise KeyboardInterrupt
    done = trials_by_launch(groups)
    results = {id(one): Result(one, convention) for one in done}
    return [results[id(one)] for one in done]


def origins(gpu: GPU | str | Path, settings: Mapping[str, object] | None) -> dict[str, object]:
    """Where the numbers of a named GPU come from, by field, as a result keeps it."""
    from memsim.gpu.presets import provenance

    found = provenance(gpu, settings) if isinstance(gpu, str | Path) else {}
    return {field: asdict(entry) for field, entry in found.items()}


def opened_launches(
    where: str,
    traces: Sequence[Trace | str | Path],
    gpu: GPU | str | Path | None,
    settings: Mapping[str, object] | None,
) -> tuple[list[Trace], GPU, dict[str, object]]:
    """The traces of a program's launches, the GPU that is meant, as it is set, and the origins of its numbers.

    Args:
        where: what an error names.

    Raises:
        InputError: no traces, or traces that were made for several GPUs where none is named.
    """
    from memsim.trace.target_gpu import resolve_gpu

    recorded = [open_trace(one) if isinstance(one, str | Path) else one for one in traces]
    if not recorded:
        raise InputError(where, "traces", "are missing; give those of a program's launches")
    first = recorded[0]
    for one in recorded if gpu is None else ():
        if one.gpu != first.gpu:
            problem = f"is {one.gpu or 'not stated'}, but that of {first.path.name} is {first.gpu or 'not stated'}"
            raise InputError(one.path, "gpu", f"{problem}; name one, as --gpu does")
    return recorded, opened(first, gpu, settings)[1], origins(resolve_gpu(first, gpu), settings)


def _begun_together(trace: Trace) -> dict[str, object]:
    """The settings of a whole launch's replay."""
    if trace.n_blocks < trace.launch.n_blocks:
        counts = f"{trace.n_blocks:,} of {trace.launch.n_blocks:,} blocks"
        raise InputError(trace.path, "blocks", f"are {counts}, not the whole launch; trace or capture it with --whole")
    return {"stochastic.start_alignment": False}


def compare(first: Result | str | Path, second: Result | str | Path, *, convention: str = "model") -> Comparison:
    """Set two results side by side: speed-up, ratios, loads and arrays, with intervals (docs/how_to/compare.md).

    Trials are paired by number where both results drew from one seed, else compared after Welch.

    Args:
        first, second: results, or the paths of their files.
        convention: of the hit ratios of files; a result has its own.

    Raises:
        InputError: a bad file, or results of different conventions.

    ::

        found = memsim.compare("scalar.h5", "vector.h5")
        found.speedup, found.speedup_interval, found.pairing.why_not
        found.ratios["l2_read"].change, [row.latency.change for row in found.loads.matched]
    """
    from memsim.analysis.compare import compare as side_by_side
    from memsim.interactive import held
    from memsim.interactive_result import Result

    one, other = (Result.load(each, convention) if isinstance(each, str | Path) else each for each in (first, second))
    return held(side_by_side(one, other))
