"""Record Ramulator 2's latencies: ``python -m experiments.dram.ramulator2.record RAMULATOR2``, a built checkout.

It compiles driver.cc against it, sends the study's requests through it and writes recorded.csv.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import numpy as np

from experiments.dram.ramulator2.memories import MEMORIES, VERSION, PresetMemory
from experiments.dram.recording import latencies, record
from experiments.dram.traffic import Traffic

HERE = Path(__file__).parent


def configuration(memory: PresetMemory) -> str:
    """The memory as a script for Ramulator 2's `export`: first ready first, open rows, all banks refreshed at once."""
    changes = "".join(f", {name}={value}" for name, value in memory.changes.items())
    return dedent(f"""
        import ramulator as r
        dram = r.dram.{memory.standard}(
            org_preset="{memory.organisation}", timing_preset="{memory.speed}"{changes}
        )
        controller = r.controller.{memory.controller_class}(
            dram=dram, scheduler=r.scheduler.FRFCFSRowHit(), refresh_manager=r.refresh_manager.AllBank(),
            row_policy=r.row_policy.Open(), addr_mapper=r.addr_mapper.PassThroughAddrMapper(),
        )
        system = r.memory_system.GenericDRAM(
            clock_ratio=1, controllers=[controller], channel_mapper=r.channel_mapper.PassThroughChannelMapper()
        )
        r.Simulation(r.frontend.External(clock_ratio=1), system)
    """)


def main() -> None:
    """Compile the driver, run it for every point, write the file."""
    library = Path(sys.argv[1]).resolve()
    with TemporaryDirectory() as folder:
        driver, script = Path(folder, "driver"), Path(folder, "memory.py")
        subprocess.run(
            ["g++", "-O2", "-std=c++20", "-I", library / "src", "-I", library / "ext" / "yaml-cpp" / "include",
             "-I", library / "ext" / "fmt" / "include", HERE / "driver.cc", "-o", driver, "-L", library, "-lramulator",
             f"-Wl,-rpath,{library}"], check=True,
        )  # fmt: skip
        for name, memory in MEMORIES.items():
            script.write_text(configuration(memory))
            subprocess.run(
                [sys.executable, "-m", "ramulator", "export", script, "-o", Path(folder, f"{name}.yaml")],
                check=True, env={"PYTHONPATH": str(library / "python")},
            )  # fmt: skip

        def run(name: str, traffic: Traffic) -> np.ndarray:
            places = MEMORIES[name].places(traffic.bank, traffic.row, traffic.column)
            return latencies([driver, Path(folder, f"{name}.yaml"), str(places.shape[1])], traffic, places)

        record(HERE / "recorded.csv", VERSION, MEMORIES, run)


if __name__ == "__main__":
    main()
