"""Damaged, truncated and unfinished trace files are refused in one line that names file and field."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
from changing import changed
from places import ROOT
from trace_programs import ARRAYS, OPS, ROWS, chunk, shape, write_trace

from experiments.robustness.damage import damaged
from memsim.support.errors import InputError
from memsim.trace.reader import Trace
from memsim.trace.schema import (
    EXPLICIT,
    INSTRUCTION_COLUMNS,
    INSTRUCTION_DEFAULTS,
    MIX,
    LaunchShape,
)
from memsim.trace.writer import TraceWriter


@pytest.fixture
def path(tmp_path):
    write_trace(tmp_path / "t.h5", ROWS)
    return tmp_path / "t.h5"


def replaced(name, change):
    def damage(file):
        values = change(file[name][:])
        del file[name]
        file[name] = values

    return damage


def element(name, at, value):
    def damage(file):
        file[name][at] = value

    return damage


def attribute(name, value):
    return lambda file: file.attrs.__setitem__(name, value)


def link(file):
    del file["addresses"]
    file["addresses"] = h5py.ExternalLink("other.h5", "x")


def with_column(file, name):
    """A column that was left out because it has nothing but its default."""
    values = np.full(len(file["instructions/op"]), INSTRUCTION_DEFAULTS[name], INSTRUCTION_COLUMNS[name])
    return file.create_dataset(f"instructions/{name}", data=values)


def two_mixes(file):
    for name in MIX.names:
        replaced(f"instruction_mixes/{name}", lambda v: np.append(v, v))(file)
    file["instruction_mixes/count_half"][1] = 4
    with_column(file, "instruction_mix")[0] = 1


def longer_chain(file):
    two_mixes(file)
    file["instruction_mixes/critical_half"][1] = 5


def more_stalls(file):
    two_mixes(file)
    file["instruction_mixes/stall_cycles"][1] = 61


def more_links(file):
    two_mixes(file)
    file["instruction_mixes/critical_guard"][1] = 5


DAMAGE = {
    "foreign": (attribute("schema", "other"), "schema"),
    "newer": (attribute("version", [2, 0]), "version"),
    "no version": (attribute("version", "x"), "version"),
    "no digest": (lambda file: file.attrs.__delitem__("digest"), "digest"),
    "digest no text": (attribute("digest", 3), "digest"),
    "parameters": (attribute("parameters", "{"), "parameters"),
    "parameters no object": (attribute("parameters", "3"), "parameters"),
    "deep parameters": (attribute("parameters", "[" * 50000), "parameters"),
    "warp size": (attribute("warp_size", 65), "warp_size"),
    "warp size 0": (attribute("warp_size", 0), "warp_size"),
    "negative registers": (attribute("registers", -1), "registers"),
    "grid": (attribute("grid", [0, 1, 1]), "grid"),
    "grid of two": (attribute("grid", [1, 1]), "grid"),
    "missing column": (lambda file: file.__delitem__("instructions/mask"), "instructions/mask"),
    "more off the critical path than there are": (
        element("instructions/off_path", 0, 6),
        "instructions/off_path",
    ),
    "missing table": (lambda file: file.__delitem__("ops"), "ops/kind"),
    "link to another file": (link, "addresses"),
    "wrong dtype": (replaced("instructions/compute_run", lambda v: v.astype("i8")), "instructions/compute_run"),
    "wrong dimensions": (replaced("addresses", lambda v: v.reshape(-1, 1)), "addresses"),
    "short column": (replaced("instructions/stride", lambda v: v[:-1]), "instructions/stride"),
    "short addresses": (replaced("addresses", lambda v: v[:-1]), "warps/first_address"),
    "not rising": (element("warps/first_instruction", 1, 9), "warps/first_instruction"),
    "negative start": (element("warps/first_address", 0, -1), "warps/first_address"),
    "warps of a block": (replaced("blocks/first_warp", lambda v: np.array([0, 1, 2])), "blocks/first_warp"),
    "no warps": (replaced("warps/first_instruction", lambda v: v[:0]), ""),
    "block outside": (element("blocks/id", 0, 7), "blocks/id"),
    "kind": (element("ops/kind", 0, 9), "ops/kind"),
    "space": (element("arrays/space", 0, 5), "arrays/space"),
    "width": (element("ops/width", 0, 0), "ops/width"),
    "array": (element("ops/array", 0, 2), "ops/array"),
    "text no text": (replaced("ops/text", lambda v: np.arange(2)), "ops/text"),
    "op": (element("instructions/op", 0, 2), "instructions/op"),
    "mask": (element("instructions/mask", 0, 0), "instructions/mask"),
    "explicit": (element("instructions/stride", 0, EXPLICIT), "warps/first_address"),
    "dependence": (attribute("dependence", "neither"), "dependence"),
    "instructions": (attribute("instructions", 3), "instructions"),
    "mix beyond the table": (
        lambda file: with_column(file, "instruction_mix").__setitem__(0, 1),
        "instructions/instruction_mix",
    ),
    "mix of another compute run": (two_mixes, "instructions/instruction_mix"),
    "mixes without a first row": (element("instruction_mixes/count_fp32", 0, 1), "instruction_mixes"),
    "longer chain than there is": (longer_chain, "instruction_mixes/critical_half"),
    "more links than instructions": (more_links, "instruction_mixes/critical_guard"),
    "more stalls than instructions have": (more_stalls, "instruction_mixes/stall_cycles"),
    "no mixes": (lambda file: file.__delitem__("instruction_mixes"), "instruction_mixes/count_integer"),
    "short mixes": (replaced("instruction_mixes/critical_fp32", lambda v: v[:0]), "instruction_mixes/critical_fp32"),
}


@pytest.mark.parametrize(("damage", "field"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_files_are_refused_by_name(path, damage, field):
    with changed(path) as file:
        damage(file)
    with pytest.raises(InputError) as error:
        list(Trace.open(path).chunks())
    assert str(error.value).startswith(f"{path}: {field}") and "\n" not in str(error.value)


def test_a_lane_beyond_the_warp_is_refused(tmp_path):
    with TraceWriter(tmp_path / "t.h5", kernel="k", source="kernel.py", parameters={}) as writer:
        writer.append(np.arange(1), chunk(ROWS))
        writer.finish(LaunchShape((1, 1, 1), (32, 1, 1), warp_size=16), OPS, ARRAYS)
    with pytest.raises(InputError, match="instructions/mask"):
        list(Trace.open(tmp_path / "t.h5").chunks())


@pytest.mark.parametrize("size", [0, 10, 1000, -1])
def test_truncated_files_are_refused(path, size):
    content = path.read_bytes()
    path.write_bytes(content[:size])
    with pytest.raises(InputError, match=f"^{path}: file is "):
        list(Trace.open(path).chunks())


def test_no_damage_is_read(path):
    """Whatever accident befalls a file, it is refused in one line or as it was."""
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(400):
        path.write_bytes(damaged(content, rng))
        try:
            list(Trace.open(path).chunks())
            assert path.read_bytes() == content
        except InputError as error:
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)


def test_trace_replaced_between_readings_is_refused(path):
    trace = Trace.open(path)
    write_trace(path, [ROWS[1], ROWS[1]])
    with pytest.raises(InputError, match=f"^{path}: digest has changed"):
        list(trace.chunks())


def test_failure_leaves_old_file_and_nothing_else(path):
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError), TraceWriter(path, kernel="k", source="s", parameters={}) as writer:
        writer.append(np.arange(1), chunk(ROWS))
        raise ZeroDivisionError
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


FULL_DISK = """
import sys
import numpy as np
from memsim.support.errors import InputError
from memsim.trace.schema import LaunchShape
from memsim.trace.writer import TraceWriter
from tests.support.full_disk import limit_files
from tests.support.trace_programs import ARRAYS, OPS, chunk

limit_files(int(sys.argv[2]))
block = [[(0, 1, 5, 1, 512, 4, 0, [])] * 20000, []]
try:
    with TraceWriter(sys.argv[1], kernel="k", source="s", parameters={}) as writer:
        for i in range(4):
            writer.append(np.array([i]), chunk(block, 2 * i))
        writer.finish(LaunchShape((4, 1, 1), (64, 1, 1)), OPS, ARRAYS)
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("room", [0, 3000, 20000])
def test_full_disk_is_one_line_and_leaves_nothing(tmp_path, room):
    path = tmp_path / "t.h5"
    command = [sys.executable, "-c", FULL_DISK, str(path), str(room)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{path}: file cannot be written (") and done.stdout.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [("no/such/folder/t.h5", "file cannot be written"), ("taken", "file is a folder; give the path of a file")],
)
def test_places_that_cannot_be_written_are_one_line(tmp_path, name, problem):
    (tmp_path / "taken").mkdir()
    with (
        pytest.raises(InputError, match=problem),
        TraceWriter(tmp_path / name, kernel="k", source="s", parameters={}) as writer,
    ):
        writer.append(np.arange(1), chunk(ROWS))
        writer.finish(shape(ROWS), OPS, ARRAYS)
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]
