"""What a dataset takes in memory is bounded by what it takes in its file."""

import h5py
import hdf5plugin
import numpy as np
import pytest

from memsim.support import hdf5
from memsim.support.hdf5 import MOST_RATIO, is_stored


def made(path, **options):
    with h5py.File(path, "w", libver="v110") as file:
        file.create_dataset("x", **options)
    return h5py.File(path, "r")


CLAIMS = {
    "never written": dict(shape=(1 << 40,), dtype="u1"),
    "never written, in chunks": dict(shape=(1 << 40,), dtype="u1", chunks=(1 << 16,)),
    "another packer": dict(data=np.zeros(1 << 22, "u1"), compression="gzip"),
    "one chunk of gigabytes": dict(shape=(1,), maxshape=(None,), dtype="u1", chunks=(1 << 31,)),
}


@pytest.mark.parametrize("options", CLAIMS.values(), ids=CLAIMS)
def test_what_is_not_there_is_not_read(tmp_path, options):
    with made(tmp_path / "a.h5", **options) as file:
        assert not is_stored(file["x"], (tmp_path / "a.h5").stat().st_size)


def test_chunks_that_are_partly_there_are_not_enough(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        whole = file.create_dataset("x", shape=(1 << 20,), dtype="i8", chunks=(1 << 14,))
        whole[::2] = 1
        assert is_stored(whole, 1 << 30)
        part = file.create_dataset("y", shape=(1 << 20,), dtype="i8", chunks=(1 << 14,))
        part[: 1 << 19] = 1
        assert not is_stored(part, 1 << 30)


@pytest.mark.parametrize(
    "values",
    [np.zeros(1 << 22, "u1"), np.arange(1 << 20), np.tile(np.arange(5), 1 << 16)],
    ids=["zeros", "rising", "turns"],
)
def test_arrays_are_stored_whatever_their_compression(tmp_path, values):
    for name, shuffle in (("a", hdf5plugin.Blosc.SHUFFLE), ("b", hdf5plugin.Blosc.BITSHUFFLE)):
        packed = hdf5plugin.Blosc(cname="lz4", clevel=9, shuffle=shuffle)
        with made(tmp_path / name, data=values, **packed) as file:
            assert is_stored(file["x"], (tmp_path / name).stat().st_size)
            assert values.nbytes <= MOST_RATIO * file["x"].id.get_storage_size()


def test_links_lead_nowhere(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["g/x"] = np.arange(3)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["own/x"] = np.arange(3)
        file["outer"] = h5py.ExternalLink("other.h5", "/g")
        file["inner"] = h5py.SoftLink("/own")
        file["own/soft"] = h5py.SoftLink("/own/x")
        assert file["outer/x"][2] == 2 and file["inner/x"][2] == 2  # h5py follows them
        assert hdf5.find(file, "own/x") is not None
        for name in ("outer/x", "inner/x", "own/soft", "own", "own/x/y", "none/x"):
            assert hdf5.find(file, name) is None
