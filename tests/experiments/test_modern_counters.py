"""The study of launches on an A100 and an RTX 4090: every row has a case, descriptions ask for what programs do."""

import pytest

import memsim
from experiments.modern_counters.kernels import convolution, offset_add, tile_copy
from experiments.modern_counters.predict import counted
from experiments.modern_counters.programs import PROGRAMS
from experiments.modern_counters.rows import CASES, measured


def test_every_launch_is_measured_described_and_found():
    rows = measured()
    assert set(rows) == set(CASES) == set(PROGRAMS)
    assert sum(map(len, rows.values())) == 32


@pytest.mark.parametrize(("offset", "sectors"), [(0, 4 + 4 + 4), (128, 12), (11, 5 + 5 + 4)])
def test_sum_asks_for_sectors_of_its_rows(offset, sectors):
    """A warp's 32 floats are 4 sectors, from the middle of one on 5; the last block's are beyond the end in part."""
    n = 1 << 14
    trace = memsim.trace(offset_add, n=n, offset=offset, blocks="all")
    off = {"l1.enabled": False}
    found = counted(memsim.simulate(trace, "rtx4090", trials=1, settings=off))
    assert found.l2_sectors == pytest.approx((n - offset) / 32 * sectors, rel=0.01)


@pytest.mark.parametrize("variant", ["naive", "shared", "padded", "unrolled"])
def test_transposes_store_every_sector(variant):
    """Of the result's sectors a transpose through shared memory stores each once, the naive one eight times."""
    trace = memsim.trace(tile_copy, n=128, variant=variant, blocks="all")
    found = counted(memsim.simulate(trace, "rtx4090", trials=1))
    assert found.l2_sectors == 128 * 128 / 8 * (1 + (8 if variant == "naive" else 1))


def test_convolution_by_rows_and_by_columns_reads_equally():
    traces = [
        memsim.trace(convolution, n=32, images=1, size=3, variant=variant, blocks="all")
        for variant in ("columns", "rows", "shared")
    ]
    read = [counted(memsim.simulate(trace, "a100", trials=1)).dram_read for trace in traces]
    whole = 32 * 32 * 4  # the image; its weights are one more sector or two, but constants through shared memory
    assert read[0] == read[1] and whole <= min(read) and max(read) <= whole + 4 * 64
