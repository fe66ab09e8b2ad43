"""A store waits for the loads whose data it stores, and for no others."""

import memsim


def test_saxpy_stores_to_sectors_that_its_loads_brought():
    """y is read before it is written, so a V100's L2 has every sector when the store comes."""
    trace = memsim.trace("saxpy", n=1 << 14)
    result = memsim.simulate(trace, gpu="tesla-v100", trials=2)
    assert result.l2_write.mean == 1.0
