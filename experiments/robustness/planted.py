"""Plants known faults in a copy of the project, one at a time, and checks that the tests notice each of them.

    python -m experiments.robustness.planted                    # this tree, with the budget of `make test`
    python -m experiments.robustness.planted --revision v0.9 --budget full

Each fault is one changed line. Only the tests of the folders that are named with it run, up to their first failure.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Fault:
    """One wrong line.

    Attributes:
        name: what is wrong.
        file: relative to the project.
        right, wrong: the text, and what replaces its first occurrence.
        tests: folders and files of tests that may notice it.
    """

    name: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, ...]


FAULTS = (
    Fault(
        "passes of shared memory miss the last word of an access",
        "memsim/trace/coalesce_loop.py",
        "for word in range(address >> 2, ((address + width - 1) >> 2) + 1):",
        "for word in range(address >> 2, (address + width - 1) >> 2):",
        ("tests/trace",),
    ),
    Fault(
        "LRU does not see a use of the oldest way",
        "memsim/hierarchy/cache/ways.py",
        "        cache.oldest[s] = newer\n",
        "        cache.oldest[s] = oldest\n",
        ("tests/hierarchy/cache",),
    ),
    Fault(
        "L2 loses the write-back of an evicted line",
        "memsim/hierarchy/l2/lookup.py",
        "    if m.cache.ways[way].dirty:\n        write_back(",
        "    if m.cache.ways[way].dirty > 1:\n        write_back(",
        ("tests/hierarchy/l2",),
    ),
    Fault(
        "an activated row answers one cycle too early",
        "memsim/hierarchy/dram/commands.py",
        "activate + p.rcd)",
        "activate + p.rcd - 1)",
        ("tests/hierarchy/dram",),
    ),
    Fault(
        "an L1 hit is a cycle late",
        "memsim/hierarchy/sm/load_store.py",
        "complete(m, sm, i.op, last + m.p[0].l1_latency, m.p[0].l1_latency, k - first)",
        "complete(m, sm, i.op, last + m.p[0].l1_latency + 1, m.p[0].l1_latency, k - first)",
        ("tests/hierarchy/sm",),
    ),
    Fault(
        "a resumed run forgets the trials of its journal",
        "memsim/montecarlo/checkpoint.py",
        "return {**self.saved(point), **{number: self._trial(arrays, point) for number, arrays in rows}}",
        "return {**self.saved(point)}",
        ("tests/montecarlo/test_checkpoint.py",),
    ),
    Fault(
        "the standard deviation divides by n",
        "memsim/analysis/statistics.py",
        "std(ddof=1)",
        "std()",
        ("tests/analysis",),
    ),
    Fault(
        "a copy to the GPU takes no time to begin",
        "memsim/host/system.py",
        "self.env.timeout(start_us + nbytes",
        "self.env.timeout(nbytes",
        ("tests/host",),
    ),
    Fault(
        "a signed shift to the right in PTX stops one bit early",
        "memsim/sources/ptx/machine/integers.py",
        "min(b[i], width - 1)) & mask",
        "min(b[i], width - 2)) & mask",
        ("tests/sources/ptx/test_ptx_threads.py", "tests/sources/ptx/test_ptx_instructions.py"),
    ),
    Fault(
        "findings are listed with the least important first",
        "memsim/why/finding.py",
        "return rank, -round(self.expected_saving, 2),",
        "return rank, round(self.expected_saving, 2),",
        ("tests/why",),
    ),
    Fault(
        "a shift of two registers in machine code stops one bit early",
        "memsim/sources/sass/lowering/integers.py",
        "amount = b.op(Micro.minimum, amount, b.constant(32))",
        "amount = b.op(Micro.minimum, amount, b.constant(31))",
        ("tests/sources/sass/test_instructions.py", "tests/sources/sass/test_random_programs.py"),
    ),
    Fault(
        "a conversion in PTX rounds ties away from zero",
        "memsim/sources/ptx/machine/numbers.py",
        "if rest > 0.5 or rest == 0.5 and low - 2.0 * math.floor(low / 2.0) == 1.0:",
        "if rest >= 0.5:",
        ("tests/sources/ptx/test_ptx_instructions.py",),
    ),
    Fault(
        "an imported bulk copy goes up where its addresses go down",
        "memsim/sources/imported/accelsim/bulk.py",
        "return (address - delta if negative else address + delta), at",
        "return address + delta, at",
        ("tests/sources/imported/test_import_tracez.py",),
    ),
    Fault(
        "an interval of the mean divides by one trial fewer",
        "memsim/analysis/statistics.py",
        "half = t_factor(count, level) * sd / count**0.5",
        "half = t_factor(count, level) * sd / (count - 1) ** 0.5",
        ("tests/analysis",),
    ),
    Fault(
        "the report prints a standard deviation ten times too large",
        "memsim/report/text.py",
        "number(ratio.sd * 100, 3)",
        "number(ratio.sd * 1000, 3)",
        ("tests/report/test_report.py",),
    ),
    Fault(
        "an access that ends beyond an array counts as one within it",
        "memsim/sources/ptx/machine/access.py",
        "inside = high + width <= m.stops[region] and high >= low",
        "inside = high <= m.stops[region] and high >= low",
        ("tests/sources/ptx/test_ptx_text.py",),
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revision", help="plant in this revision of the repository; default: the working tree")
    parser.add_argument("--budget", choices=("quick", "full"), default="quick", help="random cases that the tests draw")
    parser.add_argument("--only", help="faults whose name contains this text")
    given = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        _copy(tree, given.revision)
        for fault in FAULTS:
            if given.only is None or given.only in fault.name:
                missed += not _caught(tree, fault, given.budget)
    sys.exit(missed > 0)


def _copy(tree: Path, revision: str | None) -> None:
    if revision is None:
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".venv", ".git", "out", "__pycache__", ".*_cache"))
        return
    tree.mkdir()
    packed = subprocess.run(["git", "-C", ROOT, "archive", revision], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", tree], input=packed, check=True)


def _caught(tree: Path, fault: Fault, budget: str) -> bool:
    """Whether a test fails with the fault; prints which, and in how many seconds."""
    file = tree / fault.file
    text = file.read_text()
    assert fault.right in text, f"{fault.file} has no line {fault.right!r}"
    file.write_text(text.replace(fault.right, fault.wrong, 1))
    begin = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", *fault.tests]
    environment = os.environ | {"MEMSIM_TESTS": budget, "MEMSIM_MEASURE_ALONE": "1", "PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    file.write_text(text)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    seconds = time.perf_counter() - begin
    print(
        f"{'caught' if failed else 'MISSED'} | {fault.name} | {seconds:.0f} s | {(failed or [''])[0][:110]}", flush=True
    )
    return bool(failed)


if __name__ == "__main__":
    main()
