"""``python -m experiments.robustness``: interrupts and kills at random moments, counted."""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import memsim
from experiments.robustness import studies
from experiments.robustness.interrupts import GPU, TRIALS, Killed, interrupt, kill, small_trace, usual_seconds


def main() -> None:
    """Print what became of so many runs of each sort."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="runs of each sort")
    parser.add_argument("--seed", type=int, default=0, help="of the random moments")
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        trace, draw = small_trace(folder), random.Random(given.seed)
        for jobs in (1, 2):
            many = memsim.simulate(trace, GPU, trials=40)
            span = usual_seconds(trace, jobs)
            found = [interrupt(trace, folder, many, jobs, draw, span) for _ in range(given.times)]
            print(
                f"interrupts, -j {jobs}: {len(found)}, hung {sum(one.hung for one in found)}, "
                f"wrong {sum(bool(one.wrong) for one in found)}, kept {sum(one.kept for one in found)} trials in "
                f"{sum(one.kept > 0 for one in found)} results",
                flush=True,
            )
            for one in found:
                if one.hung or one.wrong:
                    print("  ", one, flush=True)
        whole = memsim.simulate(trace, GPU, trials=TRIALS, seed=1)
        for jobs in (1, 2):
            span = usual_seconds(trace, jobs)
            _tell(f"kills, -j {jobs}", [kill(trace, folder, whole, jobs, draw, span) for _ in range(given.times)])
        study = studies.small_study().run()
        for jobs in (1, 2):
            killed = [studies.kill(folder, study, jobs, draw, 1.6) for _ in range(given.times)]
            _tell(f"kills of a study, -j {jobs}", killed)


def _tell(what: str, killed: list[Killed]) -> None:
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
