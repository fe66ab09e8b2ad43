"""Table 2 digit by digit; tables 4 and 5 by the model and by simulation, on the paper's four GPUs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from experiments.harness.study import AtMost, Claim, Outcome, Points, Setting, Within, WithinLog
from experiments.hong_kim2009 import figure, tables
from experiments.hong_kim2009.cases import ARGUMENTS, GPUS, TABLE_5, applications, micro, svm
from experiments.hong_kim2009.measure import Found, measure
from experiments.hong_kim2009.table_2 import PRINTED, as_printed, estimated
from memsim.gpu.occupancy import occupancy
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError

PAPER = "Hong and Kim, ISCA 2009"
FITTED_ON = "quadro-fx5600"
DEPARTURE = {name: 40 if name == "geforce-gtx280" else 10 for name in GPUS}  # table 6, uncoalesced
BLOCKS = (64, 128, 256, 512)  # threads of a block, for occupancy
SVM_SPEEDUPS = {"constant": 1.79, "optimized": 24.36}  # section 2.4, over naive
LEAST = 0.001  # errors below it count as this, for a geometric mean


def run(setting: Setting) -> Outcome:
    """A quick run has two GPUs and fewer kernels."""
    gpus = ("quadro-fx5600", "geforce-gtx280") if setting.quick else GPUS
    trials = 1 if setting.quick else 2
    loops, programs = list(micro(setting.quick)), list(applications(setting.quick))
    found = measure([*loops, *programs], gpus, trials, setting.jobs)
    small = [one for one in found if one.case in loops]
    large = [one for one in found if one.case in programs]
    versions = {name: svm(name, name) for name in ("naive", *SVM_SPEEDUPS)}
    compared = measure(list(versions.values()), [FITTED_ON], trials, setting.jobs)
    example = as_printed(estimated())
    figure.draw(small, large, setting.figures / "cpi.png")
    claims = [
        *_table_2(example), *_departures(small), *_errors(small, large), *_orders(large), *_occupancies(),
        *_speedups(compared),
    ]  # fmt: skip
    return Outcome(claims, {
        "table_2": tables.table_2(PRINTED, example), "departures": tables.departures(small, DEPARTURE),
        "micro": tables.cpis(small), "applications": tables.cpis(large),
    })  # fmt: skip


def _table_2(example: dict[str, float]) -> Iterator[Claim]:
    same = sum(example[name] == printed for name, printed in PRINTED.items())
    yield Claim("rows of table 2 that are equal", len(PRINTED), same, source=f"{PAPER}, table 2", aim=Points(0))
    shown = ("Mem_L", "Departure_delay", "MWP", "MWP_peak_BW", "CWP", "Exec_cycles_app", "Synch_cost", "Final time")
    for name in shown:
        yield Claim(f"table 2: {name}", PRINTED[name], example[name], source=f"{PAPER}, table 2", aim=Points(0))


def _departures(small: Sequence[Found]) -> Iterator[Claim]:
    """Nothing in the presets is fitted to the delays between uncoalesced transactions."""
    for one in small:
        if one.case.name == "Mb7_UC":
            yield Claim(
                f"Departure_del_uncoal, simulated, {one.gpu}", DEPARTURE[one.gpu], one.departure, unit="cycles",
                source=f"{PAPER}, table 6", aim=Within(0.2),
            )  # fmt: skip


def geometric_mean(errors: Sequence[float]) -> float:
    """Of absolute relative errors, per cent.

    >>> round(geometric_mean([0.01, -0.04]), 6)
    2.0
    """
    return 100 * math.exp(float(np.mean([math.log(max(abs(error), LEAST)) for error in errors])))


def _errors(small: Sequence[Found], large: Sequence[Found]) -> Iterator[Claim]:
    """The paper's errors are to measured times, ours to simulated ones."""
    for what, found, published, place in (
        ("micro-benchmarks", small, 5.4, "section 5.1"), ("applications", large, 13.3, "section 5.2")
    ):  # fmt: skip
        yield Claim(f"geometric mean of the model's error, {what}", published,
                    geometric_mean([one.error for one in found]), unit="%", source=f"{PAPER}, {place}",
                    aim=AtMost(published))  # fmt: skip
    by_gpu = {gpu: [one.error for one in large if one.gpu == gpu] for gpu in {one.gpu for one in large}}
    means = {gpu: geometric_mean(errors) for gpu, errors in by_gpu.items()}
    worse = sum(mean > means[FITTED_ON] for mean in means.values())
    yield Claim(f"GPUs on which applications err more than on {FITTED_ON}", len(means) - 1, worse,
                source=f"{PAPER}, section 5.2", aim=Points(0))  # fmt: skip


def _orders(large: Sequence[Found]) -> Iterator[Claim]:
    """What section 5.2 says of figure 17: who has the least and the most cycles per instruction.

    As there, an application's CPI is the mean over its versions: the tiled product's tiles.
    """
    versions: dict[tuple[str, str], list[float]] = {}
    for one in large:
        versions.setdefault((one.case.name.split(",")[0], one.gpu), []).append(one.cpi)
    cpi = {key: float(np.mean(values)) for key, values in versions.items()}
    names, gpus = {name for name, _ in cpi}, {gpu for _, gpu in cpi}
    least = sum(min(names, key=lambda name: cpi[name, gpu]) == "SVM" for gpu in gpus)
    yield Claim("GPUs on which SVM has the lowest simulated CPI", len(gpus), least, source=f"{PAPER}, section 5.2",
                aim=Points(0))  # fmt: skip
    for what, gpu, pick in (("highest", "geforce-8800gt", max), ("lowest", "geforce-gtx280", min)):
        if gpu in gpus:
            extreme = sum(
                math.isclose(cpi[name, gpu], pick(cpi[name, other] for other in gpus), rel_tol=0.01) for name in names
            )
            yield Claim(f"applications with their {what} simulated CPI on {gpu}", len(names), extreme,
                        source=f"{PAPER}, section 5.2", aim=Points(0))  # fmt: skip


def _occupancies() -> Iterator[Claim]:
    means = {name: float(np.mean([*_fractions(name)])) for name in TABLE_5}
    lowest = sorted(means, key=lambda name: means[name])[:2]
    said = {"Mat. (tiled)", "Linear"}
    source = f"{PAPER}, section 5.2"
    yield Claim("Mat. (tiled) and Linear among the two lowest occupancies", 2, len(said & set(lowest)), source=source,
                aim=Points(0))  # fmt: skip
    side = sum((mean > 0.7) == (name not in said) for name, mean in means.items())
    yield Claim("applications on the side of 70 % occupancy where the paper has them", len(means), side, source=source,
                aim=Points(0))  # fmt: skip


def _fractions(name: str) -> Iterator[float]:
    """Occupancy of an application on every GPU, with every block that fits; the tiled product's tiles grow with it."""
    needs = TABLE_5[name]
    for gpu in GPUS:
        for threads in BLOCKS:
            shared = ARGUMENTS + 8 * threads if name == "Mat. (tiled)" else needs.shared
            with suppress(InputError):  # more registers than an SM has
                yield occupancy(load_gpu(gpu), threads, needs.registers, shared).fraction


def _speedups(compared: Sequence[Found]) -> Iterator[Claim]:
    by_name = {one.case.name: one for one in compared}
    for version, published in SVM_SPEEDUPS.items():
        yield Claim(
            f"SVM, {version} over naive, simulated, {FITTED_ON}", published,
            by_name["naive"].cycles / by_name[version].cycles, unit="x", source=f"{PAPER}, section 2.4",
            aim=WithinLog(0.25),
        )  # fmt: skip
