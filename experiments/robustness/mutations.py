"""Damaged traces, results, configurations and command lines: how many hang, crash, take memory or mislead.

``python -m experiments.robustness.mutations [COUNT]`` tries so many in all (20,000) and prints the table.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from experiments.robustness.damage import damaged, damaged_arguments, damaged_text, flipped
from experiments.robustness.trying import Outcome, command, tried
from memsim.montecarlo import store
from memsim.support.errors import InputError
from memsim.support.library import folder
from memsim.trace.reader import Trace

_GOOD = (Outcome.done, Outcome.refused)
TRACE, RESULT, GPU = "trace.h5", "result.h5", "gpu.toml"
# Commands that are right, and none that starts other programs.
COMMANDS = (
    ["trace", "saxpy", "-p", "n=4096", "--gpu", "tesla-c2050", "-o", "out.h5", "-q"],
    ["trace", "spmv", "-p", "rows=2048", "-p", "nnz_per_row=4", "--gpu", "tesla-v100", "--blocks", "0:2", "-o", "o.h5"],
    ["info", TRACE],
    ["run", TRACE, "--trials", "2", "--gpu", "tesla-c2050", "--seed", "1", "--set", "l1.ways=2", "-o", "out.h5"],
    ["run", TRACE, "--until", "0.5", "--min-trials", "2", "--max-trials", "3", "--json", "--warm"],
    ["show", RESULT, "--json"],
    ["show", RESULT, "--csv"],
    ["show", RESULT, "--by", "array", "--why"],
    ["plot", RESULT, "-o", "figures"],
    ["estimate", TRACE, "--gpu", "tesla-c2050", "--json"],
    ["gpus", GPU],
    ["gpus", "a100"],
    ["export", "accelsim", TRACE, "-o", "exported", "-q"],
    ["import", "accelsim", "given/kernelslist.g", "-o", "imported", "-q"],
)  # fmt: skip
_OUTPUTS = ("out.h5", "o.h5", "figures", "exported", "imported")


@dataclass
class Tally:
    """What came of many tries of one kind.

    Attributes:
        kind: what was damaged.
        outcomes: how often each.
        examples: what the bad ones said, a few.
    """

    kind: str
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    @property
    def bad(self) -> int:
        """Tries that were neither done nor refused, as they ought to be."""
        return sum(count for outcome, count in self.outcomes.items() if outcome not in _GOOD)

    def count(self, outcome: Outcome, about: str) -> None:
        """Take one try."""
        self.outcomes[outcome] += 1
        if outcome not in _GOOD and len(self.examples) < 5:
            self.examples.append(f"{outcome}: {about}")


@contextmanager
def originals() -> Iterator[Path]:
    """A folder with a whole trace, result and configuration; everything that children need is imported and compiled."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        shutil.copy(folder("configs") / "a100.toml", place / GPU)
        given = (
            ["trace", "spmv", "-p", "rows=128", "-p", "nnz_per_row=4", "--gpu", "tesla-c2050", "-o", TRACE, "-q"],
            ["run", TRACE, "--trials", "2", "-o", RESULT, "-q"],
            ["export", "accelsim", TRACE, "-o", "given", "-q"],
        )
        for arguments in (*given, *COMMANDS):
            _here(place, arguments)
            _clear(place)
        yield place


def _clear(place: Path) -> None:
    """Remove what a command wrote: none writes over a file."""
    for name in _OUTPUTS:
        if (place / name).is_dir():
            shutil.rmtree(place / name)
        (place / name).unlink(missing_ok=True)


def _here(place: Path, arguments: list[str]) -> None:
    """Run a command in this process, silently, so that children find its imports."""
    import contextlib
    import io

    try:
        with contextlib.chdir(place), contextlib.redirect_stdout(io.StringIO()):
            command(arguments)()
    except SystemExit as leaving:
        assert not leaving.code, arguments


