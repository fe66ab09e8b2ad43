"""The arrays that the machine's loops work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class MachineArrays(NamedTuple):
    """All state of the blocks that run together (a team: one block, or the blocks of a cluster), and what they run.

    W warps of the team, R rows of registers, P predicates, N micro-ops, B blocks of the team.
    """

    code: np.ndarray  # i8 [N, FIELDS]
    lists: np.ndarray  # i8, operands of which a micro-op has many
    uses: np.ndarray  # i8, registers whose loads a micro-op waits for
    registers: np.ndarray  # i8 [W, R, LANES], bit patterns
    predicates: np.ndarray  # i8 [W, P], a bit a lane
    pcs: np.ndarray  # i8 [W, LANES + 1], of groups of lanes, ascending
    masks: np.ndarray  # i8 [W, LANES + 1]
    records: np.ndarray  # i8 [W, WARP_FIELDS]
    pending: np.ndarray  # i8 [W, R], number and class of the load that last wrote a register
    committed: np.ndarray  # i8 [W, MOST_GROUPS], copies issued when a group was committed
    barriers: np.ndarray  # i8 [B, 16, 4], lanes that came; and, or, count of their predicates
    phases: np.ndarray  # i8 [B * shared bytes / 8 + 1, 2], of mbarriers: numbers of the phase under way, the one before
    n_phases: np.ndarray  # i8 [1], numbers given
    row: np.ndarray  # i8 [LANES], results before inactive lanes are left out
    lanes: np.ndarray  # i8 [LANES], active lanes of an access
    address: np.ndarray  # i8 [LANES], theirs
    some: np.ndarray  # i8 [LANES], lanes of one of several rows
    trace_addresses: np.ndarray  # i8 [LANES], theirs in the trace
    left: np.ndarray  # bool [LANES]
    left_matrix: np.ndarray  # f8 [32, 256], operands and sums of a matrix product
    right_matrix: np.ndarray  # f8 [512, 256]
    sums: np.ndarray  # f8 [18, 256], the last rows for a row's sums on their way
    cell: np.ndarray  # i8 [1], a place to read bits as numbers
    single: np.ndarray  # f4 [2], the same place
    double: np.ndarray  # f8 [1], the same place
    starts: np.ndarray  # i8, of regions of memory, ascending; the last row stands for nowhere
    stops: np.ndarray  # i8
    mapped: np.ndarray  # i8, where mapped memory behind a region ends; accesses there are carried out and noted
    hosts: np.ndarray  # i8, addresses in the host's memory
    arrays: np.ndarray  # i4, number in the trace, -1 for none, -2 for one that gets a number when it is accessed
    spaces: np.ndarray  # i4
    shifts: np.ndarray  # i8, an address of a region less its address in the trace
    numbered: np.ndarray  # i4 [arrays that may get a number], regions by number in the trace, -1 for none
    next_array: np.ndarray  # i8 [2], the next number in the trace, the next free address there
    recent: np.ndarray  # i4 [N], the region where a micro-op last was
    shared_arrays: np.ndarray  # i8 [shared arrays, 2], first byte and number in the trace
    bytes1: np.ndarray  # u1, u2, u4, i8: all memory of the host, as elements from its first address on
    bytes2: np.ndarray
    bytes4: np.ndarray
    bytes8: np.ndarray
    textures: np.ndarray  # i8 [textures + 1, FIELDS of memsim.sources.ptx.textures]
    texels: np.ndarray  # i8 [8, LANES], addresses of the texels of a fetch
    weights: np.ndarray  # f8 [8], theirs
    fetch: np.ndarray  # f8 [3], coordinates of one lane
    ids: np.ndarray  # i8, of the blocks to run
    grid: np.ndarray  # i8 [GRID_FIELDS]
    special: np.ndarray  # i8 [7], registers that change with the block
    shared: np.ndarray  # u1 [B, shared bytes]
    rows: np.ndarray  # the log
    listed: np.ndarray  # u4, its explicit addresses
    cursor: np.ndarray  # i8 [2]
    state: np.ndarray  # i8 [warps of the batch, STATE]
    numbers_of_ops: np.ndarray  # i4 [N, arrays + 1], -1 for none
    made: np.ndarray  # i4 [NO_OP, 2], micro-op and array of each static instruction
    n_made: np.ndarray  # i8 [1]
    next_mix: np.ndarray  # i4 [mixes, segments], -1 for one that is not known yet
    compute_runs: np.ndarray  # i8 [mixes, 2], instructions and those on the longest chain
    status: np.ndarray  # i8 [STATUS_FIELDS]
    beyond: np.ndarray  # i8 [N, BEYOND_FIELDS], accesses out of bounds in mapped memory, by micro-op
    loops: np.ndarray  # i8 [N_LOOPS], by micro-op: the address of its loop, where it has one of its own

    def __repr__(self) -> str:
        return "Machine(...)"  # who prints `bytes1` reads memory that is nobody's


# Columns of `grid`.
(GRID_X, GRID_Y, GRID_Z, WARPS, THREADS, TEAM, LOCAL_BYTES, LOCAL_HOST, SHARED_BYTES, SHARED_HOST, SHARED_ROW,
 LOCAL_ROW, TRACING, MOST_STEPS, MOST_ROWS, TEAMS_SEEN, CUT_BRANCH, CUT_TURNS) = range(18)  # fmt: skip
GRID_FIELDS = 18
# Columns of `status`: where the loop is, and what stopped it.
(TEAM_NUMBER, LAST_TEAM, RUNNING, WARP_NOW, STOP_PC, STOP_LANE, STOP_ADDRESS, EXECUTED, IDLE, BASE_WARP,
CLUSTER_ARRIVED,
 CLUSTER_PHASE_NOW, ACCESSES, SECTORS, CALL_DONE, ANY_BEYOND) = range(16)  # fmt: skip
STATUS_FIELDS = 16
# Columns of `beyond`: how many, and of the first the warp's number in the grid, lane and address.
BEYOND_COUNT, BEYOND_WARP, BEYOND_LANE, BEYOND_ADDRESS = range(4)
BEYOND_FIELDS = 4
