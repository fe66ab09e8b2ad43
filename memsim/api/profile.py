"""A whole program, from its launches to one table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.api.replay import opened_launches

if TYPE_CHECKING:
    from memsim.analysis.program import LaunchGroup, ProgramResult
    from memsim.gpu.config import GPU
    from memsim.montecarlo.sampled_launches import Group
    from memsim.trace.reader import Trace
    from memsim.why.finding import Bottleneck

LEAST, MOST = 3, 12  # trials
LEAST_OF_LONG = 2  # trials of a program whose replay takes long
LONG = 1 << 21  # memory instructions of warps in a program's different traces, from which its replay takes long
WITHIN = 0.01  # share of the program's time, half the 95 % interval of its mean
MOST_REPLAYED = 1 << 23  # transactions of all replays that predict gains
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

    Ctrl-C ends it with what is finished, if a trial is; ``about["interrupted"]`` of the result is then true.

    Raises:
        InputError: a bad trace, GPU, setting or number; traces made for several GPUs where none is named.

    ::

        captured = memsim.capture("app.cu", out="traces/", launch="all")
        found = memsim.profile_program(captured.traces, gpu="a100")
        found.time.mean, [(group.kernel, group.time.mean, group.best_possible) for group in found.groups]
    """
    from memsim.analysis.program import ProgramResult
    from memsim.montecarlo.sampled_launches import groups_of, run_launches

    recorded, machine, known = opened_launches("profile", traces, gpu, settings)
    least = LEAST_OF_LONG if _instructions(recorded) > LONG else LEAST
    report = progress or (lambda phase, done, every, note: None)
    about: dict[str, Any] = {"program": program, "launches": len(recorded), "interrupted": False}
    about |= {"findings": [], "causes": {}, "activities": []}
    notes = [""]

    def enough(found: Sequence[Group]) -> bool:
        total = ProgramResult.of(found, about).time
        interval = total.interval()
        assert interval is not None
        half = interval.width / 2 / total.mean
        notes[0] = f"time {total.mean:.4g} ms ± {half:.1%}"
        return half < WITHIN

    groups = groups_of(recorded)
    interrupted = run_launches(
        recorded, machine, groups, enough=enough, at_least=least, most=MOST, seed=seed, jobs=jobs,
        progress=lambda done, every: report("replaying", done, every, notes[0]),
        origins=known,
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

    Causes are those of the typical launch, as the table describes it; what removing them saves is predicted for the
    kernel alone. Where replays would take long, with those of the kernels before, fewer causes are replayed, first in
    fewer trials, and at last none.
    """
    from memsim.api.replay import simulate
    from memsim.support.cores import chosen_jobs
    from memsim.why.explain import find_causes
    from memsim.why.gains import MOST as MOST_CAUSES
    from memsim.why.gains import with_gains
    from memsim.why.stored import documents

    cores = chosen_jobs(jobs)
    by_digest = {trace.digest: trace for trace in traces}
    chosen = _kernels_to_explain(result)
    left = 0 if quick else MOST_REPLAYED
    try:
        for number, (label, group) in enumerate(chosen):
            report("explaining", number, len(chosen), label)
            trace = by_digest[group.typical.trials.about["trace"]["digest"]]
            causes = find_causes(group.typical, trace)
            transactions = max(1, int(group.typical.trials.transactions.mean()))
            trials = min(LEAST, left // transactions // 2)
            if causes and trials:
                replayed = min(len(causes), MOST_CAUSES, left // transactions // trials - 1)
                left -= trials * (1 + replayed) * transactions
                single = simulate(trace, machine, trials=trials, jobs=cores)
                predicted = with_gains(single, trace, causes[:replayed], jobs=cores)
                causes = sorted([*predicted, *causes[replayed:]], key=lambda one: one.rank())
            if group.breakdown is not None:  # a replay may have other instructions, which need less
                most = max(0.0, 1 - group.breakdown.of_best)
                causes = [one if one.gain else replace(one, upper_bound=min(one.upper_bound, most)) for one in causes]
            result.about["causes"][label] = documents(causes)
            if found := _top_finding(causes):
                result.about["findings"].append({"kernel": label} | found)
        report("explaining", len(chosen), len(chosen), "")
    except KeyboardInterrupt:
        result.about["interrupted"] = True


def _kernels_to_explain(result: ProgramResult) -> list[tuple[str, LaunchGroup]]:
    """The groups that take long, and of kernels that take long with many grids the group that takes longest."""
    least, found, seen = SHARE * result.time.mean, [], set[str]()
    kernels: defaultdict[str, float] = defaultdict(float)
    for group in result.groups:
        kernels[group.kernel] += group.time.mean
    for label, group in zip(result.labels(), result.groups, strict=True):
        if group.time.mean >= least or (group.kernel not in seen and kernels[group.kernel] >= least):
            found.append((label, group))
        seen.add(group.kernel)
    return found[:EXPLAINED]


def _top_finding(causes: Sequence[Bottleneck]) -> dict[str, Any] | None:
    """The first cause of a kernel that saves enough, by its upper bound if it was not replayed; None if none does."""
    from memsim.why.finding import LEAST_SHARE

    for one in causes:
        gain = None if one.gain is None else float(one.gain.share.mean)
        if (float(one.upper_bound) if gain is None else gain) >= LEAST_SHARE:
            return {
                "cause": str(one.cause),
                "location": one.findings[0].location if one.findings else "",
                "advice": one.findings[0].advice if one.findings else "",
                "replayed": None if one.gain is None else one.gain.transform,
                "gain": gain,
                "upper_bound": float(one.upper_bound),
            }
    return None
