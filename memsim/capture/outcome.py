"""What a capture came to: the errors that end it, and the notes that go with its traces."""

from __future__ import annotations

import signal
from bisect import bisect_left
from collections.abc import Sequence

from memsim.capture.launches import Launches
from memsim.sources.selection import ALL
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

MOST_LISTED = 8  # launch numbers that a message names
CALLED = "the program called "  # how notes begin of functions that memsim does not have


def check_outcome(launches: Launches, stopped: bool, code: int | None, needs_trace: bool) -> None:
    """Refuse a run that did not give what was wanted.

    Args:
        stopped: memsim ended the program, as all was captured.
        code: the program's exit code, negative for a signal.
        needs_trace: whether it is an error that no launch was traced.

    Raises:
        InputError: a kernel failed, the program did, or the wanted launch never came.
    """
    shown = launches.shown
    if launches.failures and not (launches.is_complete and not launches.selection.heaviest):
        raise launches.failures[0]
    if launches.refused and not launches.traces:
        raise InputError(shown, "code", f"cannot be run: {launches.refused[0]}")
    if not stopped and code and not _is_due_to_repeats(launches, code):
        how = f"was ended by {_signal(-code)}{_position(launches)}" if code < 0 else f"ended with exit code {code}"
        if code > 0 and launches.latest is None and not launches.entries:
            how += " before its first launch"
        called = [note for note in launches.notes if note.startswith(CALLED)]
        why = "".join(f"; {note}" for note in called + _accesses_beyond(launches))
        if launches.incomplete:
            why += f"; its data were wrong ({', '.join(launches.incomplete)}: --snapshot-only)"
        raise InputError(shown, "run", f"{how}; no trace was kept{why}")
    if not launches.traces and launches.without_blocks:
        raise launches.without_blocks[0]
    if not launches.traces and needs_trace:
        raise no_launch_error(launches)


def _is_due_to_repeats(launches: Launches, code: int) -> bool:
    """Whether a program may have failed because launches were left out: it computes something else then."""
    return code > 0 and bool(launches.stand_ins.unexecuted and launches.traces)


def _position(launches: Launches) -> str:
    """Between which launches the program was: kernels report what they do wrong, so a signal ends its host code."""
    if launches.latest is None:
        return " in its host code, before its first launch"
    return f" in its host code, after launch {launches.counts[launches.latest] - 1} of {launches.latest}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def no_launch_error(launches: Launches) -> InputError:
    """The error that says why no launch was captured."""
    selection, seen = launches.selection, ", ".join(f"{one} ({n})" for one, n in launches.counts.items())
    is_timed_alone = not seen or selection.launches is ALL and launches.is_launched(selection.kernels)
    if launches.entries and is_timed_alone:
        timed = ", ".join(launches.entries)
        problem = f"launched {timed} in benchmarks alone, which have got their times; a trace needs a launch elsewhere"
        return InputError(launches.shown, "run", problem)
    if not seen:
        problem = "launched no kernel on memsim's CUDA libraries; give arguments after -- if it needs some"
        return InputError(launches.shown, "run", problem)
    if selection.kernels and not launches.is_launched(selection.kernels):
        return InputError("--kernel", ", ".join(selection.kernels), f"was never launched; launched kernels: {seen}")
    return InputError("--launch", _listed(selection.launches or ()), f"was never launched; launches: {seen}")


def notes_of(launches: Launches, traces: Sequence[Trace], stopped: bool, code: int | None) -> list[str]:
    """What the user should know of a capture that went well; ``stopped`` and ``code`` as for :func:`check_outcome`."""
    notes = [
        *launches.notes,
        *_accesses_beyond(launches),
        *(f"a later launch failed: {error}" for error in launches.failures[:1]),
    ]
    notes += _of_end(launches) if stopped else _of_launches(launches, traces) + _never_launched(launches)
    if launches.stand_ins.unexecuted:
        counts = ", ".join(f"{count:,} of {kernel}" for kernel, count in launches.stand_ins.unexecuted.items())
        failed = f" (the program ended with exit code {code}, perhaps for that reason)" if code and not stopped else ""
        notes.append(
            f"launches that repeat earlier ones were not executed ({counts}), so what they accumulate is "
            f"incomplete{failed}; --every-launch executes and traces all"
        )
    elif 0 < len(traces) < len(launches.stand_ins.orders):
        notes.append(
            f"{len(traces):,} of {len(launches.stand_ins.orders):,} launches are traced; they represent the others of "
            "their kernel and shape, whose accesses may differ where they depend on data; --every-launch traces all"
        )
    if launches.incomplete and not stopped:
        incomplete = ", ".join(launches.incomplete)
        notes.append(f"{incomplete} (--snapshot-only): what the program printed or wrote after that is wrong")
    return notes


