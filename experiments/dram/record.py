"""Record DRAMsim3's latencies: ``python -m experiments.dram.record DRAMSIM3``, the folder of a built checkout.

It compiles driver.cc against it, sends the study's requests through it and writes recorded.csv.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tqdm import tqdm

from experiments.dram.memories import COMMON, MEMORIES, VERSION, Memory
from experiments.dram.traffic import KINDS, LOADS, Traffic, requests

HERE = Path(__file__).parent


def configuration(text: str, memory: Memory) -> str:
    """The memory's ini file with the study's changes."""
    for key, value in {**COMMON, **memory.changes}.items():
        text, found = re.subn(rf"(?m)^{key} *=.*$", f"{key} = {value}", text)
        assert found == 1, f"{memory.ini} has no {key}"
    return text


def latencies(driver: Path, ini: Path, memory: Memory, traffic: Traffic) -> np.ndarray:
    """Clocks of each read, from its coming to its data."""
    address = memory.address(traffic.bank, traffic.row, traffic.column)
    rows = zip(traffic.clock.tolist(), traffic.write.tolist(), address.tolist(), strict=True)
    text = "".join(f"{clock} {write} {at}\n" for clock, write, at in rows)
    done = subprocess.run([driver, ini], input=text, capture_output=True, text=True, check=True)
    out = np.array([line for line in done.stdout.split("\n") if re.fullmatch(r"-?\d+", line)], np.int64)
    assert len(out) == len(traffic.clock)
    return out[traffic.write == 0]


def main() -> None:
    """Compile the driver, run it for every point, write the file."""
    library = Path(sys.argv[1]).resolve()
    lines = [f"# {VERSION}", "# latencies of reads in memory clocks; made by python -m experiments.dram.record"]
    lines.append("memory,traffic,load,reads,mean,median,p95")
    with TemporaryDirectory() as folder:
        driver = Path(folder, "driver")
        subprocess.run(
            ["g++", "-O2", "-std=c++17", "-I", library / "src", HERE / "driver.cc", "-o", driver, "-L", library,
             "-ldramsim3", f"-Wl,-rpath,{library}"], check=True,
        )  # fmt: skip
        points = [(name, kind, load) for name in MEMORIES for kind in KINDS for load in LOADS]
        for name, kind, load in tqdm(points, unit=" points"):
            memory = MEMORIES[name]
            ini = Path(folder, f"{name}.ini")
            ini.write_text(configuration((library / "configs" / memory.ini).read_text(), memory))
            found = latencies(driver, ini, memory, requests(memory, kind, load))
            median, high = np.percentile(found, [50, 95])
            lines.append(f'{name},"{kind}",{load},{len(found)},{found.mean():.3f},{median:.0f},{high:.0f}')
    (HERE / "recorded.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
