"""What is measured: table 4's micro-benchmarks and table 5's applications, with the instructions printed there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from experiments.hong_kim2009.kernels import APART
from experiments.hong_kim2009.measure import Case

GPUS = ("geforce-8800gtx", "quadro-fx5600", "geforce-8800gt", "geforce-gtx280")
BLOCK = 256  # threads of a block; the paper varies them and prints none
COMPUTATION = (23, 17, 29, 27, 35, 47, 59)  # table 4: instructions of a loop that are no accesses
FLOATING = (20, 8, 20, 12, 20, 20, 20)  # those of them that are arithmetic
# The row of memory instructions is illegible in the copy at hand. What is no arithmetic is 3 and a multiple of 6.
LOADS = tuple((all_ - fp - 3) // 6 for all_, fp in zip(COMPUTATION, FLOATING, strict=True))


@dataclass(frozen=True)
class Needs:
    """Table 5: registers of a thread, shared bytes of a block."""

    registers: int
    shared: int


TABLE_5: Mapping[str, Needs] = {
    "Sepia": Needs(7, 52),
    "Linear": Needs(15, 60),
    "SVM": Needs(9, 44),
    "Mat. (naive)": Needs(10, 88),
    "Mat. (tiled)": Needs(18, 3960),
    "Blackscholes": Needs(11, 36),
}
ARGUMENTS = 88  # of Mat. (tiled)'s shared bytes; the rest is two tiles, here of a side that divides 2000
SVM_STEPS = (8, 24)


def micro(quick: bool) -> Iterator[Case]:
    """Table 4, coalesced (C) and not (UC)."""
    for number, (loads, instructions) in enumerate(zip(LOADS, COMPUTATION, strict=True), 1):
        for pattern, apart in (("C", 1), ("UC", APART)):
            if not quick or number in (2, 7):
                parameters = dict(loads=loads, instructions=instructions, apart=apart)
                yield Case(f"Mb{number}_{pattern}", "micro", BLOCK, 10, 0, parameters, (2, 6) if quick else (4, 12))


def applications(quick: bool) -> Iterator[Case]:
    """Table 5. ``extra`` makes up for what a compiled thread executes in addition to what the description counts."""
    yield _application("Sepia", "sepia", dict(extra=52, pixels=1 << 20))
    yield _application("Linear", "linear_filter", dict(extra=11, width=10000, height=40))
    yield svm("optimized", "SVM", n=30720, features=SVM_STEPS[1])
    if quick:
        return
    yield _application("Mat. (naive)", "naive_product", {}, steps=(4, 12))
    for side in (8, 16):
        own = TABLE_5["Mat. (tiled)"].registers
        shared = ARGUMENTS + 2 * 4 * side * side
        yield Case(f"Mat. (tiled), {side}", "tiled_product", side * side, own, shared, dict(side=side), (4, 12))
    yield _application("Blackscholes", "options", dict(extra=128, n=1 << 20))


def svm(variant: str, name: str, n: int = 12288, features: int = 818) -> Case:
    """One version of section 2.4's kernel: 13 instructions a feature, of 10871 for 819.

    ``n``: samples, enough for all threads that a GPU holds.
    """
    needs = TABLE_5["SVM"]
    parameters = dict(variant=variant, extra=8, n=n, features=features)
    return Case(name, "svm", BLOCK, needs.registers, needs.shared, parameters, SVM_STEPS)


def _application(name: str, workload: str, parameters: Mapping, steps: tuple[int, int] | None = None) -> Case:
    needs = TABLE_5[name]
    return Case(name, workload, BLOCK, needs.registers, needs.shared, parameters, steps)
