"""A whole program, from its launches to one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.api.arguments import open_trace, opened
from memsim.api.replay import check_made_for_one, origins
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.analysis.program import ProgramResult
    from memsim.analysis.result import RunResult
    from memsim.gpu.config import GPU
    from memsim.montecarlo.sampled_launches import Group
    from memsim.trace.reader import Trace

LEAST, MOST = 3, 12  # trials
LEAST_OF_LONG = 2  # trials of a program whose replay takes long
LONG = 1 << 21  # memory instructions of warps in a program's different traces, from which its replay takes long
WITHIN = 0.01  # share of the program's time, half the 95 % interval of its mean
EXPLAINED, SHARE = 3, 0.1  # kernels that are explained at most, and the least share of the time of one


def profile_program(
    traces: Sequence[Trace | str | Path],
    gpu: GPU | str | Path | None = None,
    *,
    program: str = "program",
    quick: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    settings: Mapping[str, object] | None = None,
    convention: str = "model",
    progress: Callable[[str, int, int, str], None] | None = None,
    activities: Sequence[tuple[str, int, int]] = (),
) -> ProgramResult:
    """Predict the time of a program from the traces of all its launches, of which alike ones stand for each other.

    Args:
        traces: of one run of the program, in the order of their launches, as ``capture(..., launch="all")`` makes them.
        gpu: as for :func:`simulate`; None: that which the traces were made for.
        program: a name for it.
        quick: replay no repaired kernel, so that findings have an upper bound of their gain alone.
        seed, jobs, settings, convention: as for :func:`simulate`.
        progress: called with the phase ("replaying", "explaining"), what is done of it, all, and a note.
        activities: of the program, as ``capture`` returns them, for the timeline of its page.

    Ctrl-C ends it with what is finished, if a trial is; ``about["interrupted"]`` of the result tells.

    Raises:
        InputError: a bad trace, GPU, setting or number; traces made for several GPUs where none is named.

    ::

        captured = memsim.capture("app.cu", out="traces/", launch="all")
        found = memsim.profile_program(captured.traces, gpu="a100")
        found.time.mean, [(group.kernel, group.time.mean, group.best_possible) for group in found.groups]
    """
    from memsim.analysis.program import ProgramResult
    from memsim.montecarlo.sampled_launches import run_sampled
    from memsim.trace.reader import Trace
    from memsim.trace.target_gpu import resolve_gpu

    recorded = [one if isinstance(one, Trace) else open_trace(one) for one in traces]
    if not recorded:
        raise InputError("profile", "traces", "are missing; give those of a program's launches")
    if gpu is None:
        check_made_for_one(recorded)
    _, machine = opened(recorded[0], gpu, settings)
    least = LEAST_OF_LONG if _instructions(recorded) > LONG else LEAST
    report = progress or (lambda phase, done, every, note: None)
    about: dict[str, Any] = {"program": program, "launches": len(recorded), "interrupted": False}
    about |= {"findings": [], "activities": []}
    notes = [""]

    def enough(groups: list[Group]) -> bool:
        total = ProgramResult.of(groups, about).time
        interval = total.interval()
        assert interval is not None
        half = interval.width / 2 / total.mean
        notes[0] = f"time {total.mean:.4g} ms ± {half:.1%}"
        return half < WITHIN

    groups, interrupted = run_sampled(
        recorded, machine, enough=enough, at_least=least, most=MOST, seed=seed, jobs=jobs,
        progress=lambda done, every: report("replaying", done, every, notes[0]),
        origins=origins(resolve_gpu(recorded[0], gpu), settings),
    )  # fmt: skip
    result = ProgramResult.of(groups, about, convention)
    about["activities"] = _by_group(result, activities)
    about["interrupted"] = interrupted
    if not interrupted:
        _explain(result, recorded, machine, quick, jobs, report)
    return result


def _instructions(traces: Sequence[Trace]) -> int:
    """Memory instructions of warps in all traces that differ."""
    return sum({trace.digest: trace.n_instructions for trace in traces}.values())


def _by_group(result: ProgramResult, activities: Sequence[tuple[str, int, int]]) -> list[list[str | int]]:
    """Activities, of which launches name their group, not their position in the program."""
    groups = {position: number for number, group in enumerate(result.groups) for position in group.positions}
    return [
        [kind, stream, groups[value] if kind == "launch" else value]
        for kind, stream, value in activities
        if kind != "launch" or value in groups
    ]


def _explain(
    result: ProgramResult, traces: Sequence[Trace], machine: GPU, quick: bool, jobs: int | None,
    report: Callable[[str, int, int, str], None],
) -> None:  # fmt: skip
    """Add the top finding of each of the kernels that take longest.

    Kernels after the first have no predicted gain where the replays of those before and theirs take long.
    """
    from memsim.support.cores import chosen_jobs

    by_digest = {trace.digest: trace for trace in traces}
    total = result.time.mean
    chosen = [
        (label, group)
        for label, group in zip(result.labels(), result.groups, strict=True)
        if group.time.mean >= SHARE * total
    ][:EXPLAINED]
    replayed = 0
    try:
        for number, (label, group) in enumerate(chosen):
            report("explaining", number, len(chosen), label)
            trace = by_digest[group.typical.trials.about["trace"]["digest"]]
            replayed += trace.n_instructions
            without_gain = quick or (number > 0 and replayed > LONG)
            if found := _top_finding(group.typical, trace, machine, without_gain, chosen_jobs(jobs)):
                most = 1 - group.best_possible / group.time.mean  # nothing saves more; nan where that is not known
                found["bound"] = min(found["bound"], most) if most == most else found["bound"]
                result.about["findings"].append({"kernel": label} | found)
        report("explaining", len(chosen), len(chosen), "")
    except KeyboardInterrupt:
        result.about["interrupted"] = True


def _top_finding(typical: RunResult, trace: Trace, machine: GPU, quick: bool, jobs: int) -> dict[str, Any] | None:
    """What wins most in a kernel, by replays of it alone; None where nothing is of weight."""
    from memsim.api.replay import simulate
    from memsim.why import explain
    from memsim.why.finding import LEAST_SHARE

    single = typical if quick else simulate(trace, machine, trials=LEAST, jobs=jobs)
    for one in explain(single, trace, quick=quick, jobs=jobs).bottlenecks:
        gain = None if one.gain is None else float(one.gain.share.mean)
        if gain is None or gain >= LEAST_SHARE:
            location = one.findings[0].location if one.findings else ""
            repair = "" if one.gain is None else one.gain.transform
            return {
                "cause": str(one.cause),
                "place": location,
                "repair": repair,
                "gain": gain,
                "bound": float(one.upper_bound),
            }
    return None
