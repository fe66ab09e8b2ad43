"""What makes storing by columns slow: the version with buffer +0, each mechanism of the GPU switched off by itself."""

from __future__ import annotations

import memsim
from experiments.cumapz2011.motivating import MAX
from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.study import Setting

GPU = "tesla-c1060"
_DEEP = {"dram.queue": 64, "dram.write_queue": 64, "dram.write_high": 56, "dram.write_low": 32}
SWITCHES: dict[str, dict[str, object]] = {
    "as the preset has it": {},
    "partitions found by all bits of the address": {"dram.channel_hash": "xor_fold"},
    "banks found by all bits": {"dram.bank_hash": "xor_fold"},
    "rows closed after each access": {"dram.row_policy": "closed_page"},
    "requests in order of arrival": {"dram.policy": "fcfs"},
    "queues of 64 requests": _DEEP,
    "a write queue of one": {"dram.write_queue": 1, "dram.write_high": 1, "dram.write_low": 0},
}


def table(setting: Setting) -> str:
    """Times by rows and by columns, and their ratio, with each of SWITCHES; quick: the first two."""
    names = list(SWITCHES)[: 2 if setting.quick else None]
    asked = [(name, stored, setting.quick) for name in names for stored in ("rows", "columns")]
    times = mapped(_milliseconds, asked, setting.jobs, "camping")
    pairs = zip(names, times[::2], times[1::2], strict=True)
    cells = [[name, f"{rows:.1f}", f"{columns:.0f}", f"{columns / rows:.1f}"] for name, rows, columns in pairs]
    return markdown(["GPU", "by rows, ms", "by columns, ms", "ratio"], cells)


def _milliseconds(asked: tuple[str, str, bool]) -> float:
    name, stored, quick = asked
    trace = memsim.trace(
        "neighbours", gpu=GPU, blocks="0.25x" if quick else "4x", n=MAX, fetched="0", layout="rows", stored=stored
    )
    return memsim.simulate(trace, GPU, trials=1, settings=SWITCHES[name]).kernel_time.mean
