"""Load/store units with fewer lanes than a warp take a memory instruction for several cycles."""

from __future__ import annotations

import machines
import pytest
from engines import assert_equal, both

from memsim.trace.schema import OpKind

LINE, N = (0, 1), 200


@pytest.mark.parametrize("lanes", [None, 32, 16, 8])
@pytest.mark.parametrize("what", ["loads that hit", "stores", "shared memory", "constants"])
def test_one_instruction_per_turn_of_the_lanes(lanes, what):
    """Many warps issue without waiting: the cycles per instruction are those of the lanes, or 1."""
    more = {
        "loads that hit": dict(transactions=[LINE]),
        "stores": dict(transactions=[LINE], kind=OpKind.store),
        "shared memory": dict(slots=1),
        "constants": dict(slots=1, constant=True),
    }[what]

    def cycles(n: int) -> int:
        warp = [machines.instruction(sequence=k == 0, **more) for k in range(n)]
        gpu = machines.gpu(sm__load_store_lanes=lanes, sm__constant_cycles=1, sm__max_stores=4096, l2__sector_cycles=1)
        tx = machines.trace([[warp]])
        system, trial, model = both(tx, gpu, 1, 0)
        assert_equal(system, trial, model)
        return trial.cycles

    each = (cycles(2 * N) - cycles(N)) / N
    expected = 1 if lanes is None or what == "constants" else 32 // lanes
    assert each == pytest.approx(expected, abs=0.02)
