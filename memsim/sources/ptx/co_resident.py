"""Lets the blocks after one that waits run next to it, as blocks on a GPU do.

Blocks run one after another, which is right as long as none waits for a later one. Where one does, it and the blocks
after it become a team: their warps take turns, and the block that waits keeps its registers and memory.
"""

from __future__ import annotations

import numpy as np

from memsim.sources.ptx.device import KernelMachine
from memsim.sources.ptx.machine import tables
from memsim.sources.ptx.machine.codes import (
    ALL_LANES,
    BLOCK,
    LANES,
    N_GROUPS,
    NUMBER,
    REPEATS,
    STATUS,
    WARP_FIELDS,
    Stop,
    WarpStatus,
)
from memsim.sources.ptx.machine.tables import MachineArrays
from memsim.sources.rows import START

MOST_BYTES = 1 << 30  # of registers, local and shared memory of blocks that run together
MOST_BLOCKS = 1 << 12
_PER_WARP = ("registers", "predicates", "pcs", "masks", "records", "pending", "committed")


def may_wait_for_blocks(device: KernelMachine, stop: Stop) -> bool:
    """Whether a stop may be a block that waits for later blocks."""
    m = device.machine
    if device.team != 1 or device.launch.n_blocks == 1:
        return False
    waits = bool((m.records[:, STATUS] == WarpStatus.yielded).any())
    return stop == Stop.spinning or stop == Stop.deadlock and (waits or int(m.status[tables.IDLE]) > 0)


def waits_for_host(device: KernelMachine, stop: Stop) -> bool:
    """Whether a stop may be a kernel that waits for what the host does; if so, its warps go on when it runs again."""
    records, status = device.machine.records, device.machine.status
    yielded = records[:, STATUS] == WarpStatus.yielded
    if stop != Stop.spinning and not (stop == Stop.deadlock and (yielded.any() or int(status[tables.IDLE]) > 0)):
        return False
    records[yielded, STATUS] = WarpStatus.ready
    records[:, REPEATS] = 0
    status[tables.IDLE] = 0
    return True


def team_blocks(device: KernelMachine, first: int) -> np.ndarray:
    """The numbers of the blocks that run together from one that waits."""
    m = device.machine
    block = m.registers[0].nbytes * device.warps + m.shared.shape[1]
    block += device.warps * LANES * int(m.grid[tables.LOCAL_BYTES])
    count = max(2, min(MOST_BLOCKS, MOST_BYTES // max(block, 1)))
    return np.arange(first, min(first + count, device.launch.n_blocks))


class CoResident:
    """The state of a machine whose present block has become the first of a team.

    Args:
        device: of a launch whose blocks run one after another.
        ids: numbers of the team's blocks; the first is the one that waits.
    """

    def __init__(self, device: KernelMachine, ids: np.ndarray) -> None:
        self._device, self._single = device, device.machine
        self._shared = np.zeros((len(ids), self._single.shared.shape[1]), np.uint8)
        self._local = np.zeros((len(ids) * device.warps * LANES, int(self._single.grid[tables.LOCAL_BYTES])), np.uint8)
        device.machine = self._team_machine(ids)
        device.team = len(ids)

    def end(self) -> None:
        """Let blocks run one after another again; what the trace's numbers stand for stays."""
        device, single = self._device, self._single
        device.machine = single._replace(
            rows=device.machine.rows,
            listed=device.machine.listed,
            compute_runs=device.machine.compute_runs,
            next_mix=device.machine.next_mix,
        )
        device.team = 1

    def _team_machine(self, ids: np.ndarray) -> MachineArrays:
        single, warps, count = self._single, self._device.warps, len(ids)
        grid, hosts, status = single.grid.copy(), single.hosts.copy(), single.status
        grid[[tables.TEAM, tables.SHARED_HOST]] = count, self._shared.ctypes.data
        grid[tables.LOCAL_HOST] = self._local.ctypes.data
        hosts[grid[tables.SHARED_ROW]] = self._shared.ctypes.data
        hosts[grid[tables.LOCAL_ROW]] = self._local.ctypes.data
        own: dict[str, np.ndarray] = {name: _repeated(getattr(single, name), count) for name in _PER_WARP}
        own["barriers"] = np.zeros((count, *single.barriers.shape[1:]), np.int64)
        own["barriers"][0] = single.barriers[0]
        own["phases"] = np.zeros((self._shared.size // 8 + 1 if len(single.phases) else 0, 2), np.int64)
        own["phases"][: len(single.phases)] = single.phases
        self._shared[0] = single.shared[0]
        self._local[: warps * LANES] = self._device.local_memory[: warps * LANES]
        base = int(status[tables.BASE_WARP])
        own["state"] = np.zeros((base + count * warps, single.state.shape[1]), np.int64)
        own["state"][: base + warps] = single.state[: base + warps]
        m = single._replace(grid=grid, hosts=hosts, shared=self._shared, ids=ids.astype(np.int64), **own)
        for block in range(1, count):
            self._start(m, block, int(ids[block]), base)
        status[[tables.TEAM_NUMBER, tables.LAST_TEAM, tables.IDLE]] = 0, 1, 0
        waiting = m.records[:warps]
        waiting[waiting[:, STATUS] == WarpStatus.yielded, STATUS] = WarpStatus.ready
        waiting[:, REPEATS] = 0
        return m

    def _start(self, m: MachineArrays, block: int, number: int, base: int) -> None:
        """Make one of the other blocks ready, as the machine does when blocks run one after another."""
        warps, (x, y, _) = self._device.warps, self._device.launch.grid
        here = slice(block * warps, (block + 1) * warps)
        for row, index in zip(m.special, (number % x, number // x % y, number // (x * y), 0), strict=False):
            m.registers[here, row] = index
        m.records[here] = np.zeros(WARP_FIELDS, np.int64)
        m.records[here, BLOCK] = block
        m.records[here, NUMBER] = number * warps + np.arange(warps)
        m.records[here, N_GROUPS] = 1
        m.pcs[here, 0] = 0
        rest = self._device.launch.threads - np.arange(warps) * LANES
        m.masks[here, 0] = [ALL_LANES if one >= LANES else (1 << int(one)) - 1 for one in rest]
        m.pending[here] = 0
        m.state[base + block * warps : base + (block + 1) * warps, START] = 1


def _repeated(rows: np.ndarray, count: int) -> np.ndarray:
    """Rows of one block's warps, for so many blocks."""
    return np.ascontiguousarray(np.tile(rows, (count,) + (1,) * (rows.ndim - 1)))
