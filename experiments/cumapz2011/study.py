"""CuMAPz's motivating example by its model and by simulation, compared with the times of a Tesla C1060."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import memsim
from experiments.cumapz2011 import camping, choices, motivating, readings, simulated, sizes, steps
from experiments.cumapz2011.figure import draw
from experiments.cumapz2011.readings import correlation
from experiments.harness.readme import markdown
from experiments.harness.study import AtLeast, Claim, Outcome, Points, Setting, Within, WithinLog
from memsim.analysis.result import RunResult
from memsim.models.cumapz import CumapzProgram, Factors, estimate

GPU = "tesla-c1060"
PAPER = "Kim and Shrivastava 2011"


@dataclass(frozen=True)
class Version:
    """One row of tables I to III.

    Attributes:
        table: where it is printed.
        fetched: what fills the buffer, or None.
        shared, stored: how the buffer is accessed, and the result stored.
        measured: ms, on a Tesla C1060.
        reused: accesses that the buffer serves, where the paper prints it.
    """

    table: str
    fetched: int | None
    shared: str
    stored: str
    measured: float
    reused: int | None = None

    @property
    def name(self) -> str:
        buffer = "no buffer" if self.fetched is None else f"+{self.fetched}, {self.shared}"
        return f"{buffer}; stored by {self.stored}"


VERSIONS = (
    Version("I", None, "rows", "rows", 78.15),
    Version("I", 0, "columns", "rows", 61.11, 754_925_568),
    Version("I", 1, "columns", "rows", 64.86, 771_670_016),
    Version("I", 2, "columns", "rows", 63.77, 754_876_416),
    Version("II", 0, "rows", "rows", 45.06),
    Version("II", 1, "rows", "rows", 54.75),
    Version("II", 2, "rows", "rows", 55.25),
    Version("II", 0, "padded", "rows", 44.98),
    Version("II", 1, "padded", "rows", 53.69),
    Version("II", 2, "padded", "rows", 54.39),
    Version("III", None, "rows", "columns", 3938.08),
    Version("III", 0, "rows", "columns", 3933.88),
    Version("III", 1, "rows", "columns", 3936.23),
    Version("III", 2, "rows", "columns", 3937.56),
)
BUFFERED = [version for version in VERSIONS if version.fetched is not None]
# The versions that each printed table compares: II repeats the columns of I, III the rows of II.
TABLES = {
    "I": [version for version in BUFFERED if version.table == "I"],
    "II": [version for version in BUFFERED if version.table in ("I", "II")],
    "III": [version for version in BUFFERED if version.table == "III" or version.shared == "rows"],
}


def run(setting: Setting) -> Outcome:
    """Tables I to III; the launch is the paper's also in a quick run, which replays fewer blocks of it."""
    gpu = memsim.load_gpu(GPU)
    models = {version: estimate(_program(version), gpu) for version in VERSIONS}
    results = {version: _simulated(version, setting) for version in VERSIONS}
    times = {version: result.kernel_time.mean for version, result in results.items()}
    draw(
        ((_kind(one), one.measured, models[one].mpe, times[one]) for one in VERSIONS),
        setting.figures / "motivating.png",
    )
    programs = steps.factors(gpu)
    directions = Claim("steps of section 6.1 at which the named factor moves in the stated direction", len(steps.STEPS),
                 steps.agreeing(programs), source=f"{PAPER}, section 6.1", aim=Points(0))  # fmt: skip
    version_times = simulated.times(setting)
    found = simulated.coefficients(programs, version_times)
    chosen = choices.choices(programs, version_times)
    claims = [*_reuse(models), directions, *_correlations(models), *simulated.claims(found), *choices.claims(chosen),
              *sizes.claims(sizes.coefficients(setting, version_times)), *_times(results),
              *_ratios(times)]  # fmt: skip
    tables = {
        "versions": _table(models, times),
        "readings": _readings(models),
        "camping": camping.table(setting),
        "steps": steps.table(programs),
        "programs": simulated.table(programs, version_times, found),
        "choices": choices.table(chosen),
    }
    return Outcome(claims, tables)


def _program(version: Version) -> CumapzProgram:
    return motivating.program(version.fetched, shared=version.shared, stored=version.stored)


