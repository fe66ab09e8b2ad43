"""Makes the machine's arrays for a launch: registers with their constants, regions of memory, tables that grow."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from memsim.sources.batch_log import BatchLog
from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.layout import KernelLayout
from memsim.sources.ptx.lowering.builder import LANE_SPECIALS, SINK, SPECIALS
from memsim.sources.ptx.machine import lazily_compiled_ops, tables
from memsim.sources.ptx.machine.access import ORIGIN
from memsim.sources.ptx.machine.codes import (
    ALL_LANES,
    CONSTANT_WINDOW,
    LANES,
    LOCAL_WINDOW,
    MOST_GROUPS,
    OP,
    PARAMETER_WINDOW,
    RANK_SHIFT,
    SHARED_WINDOW,
    WARP_FIELDS,
    Micro,
)
from memsim.sources.ptx.machine.log import UNNUMBERED
from memsim.sources.ptx.machine.tables import MachineArrays
from memsim.sources.ptx.machine.tensors import MOST_COLUMNS, MOST_DEPTH, ROWS
from memsim.sources.ptx.memory import DeviceMemory, RegionTable
from memsim.sources.ptx.mixes import LaunchMixes
from memsim.sources.ptx.program import LoweredKernel
from memsim.sources.ptx.textures import table_of
from memsim.sources.rows import STATE
from memsim.sources.sass.constants import put_launch
from memsim.support.errors import InputError
from memsim.trace.schema import NO_OP, ArrayInfo, Space

MOST_BYTES = 1 << 32  # of all registers and local memory of the blocks that run together
MOST_STEPS = 1 << 28  # micro-ops of one warp
HIGHEST = np.iinfo(np.int64).max
MOST_COUNTED = 1 << 22  # places for numbers of ops by micro-op and array


class _HostMemory:
    """All memory of the host as elements of so many bytes; only addresses of living arrays may be looked at."""

    def __init__(self, kind: str, width: int) -> None:
        self.__array_interface__ = {
            "data": (ORIGIN, False), "shape": ((1 << 47) // width,), "typestr": kind, "version": 3,
        }  # fmt: skip


class KernelMachine:
    """The machine of a launch, and what the trace calls its arrays.

    Args:
        batch: teams of blocks that one call of the loop runs at most.

    Attributes:
        team: blocks that run together.
        local_memory: bytes of each thread of a team.
    """

    def __init__(
        self,
        launch: PtxLaunch,
        program: LoweredKernel,
        layout: KernelLayout,
        memory: DeviceMemory,
        mixes: LaunchMixes,
        batch: int,
        tracing: bool,
    ) -> None:
        self.launch, self.layout, self._program = launch, layout, program
        self.warps = -(-launch.threads // LANES)
        self.team = launch.team
        self.log, self._other_log = BatchLog(), BatchLog()
        self._check_size()
        self._mixes, self.memory = mixes, memory
        self._blocks_memory()
        self._arrays, columns = self._regions(memory)
        self.machine = self._machine(columns, batch, tracing)
        self._fill_registers()
        self._fill_banks(memory)

    @property
    def arrays(self) -> list[ArrayInfo]:
        """The trace's arrays; regions that got their numbers while the kernel ran come last."""
        m = self.machine
        rows = m.numbered[len(self._arrays) : int(m.next_array[0])].tolist()
        return self._arrays + [self.memory.info(row, int(m.starts[row] - m.shifts[row])) for row in rows]

    def texel_bytes(self, array: int) -> int:
        """Bytes of a texel of the textures in an array of the trace; 0 where there is none."""
        m = self.machine
        for row in np.flatnonzero(m.arrays == array):
            for one in self.memory.textures.values():
                if m.starts[row] <= one.address < m.stops[row]:
                    return one.texel_bytes
        return 0

    def relaunch(self, launch: PtxLaunch, parameters: np.ndarray, memory: DeviceMemory, changed: bool) -> None:
        """Make ready for another launch of the same kernel and extents.

        Args:
            changed: whether the memory's regions are others than before.
        """
        self.launch = launch
        if launch.sass is not None:
            put_launch(self._parameters, launch.sass, launch, parameters.tobytes())
        else:
            at = self.layout.parameters_at
            self._parameters[at : at + len(parameters)] = parameters
        self._fill_banks(memory)
        if changed:
            self._arrays, columns = self._regions(memory)
            recent = np.full(len(self._program.code), len(columns["starts"]) - 1, np.int32)
            self.machine = self.machine._replace(**columns, recent=recent)
            self.machine.grid[[tables.SHARED_ROW, tables.LOCAL_ROW]] = self.shared_row, self.local_row

    def retrace(self, launch: PtxLaunch, parameters: np.ndarray, memory: DeviceMemory, batch: int) -> None:
        """Make ready to trace another launch of the same kernel, whose grid may be another one.

        Args:
            batch: teams of blocks that one call of the loop runs at most.
        """
        self.relaunch(launch, parameters, memory, changed=True)
        machine = self.machine
        self.machine = machine._replace(
            ids=np.zeros(batch * self.team, np.int64),
            state=np.zeros((batch * self.team * self.warps, STATE), np.int64),
            grid=self._grid(tracing=True),
            numbers_of_ops=np.full((len(machine.code), len(machine.numbered) + 1), -1, np.int32),
            made=np.zeros_like(machine.made),
            n_made=np.zeros_like(machine.n_made),
        )

    def _check_size(self) -> None:
        rows = self._program.builder.n_rows
        needed = self.team * self.warps * LANES * (8 * rows + self.layout.local_bytes)
        if needed > MOST_BYTES:
            problem = f"needs {needed >> 20} MiB for {rows} registers and local memory; at most {MOST_BYTES >> 20}"
            raise InputError(self.launch.source, self.launch.kernel, problem)

    # -- memory

    def _blocks_memory(self) -> None:
        """Shared memory of a team's blocks, local memory of its threads, the kernel's parameters."""
        stride = max(-(-self.layout.block_bytes // 16) * 16, 16)  # so that no object lies in two blocks' words
        self._shared = np.zeros((self.team, stride), np.uint8)
        self.local_memory = np.zeros((self.team * self.warps * LANES, max(self.layout.local_bytes, 1)), np.uint8)
        self._parameters = self.layout.parameters.copy()

    def _regions(self, memory: DeviceMemory) -> tuple[list[ArrayInfo], dict[str, np.ndarray]]:
        """The trace's arrays, and the machine's columns of all regions in order of address."""
        table = memory.table()
        arrays = list(table.infos)
        rows, shared_arrays = self._windows(arrays, table)
        own = np.array([*rows, (HIGHEST, -1, 0, -1, -1, 0)], np.int64).T
        known = table.starts, table.stops, table.hosts, table.spaces, table.arrays, table.shifts
        starts, stops, hosts, spaces, numbers, shifts = (np.concatenate(pair) for pair in zip(known, own, strict=True))
        mapped = np.concatenate([table.mapped, own[1]])
        self.shared_row += len(table.starts)
        self.local_row += len(table.starts)
        later = min(int((table.arrays == UNNUMBERED).sum()), max(64, MOST_COUNTED // len(self._program.code)))
        columns = {
            "starts": starts, "stops": stops, "mapped": mapped, "hosts": hosts, "shifts": shifts,
            "shared_arrays": shared_arrays, "arrays": numbers.astype(np.int32), "spaces": spaces.astype(np.int32),
            "textures": table_of(memory.textures.items()),
            "numbered": np.full(len(arrays) + later, -1, np.int32),
            "next_array": np.array([len(arrays), table.next_address], np.int64),
        }  # fmt: skip
        return arrays, columns

    def _windows(self, arrays: list[ArrayInfo], table: RegionTable) -> tuple[list[tuple[int, ...]], np.ndarray]:
        """Rows of the parameters, of shared memory and of local memory; adds their arrays to the trace's."""
        rows: list[tuple[int, ...]] = []

        def add(start: int, size: int, host: int, space: Space, array: int, shift: int) -> None:
            rows.append((start, start + size, host, int(space), array, shift))

        for offset, size, address in self.layout.constants:
            rows.append(self._constant_row(table, offset, size, address))
        first = self.layout.indexed_at  # what the driver puts before it is read by the bank's words alone
        add(PARAMETER_WINDOW + first, len(self._parameters) - first, self._parameters.ctypes.data + first,
            Space.constant, -1, 0)  # fmt: skip
        shared_arrays = []
        for name, first, nbytes, element in self.layout.shared:
            shared_arrays.append((first, len(arrays)))
            arrays.append(ArrayInfo(name, Space.shared, first, nbytes, element))
        self.shared_row: int = len(rows)
        for rank in range(self.team + 1 if prod(self.launch.cluster) > 1 else 1):
            start = SHARED_WINDOW + (rank << RANK_SHIFT)
            host = self._shared.ctypes.data + max(rank - 1, 0) * self._shared.shape[1]
            add(start, self.layout.block_bytes, host, Space.shared, 0, start)
        self.local_row: int = len(rows)
        local = len(arrays) if self.layout.local_bytes else -1
        if self.layout.local_bytes:
            arrays.append(ArrayInfo("local", Space.local, 0, self.layout.local_bytes, 4))
        add(LOCAL_WINDOW, self.layout.local_bytes, self.local_memory.ctypes.data, Space.local, local, 0)
        return rows, np.array(shared_arrays, np.int64).reshape(-1, 2)

    def _constant_row(self, table: RegionTable, offset: int, size: int, address: int) -> tuple[int, ...]:
        """The row of a variable in constant memory where machine code sees it; it shares its array and its memory."""
        at = int(np.searchsorted(table.starts, address, "right")) - 1
        start, array = CONSTANT_WINDOW + offset, int(table.arrays[at])
        host = int(table.hosts[at]) + address - int(table.starts[at])
        shift = start - (address - int(table.shifts[at]))
        return start, start + size, host, int(Space.constant), max(array, -1), shift

    # -- arrays

    @property
    def _has_mbarriers(self) -> bool:
        return bool((self._program.code[:, OP] == Micro.mbarrier).any())

    def _machine(self, columns: dict[str, np.ndarray], batch: int, tracing: bool) -> MachineArrays:
        builder, n = self._program.builder, len(self._program.code)
        warps = self.team * self.warps
        self._cell = np.zeros(1, np.int64)
        named: dict[str, Any] = {
            "code": self._program.code,
            "lists": np.array([*builder.lists, 0], np.int64),
            "uses": np.array([*builder.use_lists, 0], np.int64),
            "registers": np.zeros((warps, builder.n_rows, LANES), np.int64),
            "predicates": np.zeros((warps, builder.n_predicates), np.int64),
            "pcs": np.zeros((warps, LANES + 1), np.int64),
            "masks": np.zeros((warps, LANES + 1), np.int64),
            "records": np.zeros((warps, WARP_FIELDS), np.int64),
            "pending": np.zeros((warps, builder.n_rows), np.int64),
            "committed": np.zeros((warps, MOST_GROUPS), np.int64),
            "barriers": np.zeros((self.team, 16, 4), np.int64),
            "phases": np.zeros((self._shared.size // 8 + 1 if self._has_mbarriers else 0, 2), np.int64),
            "n_phases": np.zeros(1, np.int64),
            "left": np.zeros(LANES, np.bool_),
            "left_matrix": np.zeros((2 * ROWS, MOST_DEPTH)),
            "right_matrix": np.zeros((2 * MOST_DEPTH, MOST_COLUMNS)),
            "sums": np.zeros((ROWS + 2, MOST_COLUMNS)),
            "texels": np.zeros((8, LANES), np.int64),
            "weights": np.zeros(8),
            "fetch": np.zeros(3),
            "cell": self._cell,
            "single": self._cell.view(np.float32),
            "double": self._cell.view(np.float64),
            "recent": np.full(n, len(columns["starts"]) - 1, np.int32),
            "bytes1": np.asarray(_HostMemory("|u1", 1)),
            "bytes2": np.asarray(_HostMemory("<u2", 2)),
            "bytes4": np.asarray(_HostMemory("<u4", 4)),
            "bytes8": np.asarray(_HostMemory("<i8", 8)),
            "ids": np.zeros(batch * self.team, np.int64),
            "grid": self._grid(tracing),
            "special": np.array([builder.rows.get(name, SINK) for name in self._specials()], np.int64),
            "shared": self._shared,
            "rows": self.log.rows,
            "listed": self.log.addresses,
            "cursor": self.log.cursor,
            "state": np.zeros((batch * warps, STATE), np.int64),
            "numbers_of_ops": np.full((n, len(columns["numbered"]) + 1), -1, np.int32),
            "made": np.zeros((NO_OP, 2), np.int32),
            "n_made": np.zeros(1, np.int64),
            "next_mix": self._mixes.next,
            "compute_runs": self._mixes.compute_runs,
            "status": np.zeros(tables.STATUS_FIELDS, np.int64),
            "beyond": np.zeros((n, tables.BEYOND_FIELDS), np.int64),
            "loops": np.zeros(lazily_compiled_ops.N_LOOPS, np.int64),
        }
        named |= columns
        named |= {name: np.zeros(LANES, np.int64) for name in ("row", "lanes", "address", "some", "trace_addresses")}
        return MachineArrays(**named)

    def _specials(self) -> tuple[str, ...]:
        """Registers that change with the block; in a grid of single blocks all have rank 0."""
        return SPECIALS if prod(self.launch.cluster) > 1 else SPECIALS[:-1] + ("",)

    def _grid(self, tracing: bool) -> np.ndarray:
        grid = np.zeros(tables.GRID_FIELDS, np.int64)
        grid[[tables.GRID_X, tables.GRID_Y, tables.GRID_Z]] = self.launch.grid
        grid[[tables.WARPS, tables.THREADS, tables.TEAM]] = self.warps, self.launch.threads, self.team
        grid[[tables.LOCAL_BYTES, tables.LOCAL_HOST]] = self.local_memory.shape[1], self.local_memory.ctypes.data
        grid[[tables.SHARED_BYTES, tables.SHARED_HOST]] = self._shared.shape[1], self._shared.ctypes.data
        grid[[tables.SHARED_ROW, tables.LOCAL_ROW]] = self.shared_row, self.local_row
        grid[[tables.TRACING, tables.MOST_STEPS]] = int(tracing), MOST_STEPS
        grid[tables.CUT_BRANCH] = -1
        return grid

    def _fill_registers(self) -> None:
        """Constants, and the special registers that say which thread a lane is."""
        registers, builder = self.machine.registers, self._program.builder
        for value, row in builder.constants.items():
            registers[:, row] = value
        self.machine.predicates[:, 0] = ALL_LANES
        thread = np.arange(self.team * self.warps * LANES).reshape(-1, LANES) % (self.warps * LANES)
        lane = np.arange(LANES)
        x, y, _z = self.launch.block
        values = {
            "%tid.x": thread % x, "%tid.y": thread // x % y, "%tid.z": thread // (x * y), "%laneid": lane,
            "%warpid": thread // LANES, "%lanemask_eq": 1 << lane, "%lanemask_lt": (1 << lane) - 1,
            "%lanemask_le": (2 << lane) - 1, "%lanemask_gt": ALL_LANES & ~((2 << lane) - 1),
            "%lanemask_ge": ALL_LANES & ~((1 << lane) - 1),
        }  # fmt: skip
        for name in LANE_SPECIALS:
            if name in builder.rows and name in values:
                registers[:, builder.rows[name]] = values[name]

    def _fill_banks(self, memory: DeviceMemory) -> None:
        """Rows of words in constant banks: bank 0 is the parameters' buffer, bank 3 variables in constant memory."""
        words = self._parameters[: len(self._parameters) & -4].view(np.uint32)
        for (bank, offset), row in self._program.builder.bank_rows.items():
            if bank == 0:
                self.machine.registers[:, row] = int(words[offset // 4])
                continue
            for start, size, address in self.layout.constants:
                if start <= offset < start + size:
                    word = memory.array_at(address + offset - start, 4)
                    self.machine.registers[:, row] = int(np.frombuffer(word.tobytes(), np.uint32)[0])

    # -- what grows

    def grow_log(self, rows: int, addresses: int) -> None:
        """Make room in the log; the machine gets the larger arrays."""
        self.log.reserve(rows, addresses)
        self._use_log()

    def take_log(self) -> BatchLog:
        """The log of the blocks that ran last; what follows is logged elsewhere, until this is called again."""
        taken, self.log = self.log, self._other_log
        self._other_log = taken
        self.log.clear()
        self.log.reserve(len(taken.rows), len(taken.addresses))
        self._use_log()
        return taken

    def _use_log(self) -> None:
        log = self.log
        self.machine = self.machine._replace(rows=log.rows, listed=log.addresses, cursor=log.cursor)

    def grow_mixes(self) -> None:
        """Give the machine the tables of mixes, which may have grown."""
        self.machine = self.machine._replace(compute_runs=self._mixes.compute_runs, next_mix=self._mixes.next)
