"""Our channel on the same requests as DRAMsim3 and Ramulator 2, at every load."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.dram import dramsim3, ramulator2
from experiments.dram.memory import Memory
from experiments.dram.traffic import KINDS, LOADS, Traffic, requests
from experiments.harness.readme import markdown
from experiments.harness.study import Claim, Outcome, Setting, Within
from memsim.gpu.choices import WriteTurns
from memsim.hierarchy.codes import FETCH, WRITE_BACK
from memsim.hierarchy.draws import draws
from memsim.hierarchy.machine import Machine, build
from memsim.hierarchy.main_memory import ISOLATED_REQUEST, IsolatedDram
from memsim.montecarlo.load_loops import one_load
from memsim.report.figure_style import BLUE, ORANGE, panels, styled, write

MIXED = ("random, a quarter writes", 0.7)  # the traffic and load at which ways to take turns are compared
UP_TO = 0.8  # of the peak: where latencies are compared
SIMULATORS = {"DRAMsim3": dramsim3, "Ramulator 2": ramulator2}
MEMORIES: dict[str, Memory] = {name: memory for room in SIMULATORS.values() for name, memory in room.MEMORIES.items()}
SIMULATOR = {name: simulator for simulator, room in SIMULATORS.items() for name in room.MEMORIES}
Point = tuple[str, str, float]  # memory, kind of traffic, load


def run(setting: Setting) -> Outcome:
    """Latencies of every memory, kind of traffic and load."""
    published = recorded()
    loads = (0.3, UP_TO) if setting.quick else LOADS
    ours = {}
    for name, memory in MEMORIES.items():
        machine = idle_machine(memory)
        for kind in KINDS:
            ours.update({(name, kind, load): latency(machine, memory, kind, load) for load in loads})
    draw(published, ours, loads, setting.figures)
    tables = {simulator.replace(" ", ""): table(published, ours, loads, simulator) for simulator in SIMULATORS}
    tables["turns"] = turns(published)
    return Outcome([claim(published, ours, name, kind) for name in MEMORIES for kind in KINDS], tables)


def recorded() -> dict[Point, float]:
    """Mean latency of reads in the simulators, memory clocks."""
    found = {}
    for room in SIMULATORS.values():
        text = Path(room.__path__[0], "recorded.csv").read_text(encoding="utf-8")
        for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
            found[row["memory"], row["traffic"], float(row["load"])] = float(row["mean"])
    return found


def idle_machine(memory: Memory) -> Machine:
    """A machine with this memory and nothing to do."""
    gpu = memory.gpu()
    return build(one_load(), gpu, draws(one_load(), gpu, 1, np.random.SeedSequence(0)), 1)


def latency(machine: Machine, memory: Memory, kind: str, load: float) -> float:
    """Mean latency of reads in our channel, memory clocks."""
    traffic = requests(memory, kind, load)
    found = IsolatedDram(machine, memory.gpu()).answer_times(alone(traffic))
    return float(found[traffic.write == 0].mean())


def alone(traffic: Traffic) -> np.ndarray:
    """The requests as the channel takes them."""
    out = np.zeros(len(traffic.clock), ISOLATED_REQUEST)
    out["time"], out["bank"], out["row"], out["mask"] = traffic.clock, traffic.bank, traffic.row, 1
    out["kind"] = np.where(traffic.write, WRITE_BACK, FETCH)
    return out


def claim(published: dict[Point, float], ours: dict[Point, float], name: str, kind: str) -> Claim:
    """The load, of those to be compared, at which the two differ most."""
    points = [point for point in ours if point[:2] == (name, kind) and point[2] <= UP_TO]
    worst = max(points, key=lambda point: abs(ours[point] / published[point] - 1))
    what = f"{MEMORIES[name].label}, {kind}"
    text = f"{what}: latency at {100 * worst[2]:.0f} % of peak, the worst up to {100 * UP_TO:.0f} %"
    aim = Within(0.2 if "writes" in kind else 0.1)
    return Claim(text, published[worst], ours[worst], unit="clocks", source=SIMULATOR[name], aim=aim)


def table(published: dict[Point, float], ours: dict[Point, float], loads: tuple[float, ...], simulator: str) -> str:
    """Ours / the simulator's in clocks, a row a traffic, a column a load."""
    rows = []
    for name, memory in SIMULATORS[simulator].MEMORIES.items():
        for kind in KINDS:
            cells = [f"{ours[name, kind, load]:.0f} / {published[name, kind, load]:.0f}" for load in loads]
            rows.append([memory.label, kind, *cells])
    return markdown(["memory", "traffic", *(f"{100 * load:.0f} %" for load in loads)], rows, left=2)


def turns(published: dict[Point, float]) -> str:
    """Ours over the simulator's for each way in which writes take turns with reads, a column a memory."""
    kind, load = MIXED
    rows = []
    for way in WriteTurns:
        cells = []
        for name, memory in MEMORIES.items():
            other = replace(memory, controller={**memory.controller, "write_turns": way.value})
            error = latency(idle_machine(other), other, kind, load) / published[name, kind, load] - 1
            cells.append(f"{100 * error:+.0f} %")
        rows.append([f"`{way}`", *cells])
    return markdown(["write_turns", *(memory.label for memory in MEMORIES.values())], rows)


def draw(published: dict[Point, float], ours: dict[Point, float], loads: tuple[float, ...], folder: Path) -> None:
    """Latency against load, a panel a memory and kind."""
    with styled():
        figure, axes = panels(len(MEMORIES), len(KINDS), 15, 12, sharex=True)
        for axis, (name, kind) in zip(axes, ((n, k) for n in MEMORIES for k in KINDS), strict=True):
            percent = [100 * load for load in loads]
            theirs = [published[name, kind, load] for load in loads]
            axis.plot(percent, theirs, "o", color=ORANGE, ms=4, label="simulator")
            axis.plot(percent, [ours[name, kind, load] for load in loads], color=BLUE, label="memsim")
            axis.set_title(f"{MEMORIES[name].label}\n{kind}", fontsize=8)
            axis.set_ylim(0, 1.2 * max(theirs))
        for axis in axes[:: len(KINDS)]:
            axis.set_ylabel("clocks")
        for axis in axes[-len(KINDS) :]:
            axis.set_xlabel("% of peak")
        axes[0].legend()
        write(figure, folder / "latency.png")
