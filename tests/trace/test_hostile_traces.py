"""Small files that claim gigabytes, or lead elsewhere: one line, and little memory."""

import os

import h5py
import hdf5plugin
import numpy as np
import pytest
from changing import changed
from trace_programs import ARRAYS, OPS, chunk

from experiments.robustness.trying import Outcome, command, tried
from memsim.support.errors import InputError
from memsim.trace.reader import Trace
from memsim.trace.schema import INDEX_COLUMNS, Flag, LaunchShape
from memsim.trace.writer import TraceWriter

GIGA = 1 << 30
PACK = dict(hdf5plugin.Blosc(cname="lz4", shuffle=hdf5plugin.Blosc.SHUFFLE))


@pytest.fixture
def path(tmp_path):
    with TraceWriter(tmp_path / "t.h5", kernel="k", source="kernel.py", parameters={}) as writer:
        writer.append(np.arange(1), chunk([[(0, 1, 5, 0xFFFFFFFF, 512, 4, 0, [])]]))
        writer.finish(LaunchShape((1, 1, 1), (32, 1, 1)), OPS, ARRAYS)
    return tmp_path / "t.h5"


def claim(file, name, length, **options):
    dtype = file[name].dtype
    del file[name]
    file.create_dataset(name, shape=(length,), dtype=dtype, **options)


def one_warp_of_many_rows(file):
    for name in list(file["instructions"]):
        claim(file, f"instructions/{name}", 1 << 33, chunks=(1 << 17,), **PACK)
    file["warps/first_instruction"][1] = 1 << 33


def many_ops(file):
    for name in file["ops"]:
        claim(file, f"ops/{name}", 1 << 27)


def many_blocks(file):
    for name in INDEX_COLUMNS:
        claim(file, name, 1 << 28, chunks=(1 << 17,), **PACK)
    file.attrs["grid"] = [1 << 28, 1, 1]


def many_packed_blocks(file):
    """What is really stored: 250 bytes from each stored one."""
    for name in INDEX_COLUMNS:
        del file[name]
        file.create_dataset(name, data=np.zeros((1 << 22) + (name != "blocks/id"), "i8"), **PACK)
    file.attrs["grid"] = [1 << 28, 1, 1]


def long_texts(file):
    claim(file, "ops/text", 2)
    del file["ops/text"]
    file.create_dataset("ops/text", shape=(2,), dtype=h5py.string_dtype("utf-8", GIGA))


def values_elsewhere(file):
    del file["addresses"]
    file.create_dataset("addresses", shape=(0,), dtype="<u4", external=[("/etc/hostname", 0, h5py.h5f.UNLIMITED)])


def values_of_another_file(file):
    del file["instructions/base"]
    layout = h5py.VirtualLayout((1,), "<u8")
    layout[:] = h5py.VirtualSource("/etc/hostname", "x", (1,))
    file.create_virtual_dataset("instructions/base", layout)


def group_elsewhere(file):
    with h5py.File(os.path.join(os.path.dirname(file.filename), "other.h5"), "w") as other:
        file.copy("instructions", other)
    del file["instructions"]
    file["instructions"] = h5py.ExternalLink("other.h5", "/instructions")


def group_by_another_name(file):
    file.move("arrays", "tables")
    file["arrays"] = h5py.SoftLink("/tables")


HOSTILE = {
    one_warp_of_many_rows: "instructions/op claims more values than are stored",
    many_ops: "ops/kind claims more",
    many_blocks: "blocks/id claims more",
    many_packed_blocks: "blocks/first_warp must",
    long_texts: "ops/text claims more",
    values_elsewhere: "addresses is missing",
    values_of_another_file: "instructions/base is missing",
    group_elsewhere: "instructions/op is missing",
    group_by_another_name: "arrays/name is missing",
}


@pytest.mark.parametrize(("change", "problem"), HOSTILE.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_it_is_one_line_and_little_memory(path, change, problem):
    with changed(path) as file:
        change(file)
    with pytest.raises(InputError) as error:
        list(Trace.open(path).chunks())
    assert str(error.value).startswith(f"{path}: {problem}") and "\n" not in str(error.value)
    outcome, said = tried(command(["info", str(path)]), path.parent)
    assert outcome is Outcome.refused and said.count("\n") == 1


@pytest.mark.parametrize(("flags", "op", "mask"), [(0, 0, 1), (0, 0xFFFF, 0), (int(Flag.barrier), 0xFFFF, 1)])
def test_path_switch_has_lanes_and_no_access(path, flags, op, mask):
    with changed(path) as file:
        for name, value in (("flags", flags | int(Flag.path_switch)), ("op", op), ("mask", mask), ("stride", 0)):
            file[f"instructions/{name}"][0] = value
    with pytest.raises(InputError, match="instructions/flags must switch a warp to some lanes"):
        list(Trace.open(path).chunks())


def test_memory_that_ran_out_is_one_line(path, monkeypatch):
    def full(*_arguments, **_more):
        raise MemoryError("Unable to allocate 16.0 GiB")

    monkeypatch.setattr("memsim.report.inputs.trace_output", full)
    outcome, said = tried(command(["info", str(path)]), path.parent)
    assert outcome is Outcome.refused
    assert said == "memsim: memory ran out (Unable to allocate 16.0 GiB); give a smaller input or a machine with more\n"