def _simulated(version: Version, setting: Setting) -> RunResult:
    trace = memsim.trace(
        "neighbours",
        gpu=GPU,
        blocks="0.5x" if setting.quick else "16x",
        n=motivating.MAX,
        fetched="none" if version.fetched is None else str(version.fetched),
        layout=version.shared,
        stored=version.stored,
    )
    return memsim.simulate(trace, GPU, trials=2 if setting.quick else 8, jobs=setting.jobs)


def _reuse(models: dict[Version, Factors]) -> Iterator[Claim]:
    for version in VERSIONS:
        if version.reused is not None:
            yield Claim(
                f"accesses that the buffer of +{version.fetched} serves", version.reused,
                models[version].counted.reused, source=f"{PAPER}, table I", aim=Points(0),
            )  # fmt: skip


def _readings(models: dict[Version, Factors]) -> str:
    def measured(versions: list[Version]) -> list[tuple[Factors, float]]:
        return [(models[one], one.measured) for one in versions]

    groups = {f"table {name}": measured(versions) for name, versions in TABLES.items()}
    return readings.table(groups, measured(BUFFERED), motivating.MAX**2 // 16)


def _correlations(models: dict[Version, Factors]) -> Iterator[Claim]:
    found = []
    for table, versions in TABLES.items():
        found.append(correlation([models[one].mpe for one in versions], [one.measured for one in versions]))
        yield Claim(f"correlation of MPE with performance, table {table}, with a buffer", np.nan, found[-1],
                    source=PAPER, aim=AtLeast(0.9))  # fmt: skip
    yield Claim("correlation of MPE with performance, mean of the three tables", 0.96, float(np.mean(found)),
                source=f"{PAPER}, section 6: its mean over programs", aim=AtLeast(0.96))  # fmt: skip
    for name, chosen in (("with a buffer", BUFFERED), ("and without", list(VERSIONS))):
        pooled = correlation([models[one].mpe for one in chosen], [one.measured for one in chosen])
        yield Claim(f"correlation over all three tables at once, {name}", np.nan, pooled, source=PAPER,
                    aim=AtLeast(0.96))  # fmt: skip


def _times(results: dict[Version, RunResult]) -> Iterator[Claim]:
    for version, result in results.items():
        interval = result.kernel_time.interval()
        yield Claim(
            version.name, version.measured, result.kernel_time.mean,
            None if interval is None else (interval.low, interval.high), "ms", f"{PAPER}, table {version.table}",
            aim=Within(0.25),
        )  # fmt: skip


def _ratios(times: dict[Version, float]) -> Iterator[Claim]:
    by_name = {version.name: version for version in VERSIONS}
    for what, slow, fast in (
        ("storing by columns over by rows", "+0, rows; stored by columns", "+0, rows; stored by rows"),
        ("no buffer over the best", "no buffer; stored by rows", "+0, rows; stored by rows"),
        ("bank conflicts over none", "+0, columns; stored by rows", "+0, rows; stored by rows"),
        ("an unaligned fetch over an aligned one", "+1, rows; stored by rows", "+0, rows; stored by rows"),
    ):
        a, b = by_name[slow], by_name[fast]
        yield Claim(f"{what}, simulated", a.measured / b.measured, times[a] / times[b], unit="x",
                    source=f"{PAPER}, tables I to III", aim=WithinLog(0.25))  # fmt: skip


def _table(models: dict[Version, Factors], times: dict[Version, float]) -> str:
    names = ("data_reuse", "lat_hiding", "bw_util", "ch_skew", "branch_eff", "shm_eff", "mpe")
    rows = [
        [version.table, version.name, f"{version.measured:.2f}", f"{times[version]:.1f}",
         *(f"{getattr(models[version], name):.3g}" for name in names)]
        for version in VERSIONS
    ]  # fmt: skip
    return markdown(["table", "version", "measured ms", "simulated ms", *names], rows, left=2)


def _kind(version: Version) -> str:
    """What tells most of a version's time."""
    if version.stored == "columns":
        return "stored by columns"
    if version.fetched is None:
        return "no buffer"
    return "buffer with bank conflicts" if version.shared == "columns" else "buffer without"
