"""``python -m experiments.robustness``: interrupts, kills and damage at random, counted."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import memsim
from experiments.robustness import mutations, studies
from experiments.robustness.interrupts import (
    GPU,
    TRIALS,
    Interrupted,
    Killed,
    interrupt,
    kill,
    small_trace,
    usual_seconds,
)
from experiments.robustness.kills import print_kills

SORTS = ("interrupts", "kills", "studies", "commands", "damage")


def main() -> None:
    """Print what became of so many tries of each sort."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sort", nargs="*", choices=[*SORTS, []], help="default: all, about an hour")
    parser.add_argument("--times", type=int, default=200, help="runs of each sort")
    parser.add_argument("--mutations", type=int, default=20_000, help="damaged files and command lines in all")
    parser.add_argument("--seed", type=int, default=0, help="of the random moments")
    given = parser.parse_args()
    chosen, draw = given.sort or SORTS, random.Random(given.seed)
    with TemporaryDirectory() as name:
        folder = Path(name)
        if "interrupts" in chosen or "kills" in chosen:
            _runs(folder, chosen, given.times, draw)
        if "studies" in chosen:
            study = studies.small_study().run()
            for jobs in (1, 2):
                killed = [studies.kill(folder, study, jobs, draw, 1.6) for _ in range(given.times)]
                _tell_kills(f"kills of a study, -j {jobs}", killed)
    if "commands" in chosen:
        print_kills(given.times, given.seed)
    if "damage" in chosen:
        mutations.tell(given.mutations)


def _runs(folder: Path, chosen: Sequence[str], times: int, draw: random.Random) -> None:
    """Interrupts and kills of ``memsim run``, on one worker and on two."""
    trace = small_trace(folder)
    many, whole = memsim.simulate(trace, GPU, trials=40), memsim.simulate(trace, GPU, trials=TRIALS, seed=1)
    for jobs in (1, 2):
        span = usual_seconds(trace, jobs)
        if "interrupts" in chosen:
            _tell_interrupts(jobs, [interrupt(trace, folder, many, jobs, draw, span) for _ in range(times)])
        if "kills" in chosen:
            _tell_kills(f"kills, -j {jobs}", [kill(trace, folder, whole, jobs, draw, span) for _ in range(times)])


def _tell_interrupts(jobs: int, found: list[Interrupted]) -> None:
    print(
        f"interrupts, -j {jobs}: {len(found)}, hung {sum(one.hung for one in found)}, "
        f"wrong {sum(bool(one.wrong) for one in found)}, kept {sum(one.kept for one in found)} trials in "
        f"{sum(one.kept > 0 for one in found)} results",
        flush=True,
    )
    for one in found:
        if one.hung or one.wrong:
            print("  ", one, flush=True)


def _tell_kills(what: str, killed: list[Killed]) -> None:
    print(
        f"{what}: {len(killed)}, damaged {sum(one.damaged for one in killed)}, "
        f"wrong {sum(bool(one.wrong) for one in killed)}, "
        f"finished {sum(one.finished for one in killed)} trials, "
        f"lost {sum(one.lost for one in killed)}, repeated {sum(one.repeated for one in killed)}",
        flush=True,
    )
    for one in killed:
        if one.damaged or one.wrong or one.lost or one.repeated:
            print("  ", one, flush=True)


if __name__ == "__main__":
    main()
