"""What recording a simulator has in common: each point's requests through its driver, and the file they become."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from tqdm import tqdm

from experiments.dram.memory import Memory
from experiments.dram.traffic import KINDS, LOADS, Traffic, requests


def latencies(command: list[str | Path], traffic: Traffic, places: np.ndarray) -> np.ndarray:
    """Clocks of each read, from its coming to its data.

    Args:
        command: the simulator's driver, which reads one line per request and prints one latency per line.
        places: of the requests, i8[n, numbers], as the driver reads them.
    """
    lines = np.column_stack([traffic.clock, traffic.write, places])
    text = "\n".join(" ".join(map(str, line)) for line in lines.tolist())
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    out = np.array([line for line in done.stdout.split("\n") if line.lstrip("-").isdigit()], np.int64)
    assert len(out) == len(traffic.clock)
    return out[traffic.write == 0]


def record(into: Path, version: str, memories: Mapping[str, Memory], run: Callable[[str, Traffic], np.ndarray]) -> None:
    """Write a simulator's figures of every memory, kind of traffic and load.

    Args:
        into: the file.
        version: of the simulator, its first line.
        run: the latencies of a memory's reads, by the memory's name and its traffic.
    """
    lines = [f"# {version}", "# latencies of reads in memory clocks", "memory,traffic,load,reads,mean,median,p95"]
    points = [(name, kind, load) for name in memories for kind in KINDS for load in LOADS]
    for name, kind, load in tqdm(points, unit=" points"):
        found = run(name, requests(memories[name], kind, load))
        median, high = np.percentile(found, [50, 95])
        lines.append(f'{name},"{kind}",{load},{len(found)},{found.mean():.3f},{median:.0f},{high:.0f}')
    into.write_text("\n".join(lines) + "\n", encoding="utf-8")
