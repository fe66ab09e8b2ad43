"""A program's launches, of which each trial replays a few: alike ones form a group, of which one stands for the others.

Launches of the same kernel, shape and nearly the same work are a group. A trial replays the first launch of each group,
which finds a cold L2, and one of its others, drawn anew in every trial; where the launch right before one of these is
not replayed anyway, it is, so that L2 is as it leaves it. An equal launch serves as well: one that repeats the launch
before it is replayed right after the first of its group. A trial's time of the program is

    T = sum over groups of (first + (launches - 1) x drawn),

an unbiased estimate of the sum over all launches (simple random sampling within strata; Cochran, Sampling Techniques,
3rd edition, chapter 5). T varies between trials with the order of warps and with the launches that were drawn, so the
interval of its mean holds both. All groups share one number between 0 and 1 per trial, which picks launches of the same
round of a loop; a sequence of low discrepancy spreads the rounds over the trials.

Where all launches are at most twice as many as those that a trial would replay, it replays all of them, and a trial's
time of the program is their sum.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from pathlib import Path

import numpy as np

from memsim.gpu.config import GPU
from memsim.montecarlo.launch_sequence import LaunchSequence, LaunchSequences
from memsim.montecarlo.run import check_numbers
from memsim.montecarlo.trials import Trials
from memsim.support.scratch import Scratch
from memsim.trace.equal_content import content_keys
from memsim.trace.reader import Trace

FEW = 2  # times the launches of a sample, up to which all are replayed
SIMILAR = 0.02  # relative difference of memory instructions within a group
_GOLDEN = (5**0.5 - 1) / 2
_Drawn = dict[int, list[tuple[int, int]]]  # trial -> positions of each group's first launch and of the one drawn


@dataclass
class Group:
    """Launches that are alike.

    Attributes:
        kernel: its name.
        positions: of its launches in the program, from 0, ascending.
        first, others: trials of the first one, and of those that were drawn; the latter None where there is one launch.
        each: where all launches are replayed, trials of those after the first, by position.
    """

    kernel: str
    positions: list[int]
    first: Trials | None = None
    others: Trials | None = None
    each: dict[int, Trials] = field(default_factory=dict)

    def drawn(self, share: float) -> int:
        """The launch that stands for those after the first, at a share of them; the first where it is alone."""
        others = self.positions[1:]
        return others[min(floor(share * len(others)), len(others) - 1)] if others else self.positions[0]


def groups_of(traces: Sequence[Trace]) -> list[Group]:
    """The groups of a program's launches, in the order of their first ones."""
    found: list[tuple[tuple[object, ...], int, Group]] = []
    for position, trace in enumerate(traces):
        shape, work = _shape(trace), trace.n_instructions
        for other, of_it, group in found:
            if shape == other and abs(work - of_it) <= SIMILAR * of_it:
                group.positions.append(position)
                break
        else:
            found.append((shape, work, Group(trace.kernel, [position])))
    return [group for _, _, group in found]


def separate(traces: Sequence[Trace]) -> list[Group]:
    """Each launch of a program as a group of its own: all of them are replayed."""
    return [Group(trace.kernel, [position]) for position, trace in enumerate(traces)]


def replays_all(groups: Sequence[Group]) -> bool:
    """Whether the launches are so few that each trial replays all of them."""
    sample = sum(len(group.positions[:2]) for group in groups)  # and those right before, at worst as many again
    return sum(len(group.positions) for group in groups) <= FEW * sample


def trials_by_launch(groups: Sequence[Group]) -> list[Trials]:
    """The trials of each launch of a program, in their order; those that were drawn, for all but the first of a group.

    Args:
        groups: of a run, with trials.
    """
    found: dict[int, Trials] = {}
    for group in groups:
        for position in group.positions:
            trials = group.first if position == group.positions[0] else group.others
            assert trials is not None
            found[position] = trials
    return [found[position] for position in range(len(found))]


def _shape(trace: Trace) -> tuple[object, ...]:
    launch = trace.launch
    ops = tuple((op.kind, op.space, op.width, op.file, op.line, op.column) for op in trace.ops)
    return (
        trace.kernel, tuple(launch.grid), tuple(launch.block), launch.registers, launch.shared_bytes, trace.n_blocks,
        ops,
    )  # fmt: skip


