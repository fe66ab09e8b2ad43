"""How the blocks of a team begin."""

from __future__ import annotations

from memsim.jit.compiled import called, inlined
from memsim.sources.ptx.machine.codes import ALL_LANES, BLOCK, LANES, N_GROUPS, NUMBER, WARP_FIELDS
from memsim.sources.ptx.machine.tables import (
    BASE_WARP,
    CLUSTER_ARRIVED,
    GRID_X,
    GRID_Y,
    IDLE,
    TEAM,
    TEAM_NUMBER,
    THREADS,
    WARP_NOW,
    WARPS,
)
from memsim.sources.rows import START


@called
def start_team(m):
    """Make a team's blocks ready: where they are in the grid, all lanes at the first micro-op, memory all 0."""
    grid, status = m.grid, m.status
    status[WARP_NOW] = status[IDLE] = status[CLUSTER_ARRIVED] = 0
    m.shared[:] = 0
    m.barriers[:] = 0
    m.phases[:] = 0
    for w in range(grid[TEAM] * grid[WARPS]):
        block = w // grid[WARPS]
        number = m.ids[status[TEAM_NUMBER] * grid[TEAM] + block]
        _set_block_index(m, m.registers[w], number, block)
        record = m.records[w]
        for k in range(WARP_FIELDS):
            record[k] = 0
        warp = w - block * grid[WARPS]
        record[BLOCK], record[NUMBER] = block, number * grid[WARPS] + warp
        rest = grid[THREADS] - warp * LANES
        record[N_GROUPS] = 1
        m.pcs[w, 0] = 0
        m.masks[w, 0] = ALL_LANES if rest >= LANES else (1 << rest) - 1
        m.pending[w, :] = 0
        m.state[status[BASE_WARP] + w, :] = 0
        m.state[status[BASE_WARP] + w, START] = 1


@inlined
def _set_block_index(m, registers, number, rank):
    """Fill the registers that say where a block is: ctaid, its rank in the team, where its shared memory is."""
    x, y = m.grid[GRID_X], m.grid[GRID_Y]
    indices = (number % x, number // x % y, number // (x * y), rank)
    for lane in range(LANES):
        registers[m.special[0], lane] = indices[0]
        registers[m.special[1], lane] = indices[1]
        registers[m.special[2], lane] = indices[2]
        registers[m.special[3], lane] = indices[3]
