"""Record DRAMsim3's latencies: ``python -m experiments.dram.dramsim3.record DRAMSIM3``, the folder of a built checkout.

It compiles driver.cc against it, sends the study's requests through it and writes recorded.csv.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from experiments.dram.dramsim3.memories import COMMON, MEMORIES, VERSION, IniMemory
from experiments.dram.recording import latencies, record
from experiments.dram.traffic import Traffic

HERE = Path(__file__).parent


def configuration(text: str, memory: IniMemory) -> str:
    """The memory's ini file with the study's changes."""
    for key, value in {**COMMON, **memory.changes}.items():
        text, found = re.subn(rf"(?m)^{key} *=.*$", f"{key} = {value}", text)
        assert found == 1, f"{memory.ini} has no {key}"
    return text


def main() -> None:
    """Compile the driver, run it for every point, write the file."""
    library = Path(sys.argv[1]).resolve()
    with TemporaryDirectory() as folder:
        driver = Path(folder, "driver")
        subprocess.run(
            ["g++", "-O2", "-std=c++17", "-I", library / "src", HERE / "driver.cc", "-o", driver, "-L", library,
             "-ldramsim3", f"-Wl,-rpath,{library}"], check=True,
        )  # fmt: skip
        for name, memory in MEMORIES.items():
            text = configuration((library / "configs" / memory.ini).read_text(), memory)
            Path(folder, f"{name}.ini").write_text(text)

        def run(name: str, traffic: Traffic) -> np.ndarray:
            address = MEMORIES[name].address(traffic.bank, traffic.row, traffic.column)
            return latencies([driver, Path(folder, f"{name}.ini")], traffic, address[:, np.newaxis])

        record(HERE / "recorded.csv", VERSION, MEMORIES, run)


if __name__ == "__main__":
    main()