def mutated_files(place: Path, kind: str, count: int, rng: np.random.Generator) -> Tally:
    """Damage a file of `kind` (TRACE, RESULT or GPU) `count` times, and have it read by the commands that read it."""
    readers = {
        TRACE: (["info"], ["run", "--trials", "1", "-q"]),
        RESULT: (["show"], ["show", "--json"]),
        GPU: (["gpus"], ["run", TRACE, "--trials", "1", "-q", "--gpu"]),
    }[kind]
    damage = damaged_text if kind == GPU else damaged
    content, victim = (place / kind).read_bytes(), place / f"damaged-{kind}"
    tally = Tally(kind)
    for number in range(count):
        victim.write_bytes(damage(content, rng))
        outcome, said = tried(command([*readers[number % len(readers)], victim.name]), place)
        if outcome is Outcome.refused and said.count("\n") != 1:
            outcome = Outcome.traceback  # bad input is one line
        if outcome is Outcome.done and kind != GPU and victim.read_bytes() != content:
            outcome = Outcome.accepted
        tally.count(outcome, said[-2000:])
    return tally


def mutated_commands(place: Path, count: int, rng: np.random.Generator) -> Tally:
    """Damage the arguments of COMMANDS `count` times in all."""
    tally = Tally("command lines")
    for number in range(count):
        arguments = damaged_arguments(COMMANDS[number % len(COMMANDS)], rng)
        outcome, said = tried(command(arguments), place)
        if "Traceback" in said:
            outcome = Outcome.traceback
        tally.count(outcome, f"{arguments} {said[-2000:]}")
        _clear(place)
    return tally


def flipped_bits(place: Path, kind: str, count: int, rng: np.random.Generator) -> tuple[int, int]:
    """Flip one bit of a TRACE or a RESULT `count` times: (how many load, how many of them with other numbers)."""
    content, victim = (place / kind).read_bytes(), place / f"flipped-{kind}"
    read: Callable[[Path], list[bytes]] = {TRACE: _numbers_of_trace, RESULT: _numbers_of_result}[kind]
    right = read(place / kind)
    load = wrong = 0
    for _ in range(count):
        victim.write_bytes(flipped(content, rng))
        try:
            found = read(victim)
        except InputError:
            continue
        load += 1
        wrong += found != right
    return load, wrong


def _numbers_of_trace(path: Path) -> list[bytes]:
    trace = Trace.open(path)
    tables = [repr((trace.kernel, trace.parameters, trace.launch, trace.ops, trace.arrays, trace.digest)).encode()]
    index = [trace.block_ids, trace.first_warp, trace.first_instruction, trace.first_address]
    chunks = [
        getattr(chunk, name) for chunk in trace.chunks() for name in ("op", "compute_run", "mask", "base", "addresses")
    ]
    return tables + [values.tobytes() for values in (*index, *chunks)]


def _numbers_of_result(path: Path) -> list[bytes]:
    trials = store.load(path)
    return [
        value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
        for value in (getattr(trials, each.name) for each in fields(trials))
    ]


def study(place: Path, count: int, seed: int = 0) -> list[Tally]:
    """Try `count` pieces of damage in all, over the kinds."""
    rng = np.random.default_rng(seed)
    share = count // 4
    files = [mutated_files(place, kind, share, rng) for kind in (TRACE, RESULT, GPU)]
    return [*files, mutated_commands(place, count - 3 * share, rng)]


def table(tallies: list[Tally]) -> str:
    """One line a kind: how many were done, refused, and ended badly."""
    lines = [f"{'damaged':15}{'tries':>7}" + "".join(f"{outcome:>11}" for outcome in Outcome)]
    for tally in tallies:
        counts = "".join(f"{tally.outcomes[outcome]:11}" for outcome in Outcome)
        lines.append(f"{tally.kind:15}{sum(tally.outcomes.values()):7}{counts}")
        lines += [f"  {example}" for example in tally.examples]
    return "\n".join(lines)


def tell(count: int) -> None:
    """Print the table of so many tries, and of a tenth as many flipped bits."""
    with originals() as place:
        print(table(study(place, count)), flush=True)
        for kind in (TRACE, RESULT):
            load, wrong = flipped_bits(place, kind, count // 20, np.random.default_rng(1))
            print(f"{kind}: of {count // 20} with one bit flipped {load} load, {wrong} with other numbers", flush=True)
