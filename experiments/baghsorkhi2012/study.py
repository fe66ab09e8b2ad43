"""The paper's figures, compared with memsim's."""

from __future__ import annotations

from experiments.baghsorkhi2012 import hits, machine, vectorized
from experiments.harness.study import Outcome, Setting


def run(setting: Setting) -> Outcome:
    """The walks of section 2.1, the eight kernels of section 5 and the matrices of section 6.2."""
    results = hits.of_all_kernels(setting)
    hits.draw(results, setting.figures)
    pairs = vectorized.pairs(setting)
    vectorized.draw(pairs, setting.figures)
    tables = {
        "ratios": hits.ratio_table(results),
        "speedups": vectorized.table(pairs),
        "readings": vectorized.readings(setting, pairs),
        "versions": hits.versions(setting),
        "snapshots": hits.snapshots(setting, results),
        "switches": hits.switches(setting),
    }
    return Outcome([*machine.claims(setting), *hits.claims(results), *vectorized.claims(pairs)], tables)