def _accesses_beyond(launches: Launches) -> list[str]:
    """Accesses out of bounds that ended no kernel, a line for each kernel and line of its source."""
    how = "the memory there is mapped, so the kernel continued as on a GPU"
    return [f"{text} ({count:,} access{'' if count == 1 else 'es'}; {how})" for text, count in launches.beyond.values()]


def _of_end(launches: Launches) -> list[str]:
    """That memsim ended the program, where, and what to do if that is not wanted; nothing if nothing was captured."""
    if not launches.taken:
        return []
    last, selection = launches.taken[-1].counted, launches.selection
    choices = ["--to-end runs it to its end"]
    if selection.launches is None:
        choices[0] += " and captures the launch with the most accesses"
    if not selection.kernels:
        choices.append("--kernel NAME captures another kernel")
    return [f"captured launch {last.index} of {last.kernel} and ended the program there; {', '.join(choices)}"]


def _of_launches(launches: Launches, traces: Sequence[Trace]) -> list[str]:
    """Kernels that were launched, where there was something to choose."""
    if not traces:
        return []
    if launches.selection.heaviest:
        return _of_heaviest(launches)
    captured = {one.kernel for one in traces}
    others = {kernel: count for kernel, count in launches.counts.items() if kernel not in captured}
    if not others or launches.selection.kernels:
        return []
    seen = ", ".join(f"{kernel} ({count})" for kernel, count in others.items())
    launch = traces[0].parameters["launch"]
    return [f"captured {traces[0].kernel}, launch {launch}; launched too: {seen}; choose with --kernel"]


def _of_heaviest(launches: Launches) -> list[str]:
    if launches.counts.total() == 1:
        return []
    captured = {(one.counted.kernel, one.counted.index) for one in launches.traces}
    most = max((one.counted.accesses for one in launches.traces), default=0)
    lines = []
    for kernel, one in launches.heaviest.items():
        chosen = " (captured)" if (kernel, one.index) in captured else ""
        lines.append(f"{one} of {launches.counts[kernel]} launches{chosen}")
        mine = launches.heaviest_traces.get(kernel) if launches.every else None
        least = mine.counted.accesses if mine else most
        if one.accesses > least and launches.is_selected_kernel(kernel):
            lines.append(
                f"{kernel}: launch {one.index} has more accesses than those before it; "
                "choose it with --kernel and --launch"
            )
    return lines


def _never_launched(launches: Launches) -> list[str]:
    """Kernels and launches that were asked for and that the program never made."""
    selection = launches.selection
    lines = [f"--kernel: {one} was never launched" for one in selection.kernels if not launches.is_launched((one,))]
    if selection.launches is None or selection.launches is ALL:
        return lines
    if not selection.kernels:
        most = max(launches.counts.values(), default=0)
        return [*lines, *_late(selection.launches, most, "")]
    for kernel, count in launches.counts.items():
        if launches.is_selected_kernel(kernel):
            lines += _late(selection.launches, count, f" of {kernel}")
    return lines


def _late(numbers: Sequence[int], count: int, of: str) -> list[str]:
    """The launches that were asked for beyond those that came."""
    late = numbers[bisect_left(numbers, count) :]
    return [f"--launch: {_listed(late)}{of} was never launched"] if late else []


def _listed(numbers: Sequence[int]) -> str:
    """The first numbers, and how many more there are."""
    more = f" and {len(numbers) - MOST_LISTED:,} more" if len(numbers) > MOST_LISTED else ""
    return ", ".join(map(str, numbers[:MOST_LISTED])) + more
