"""What the model's DRAM can do and no preset has on, by data sheets and other simulators: what each does to streams."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.dram.ramulator2.memories import GDDR6, HBM2, MEMORIES
from experiments.harness.readme import markdown

Settings = Mapping[str, object]
PARTS = {"tesla-v100": ("hbm2-2000", HBM2), "a40": ("gddr6-14000", GDDR6)}
_ACCEL_SIM = {"dram.write_queue": 64, "dram.write_high": 56, "dram.write_low": 32}  # its configurations


def switched(gpu: str, clock_mhz: float) -> dict[str, Settings]:
    """What is set on a board, by name, the preset's own first; refresh and bank groups are those of Ramulator 2's part.

    >>> switched("tesla-v100", 877)["refresh"]
    {'dram.timing.refi': 3420, 'dram.timing.rfc': 227}
    """
    memory, part = PARTS[gpu]
    ratio = clock_mhz / MEMORIES[memory].clock_mhz
    groups: Settings = {"dram.bank_groups": 4, "dram.timing.ccd_l": part["ccd_l"], "dram.timing.wtr_l": part["wtr_l"]}
    joined: Settings = {"dram.write_turns": "with_reads"}
    return {
        "preset": {},
        "refresh": {f"dram.timing.{name}": round(part[name] * ratio) for name in ("refi", "rfc")},
        "bank groups": groups,
        "finish_opened": {"dram.write_turns": "finish_opened"},
        "with_reads": joined,
        "both": {**groups, **joined},
        "with_reads, Accel-Sim's queue": {**_ACCEL_SIM, **joined},
    }


def table(rows: list[tuple[str, str, float, Mapping[str, float]]]) -> str:
    """GB/s: a row a board and loop, with what was measured and what each setting gives."""
    headers = ["board", "loop", "measured", *rows[0][-1]]
    return markdown(
        headers,
        [[gpu, kernel, f"{was:.0f}", *(f"{ours:.0f}" for ours in found.values())] for gpu, kernel, was, found in rows],
        left=2,
    )