def run_launches(
    traces: Sequence[Trace],
    gpu: GPU,
    groups: Sequence[Group],
    *,
    enough: Callable[[Sequence[Group]], bool],
    at_least: int,
    most: int,
    seed: int = 0,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    origins: Mapping[str, object] | None = None,
) -> bool:
    """Replay a program's launches, or a sample of them, until its time is known.

    Args:
        traces: of all launches, in their order.
        gpu: the configuration.
        groups: of all launches, which receive their trials.
        enough: called with the groups and the trials so far, after each batch; True: they are enough.
        at_least, most: trials. They are made in batches of `at_least`.
        seed: of the draws; what a trial draws depends on it, the trial's number and the launch's position.
        jobs: processes; None: all cores, unless there is little to do.
        progress: called with the trials done, and all that are made before `enough` is asked again.
        origins: field of the GPU -> where its value comes from, for the results to keep.

    Returns:
        Whether Ctrl-C ended the run before it was enough.

    Raises:
        InputError: a trace that does not fit the GPU, or numbers out of range.
        KeyboardInterrupt: Ctrl-C before the first batch was whole.
    """
    check_numbers(most, seed, 1 if jobs is None else jobs, at_least)
    contents, all_of_them = content_keys(traces), range(len(traces)) if replays_all(groups) else None
    offset = float(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1 << 20,))).random())
    launches: LaunchSequences | None = None
    with Scratch() as folder:
        for begin in range(0, most, at_least):
            drawn: _Drawn = {}
            for number in range(begin, min(begin + at_least, most)):
                share = (offset + number * _GOLDEN) % 1
                drawn[number] = [(group.positions[0], group.drawn(share)) for group in groups]
            orders = {number: tuple(all_of_them or replay_order(pairs, contents)) for number, pairs in drawn.items()}
            positions = sorted({position for order in orders.values() for position in order})
            if launches is None or launches.positions != positions:
                made = _emptied(Path(folder, "launches"))
                described = () if begin else [position for pair in drawn[0] for position in pair]  # name their groups
                launches = LaunchSequences(traces, gpu, positions, seed, made, contents, described)
            report = _from(begin, progress)
            try:
                launches.replay([LaunchSequence(number, order) for number, order in orders.items()], jobs, report)
            except KeyboardInterrupt:
                if not _add(groups, drawn, launches, origins or {}) and not begin:
                    raise
                return True
            _add(groups, drawn, launches, origins or {})
            if enough(groups):
                break
    return False


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _from(begin: int, progress: Callable[[int, int], None] | None) -> Callable[[int, int], None]:
    """Progress that counts trials from `begin` on."""
    return lambda done, every: progress(begin + done, begin + every) if progress else None


def replay_order(pairs: Sequence[tuple[int, int]], contents: Sequence[str]) -> list[int]:
    """The launches that a trial replays, each after one that leaves L2 as the launch before it does.

    Args:
        pairs: positions of the first launch of each group and of the one that was drawn.
        contents: keys of all launches' traces, equal where the traces are.

    >>> replay_order([(0, 5), (1, 8)], ["a", "b", *"aaaabbb"])  # 5 and 8 repeat the launches before them
    [0, 5, 1, 8]
    >>> replay_order([(0, 4), (1, 5), (6, 6)], list("abababc"))
    [0, 1, 4, 5, 6]
    """
    drawn = {position for pair in pairs for position in pair}
    repeats = {
        first: other
        for first, other in pairs
        if other > first + 1 and contents[other] == contents[other - 1] == contents[first] and other + 1 not in drawn
    }
    order: list[int] = []
    for position in sorted(drawn - set(repeats.values())):
        if position and (not order or contents[order[-1]] != contents[position - 1]):
            order.append(position - 1)
        order.append(position)
        if position in repeats:
            order.append(repeats[position])
    return order


def _add(groups: Sequence[Group], drawn: _Drawn, launches: LaunchSequences, origins: Mapping[str, object]) -> bool:
    """Add the trials of a batch that are finished to the groups; returns whether there are any."""

    def extended(before: Trials | None, positions: Mapping[int, int], only_time: bool = False) -> Trials:
        """Some trials and further ones, by number the launch that each replayed; their texts are the first's."""
        added = {number: launches.trials[number, position] for number, position in positions.items()}
        if before is not None:
            texts = {name: getattr(before, name) for name in ("about", "ops", "arrays", "sources")}
            return Trials.of(before.separate() | added, **texts)
        first = next(iter(positions.values()))
        return Trials.of(added, **(launches.names(first) if only_time else launches.texts(first, origins)))

    finished = {
        number: pairs
        for number, pairs in drawn.items()
        if all((number, position) in launches.trials for pair in pairs for position in pair)
    }
    for index, group in enumerate(groups if finished else ()):
        first, *rest = group.positions
        group.first = extended(group.first, dict.fromkeys(finished, first))
        if rest:
            group.others = extended(group.others, {number: pairs[index][1] for number, pairs in finished.items()})
        for position in rest if replays_all(groups) else ():
            group.each[position] = extended(group.each.get(position), dict.fromkeys(finished, position), only_time=True)
    return bool(finished)
