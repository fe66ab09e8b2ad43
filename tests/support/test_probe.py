"""Files from before there were seals are read by another process first, where they may hang and crash."""

import numpy as np
import pytest
from changing import unsealed
from trace_programs import ARRAYS, OPS, chunk

from memsim.support import probe
from memsim.support.errors import InputError
from memsim.trace.reader import Trace
from memsim.trace.schema import LaunchShape
from memsim.trace.writer import TraceWriter

ROWS = [[(0, 1, 5, 0xFFFFFFFF, 512, 4, 0, [])]]


@pytest.fixture
def path(tmp_path):
    with TraceWriter(tmp_path / "t.h5", kernel="k", source="kernel.py", parameters={}) as writer:
        writer.append(np.arange(1), chunk(ROWS))
        writer.finish(LaunchShape((1, 1, 1), (32, 1, 1)), OPS, ARRAYS)
    unsealed(tmp_path / "t.h5")
    return tmp_path / "t.h5"


def test_a_whole_one_is_read(path):
    assert probe.survives_reading(path)
    assert [len(each.op) for each in Trace.open(path).chunks()] == [1]


@pytest.mark.slow
def test_heap_of_sizeless_objects_does_not_hang(path, monkeypatch):
    """libhdf5 2.0 goes round for ever."""
    content = bytearray(path.read_bytes())
    heap = content.find(b"GCOL") + 16
    content[heap + 16 : heap + 216] = bytes(200)
    path.write_bytes(content)
    monkeypatch.setattr(probe, "SECONDS", 3)
    with pytest.raises(InputError, match="t.h5: file is damaged"):
        Trace.open(path)
