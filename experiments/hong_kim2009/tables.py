"""The study's tables, for its README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.harness.readme import markdown
from experiments.hong_kim2009.measure import Found
from memsim.gpu.presets import load_gpu
from memsim.models.machine import peak_bandwidth


def table_2(printed: Mapping[str, float], ours: Mapping[str, float]) -> str:
    """Row by row."""
    return markdown(["parameter", "printed", "memsim"], [[n, f"{v:g}", f"{ours[n]:g}"] for n, v in printed.items()])


def departures(found: Sequence[Found], printed: Mapping[str, float]) -> str:
    """Between uncoalesced transactions of an SM: table 6, an SM's share of the bandwidth, and simulation."""
    rows = []
    for one in found:
        if one.case.name == "Mb7_UC":
            gpu, kernel = load_gpu(one.gpu), one.said.kernel
            size = 32 * 32 / kernel.uncoal_per_mw  # lanes are 32 bytes apart, and nothing is fetched twice
            share = peak_bandwidth(gpu) * 1000 / gpu.sm.clock_mhz / gpu.sm.count
            rows.append([one.gpu, f"{printed[one.gpu]:g}", f"{size:g}", f"{size / share:.1f}", f"{one.departure:.1f}"])
    return markdown(["GPU", "table 6", "bytes", "bytes / share of the bandwidth", "simulated"], rows)


def cpis(found: Sequence[Found]) -> str:
    """Modelled / simulated cycles per instruction and what decides, a kernel a row."""
    gpus = list(dict.fromkeys(one.gpu for one in found))
    by_name: dict[str, list[Found]] = {}
    for one in found:
        by_name.setdefault(one.case.name, []).append(one)
    rows = []
    for name, ones in by_name.items():
        blocks = " ".join(str(one.said.occupancy.blocks) for one in ones)
        cases = "/".join(dict.fromkeys(str(one.said.prediction.case) for one in ones))
        rows.append([name, cases, blocks, *(f"{one.modelled:.2f} / {one.cpi:.2f} ({one.error:+.0%})" for one in ones)])
    return markdown(["", "decides", "blocks per SM", *gpus], rows, left=3)
