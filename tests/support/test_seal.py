"""A sealed file is as it was written, or is refused before libhdf5 sees it."""

import os

import h5py
import numpy as np
import pytest

from memsim.support import hdf5
from memsim.support.errors import InputError
from memsim.support.seal import SEAL_BYTES, has_intact_seal, seal


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.h5"
    with hdf5.Sink(path) as sink:
        with hdf5.created(sink, "memsim-test", (1, 0)) as file:
            file.create_dataset("x", data=np.arange(500), **hdf5.COMPRESSED)
            hdf5.put_text(file, "long", "∑" * 30_000)
        sink.seal()
    return path


def test_any_bit_that_changed_is_found(path):
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 8, len(content))
    places = [*range(8), *range(8, SEAL_BYTES, 5), *rng.integers(SEAL_BYTES, len(content), 300).tolist()]
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(bits[place])
        path.write_bytes(damaged)
        try:
            assert not has_intact_seal(path), place  # the title itself: then it is no HDF5 file
            assert place < 8
        except InputError as error:
            assert "a.h5: file is damaged or was changed" in str(error)
        if place < 8:
            with pytest.raises(InputError, match="damaged"), hdf5.opened(path, "memsim-test", (1, 0)):
                pass
    path.write_bytes(content)
    assert has_intact_seal(path)


@pytest.mark.parametrize("change", [lambda b: b + b"x", lambda b: b[:-1], lambda b: b[:SEAL_BYTES], lambda b: b[:9]])
def test_a_file_that_grew_or_shrank_is_refused(path, change):
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=r"a.h5: file is damaged"), hdf5.opened(path, "memsim-test", (1, 0)):
        pass


def test_changes_by_other_programs_are_found_until_resealed(path):
    with h5py.File(path, "r+") as file:
        assert file["x"][3] == 3 and len(file.attrs["long"].decode()) == 30_000
        file["x"][3] = 4
    with pytest.raises(InputError, match="checksum"):
        has_intact_seal(path)
    seal(path)
    with hdf5.opened(path, "memsim-test", (1, 0)) as file:
        assert file["x"][3] == 4


def test_change_keeping_size_and_time_is_found(path):
    old = 1_600_000_000
    assert has_intact_seal(path)
    os.utime(path, (old, old))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, (old, old))  # the same size and time, another content
    with pytest.raises(InputError, match="checksum"):
        has_intact_seal(path)


def test_pipe_is_refused_without_waiting_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a device or a pipe"):
        has_intact_seal(tmp_path / "pipe")


def test_no_text_lies_in_a_heap(path):
    assert b"GCOL" not in path.read_bytes()
