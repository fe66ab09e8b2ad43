"""The launches of a program, one after the other in each trial: each finds in L2 what those before it left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memsim.gpu.config import GPU
from memsim.montecarlo.launch_sequence import LaunchSequence, LaunchSequences
from memsim.montecarlo.run import check_numbers
from memsim.montecarlo.trials import Trials
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace


def run_program(
    traces: Sequence[Trace],
    gpu: GPU,
    *,
    trials: int,
    seed: int = 0,
    jobs: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    provenance: dict[str, Any] | None = None,
) -> list[Trials]:
    """Replay launches in their order, in every trial all of them, with L2 as the one before left it.

    Between launches L1s are emptied, as GPUs do when a kernel begins, and memory's rows are closed; L2 keeps its lines,
    those that are dirty too. A trace of a part of a launch leaves what that part left.

    Args:
        traces: of one run of a program, whose addresses agree, in the order of their launches.
        gpu: the configuration.
        trials: how many; what one draws depends on `seed`, its number and the launch's position.
        jobs: processes; None: all cores, unless there is little to do.
        progress: called with the trials done, and all.
        provenance: field of the GPU -> where its value comes from, for the results to keep.

    Returns:
        The trials of each launch; their `about` has the digests of the launches before it as ``launches_before``.

    Raises:
        InputError: a trace that does not fit the GPU, or numbers out of range.
    """
    check_numbers(trials, seed, 1 if jobs is None else jobs)
    positions = tuple(range(len(traces)))
    with Scratch() as folder:
        sequences = LaunchSequences(
            traces, gpu, [LaunchSequence(number, positions) for number in range(trials)], seed, Path(folder)
        )
        sequences.replay(jobs, progress)
        digests = [trace.digest for trace in traces]
        found = []
        for position in positions:
            texts = sequences.texts(position)
            texts["about"] |= {"gpu_provenance": provenance or {}, "launches_before": digests[:position]}
            found.append(Trials.of({number: sequences.trials[number, position] for number in range(trials)}, **texts))
    return found
