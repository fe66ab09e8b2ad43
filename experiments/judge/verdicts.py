"""A hundred candidates of four kernels: are all verdicts right, and does none escape its budget?

python experiments/judge/verdicts.py [EACH] [JOBS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from judge_candidates import TASKS  # noqa: E402

from memsim import api  # noqa: E402
from memsim.judge.sandbox import WALL  # noqa: E402

SECONDS = 10.0


def main(each: int, jobs: int) -> int:
    """The number of verdicts that are wrong, and of candidates over their budget."""
    wrong = late = count = 0
    used: list[float] = []
    begun = time.monotonic()
    for task in TASKS:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "task.py").write_text(task.task)
            (place / "c").mkdir()
            right = {}
            for name, text, verdict in task.candidates(each):
                (place / "c" / f"{name}.cu").write_text(text)
                right[name] = verdict
            for one in api.judge(place / "c", place / "task.py", "a100", seconds=SECONDS, jobs=jobs):
                name, budget = Path(one["file"]).stem, one["budget"]
                count += 1
                late += budget["used_cpu_seconds"] > SECONDS + 1 or budget["used_seconds"] > WALL * SECONDS + 1
                if one["verdict"] != "endless":
                    used.append(budget["used_cpu_seconds"])
                if one["verdict"] != right[name]:
                    wrong += 1
                    print(f"{name}: {one['verdict']}, {one['time_us']}, {one['error']}")
                elif one["time_us"] and name.endswith("-0"):
                    print(f"{name}: {one['verdict']}, {one['time_us']['mean']:.3g} us")
    used.sort()
    print(f"{count} candidates in {time.monotonic() - begun:.0f} s: {wrong} wrong verdicts, {late} over budget")
    print(f"CPU seconds per candidate that ends: median {used[len(used) // 2]:.2f}, most {used[-1]:.2f}")
    return wrong + late


if __name__ == "__main__":
    sys.exit(main(*map(int, (sys.argv[1:] + ["5", "2"])[:2])) > 0)
