"""The trace file: what is written is read, whole or not at all; files nobody vouches for are refused by name."""

from dataclasses import fields, replace

import h5py
import numpy as np
import pytest
from budget import drawn
from changing import changed, content_digest
from hypothesis import given
from hypothesis import strategies as st
from trace_programs import ARRAYS, OPS, PARAMETERS, PROGRAMS, ROWS, chunk, shape, write_trace

from memsim.support.deprecated import old_column
from memsim.support.errors import InputError
from memsim.trace.reader import Trace, first_wrong_warp
from memsim.trace.schema import (
    CONTROL_DEFAULTS,
    INSTRUCTION_COLUMNS,
    MIX,
    MIX_DEFAULTS,
    NO_OP,
    NO_WAIT,
    WAIT_COLUMNS,
    ArrayInfo,
    Chunk,
    Flag,
    Instructions,
    Issue,
    KnownWaits,
    OpKind,
    Space,
    StaticInstruction,
)
from memsim.trace.writer import TraceWriter


def joined(chunks):
    """Chunks as one."""
    data = {name: np.concatenate([getattr(c, name) for c in chunks]) for name in (*INSTRUCTION_COLUMNS, "addresses")}
    starts = {
        name: np.concatenate([[0], np.cumsum(np.concatenate([np.diff(getattr(c, name)) for c in chunks]))])
        for name in ("first_instruction", "first_address")
    }
    return Chunk(range(chunks[0].warps.start, chunks[-1].warps.stop), **starts, **data)


@drawn(30)
@given(PROGRAMS, st.integers(1, 20), st.integers(1, 3))
def test_what_is_written_is_read(tmp_path_factory, programs, max_instructions, batch):
    path = tmp_path_factory.mktemp("trace") / "t.h5"
    digest = write_trace(path, programs, batch)
    trace = Trace.open(path)
    assert (trace.digest, trace.kernel, trace.source, trace.parameters) == (digest, "k", "kernel.py", PARAMETERS)
    assert (list(trace.ops), list(trace.arrays), trace.launch) == (OPS, ARRAYS, shape(programs))
    chunks = list(trace.chunks(max_instructions))
    assert all(len(c.warps) == 1 or len(c.op) <= max_instructions for c in chunks)
    found, expected = joined(chunks), chunk(programs)
    for each in fields(Chunk):
        ours, theirs = getattr(found, each.name), getattr(expected, each.name)
        assert np.array_equal(ours, theirs), each.name
    assert write_trace(path, programs, 99) == digest  # however it was batched


@drawn(20)
@given(PROGRAMS)
def test_compiled_check_is_its_python(programs):
    whole = chunk(programs)
    arguments = (whole.first_instruction, whole.first_address, whole.stride, whole.mask)
    assert first_wrong_warp(*arguments) == first_wrong_warp.py_func(*arguments) == -1
    for warp in range(len(programs)):
        shifted = whole.first_address + (np.arange(len(programs) + 1) > warp)
        arguments = (whole.first_instruction, shifted, whole.stride, whole.mask)
        assert first_wrong_warp(*arguments) == first_wrong_warp.py_func(*arguments) == warp


@pytest.fixture
def path(tmp_path):
    write_trace(tmp_path / "t.h5", ROWS)
    return tmp_path / "t.h5"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("instructions/off_path", old_column("instructions/off_path")),
        ("instructions/compute_run", "instructions/gap"),
        ("instructions/instruction_mix", "instructions/mix"),
        ("instruction_mixes/critical_fp32", "mixes/chain_fp32"),
        ("instruction_mixes/count_fp32", "mixes/count_fp32"),
        ("instruction_mixes/critical_guard", "mixes/chain_guard"),
    ],
)
def test_datasets_are_found_under_older_names(tmp_path, new, old):
    digest = write_waits(tmp_path / "t.h5", linked("critical_guard", 3))
    before = Trace.open(tmp_path / "t.h5")
    (expected,) = before.chunks()
    with changed(tmp_path / "t.h5") as file:
        file.move(new, old)
        file.attrs["version"] = [1, 10]
    trace = Trace.open(tmp_path / "t.h5")
    (found,) = trace.chunks()
    for name in ("off_path", "compute_run", "instruction_mix"):
        assert getattr(expected, name).any() and np.array_equal(getattr(found, name), getattr(expected, name))
    assert np.array_equal(trace.issue.mixes, before.issue.mixes) and content_digest(tmp_path / "t.h5") == digest


def test_older_file_has_no_chains_side_by_side(tmp_path):
    plain = [[row[:6] + (0, row[7]) for row in program] for program in ROWS]
    digest = write_trace(tmp_path / "t.h5", plain)
    with changed(tmp_path / "t.h5") as file:
        assert "instructions/off_path" not in file
        file.attrs["version"] = [1, 1]
    trace = Trace.open(tmp_path / "t.h5")
    (found,) = trace.chunks()
    assert found.off_path.tolist() == [0, 0, 0] and trace.digest == digest != write_trace(tmp_path / "t.h5", ROWS)


MIXES = np.zeros(2, MIX)
MIXES[1]["count_fp32"], MIXES[1]["critical_fp32"] = 4, 2
MIXES[1]["count_tensor"], MIXES[1]["count_tensor_f16"] = 1, 4096
SCOREBOARD = Issue(KnownWaits.scoreboard, Instructions.compiled, MIXES)


def write_waits(path, issue=SCOREBOARD, waits=(0, 255, 3)):
    rows = [[(0, 1, 5, 1, 512, 4, 0, [], *waits, 1)], [(0, 1, 5, 1, 512, 4, 2, [])]]
    copy = replace(OPS[0], async_copy=True)
    with TraceWriter(path, kernel="k", source="kernel.py", parameters={}) as writer:
        writer.append(np.arange(1), chunk(rows))
        return writer.finish(shape(rows), [copy, OPS[1]], ARRAYS, issue)


def test_waits_and_mixes_are_read_as_written(tmp_path):
    digest = write_waits(tmp_path / "t.h5")
    trace = Trace.open(tmp_path / "t.h5")
    (found,) = trace.chunks()
    assert [found.wait_long.tolist(), found.wait_short.tolist(), found.wait_copies.tolist()] == [
        [0, 255], [255, 255], [3, 255]]  # fmt: skip
    assert found.instruction_mix.tolist() == [1, 0] and trace.issue.issued.tolist() == [0, 5]
    assert np.array_equal(trace.issue.mixes, MIXES) and trace.ops[0].async_copy and not trace.ops[1].async_copy
    assert (trace.issue.dependence, trace.issue.instructions) == (KnownWaits.scoreboard, Instructions.compiled)
    others = [replace(SCOREBOARD, dependence=KnownWaits.sequence), replace(SCOREBOARD, instructions=Instructions.none)]
    more = np.concatenate([MIXES, MIXES[:1]])
    digests = {write_waits(tmp_path / "u.h5", issue) for issue in (*others, replace(SCOREBOARD, mixes=more))}
    assert len(digests | {digest, write_waits(tmp_path / "u.h5", waits=(0, 255, 4))}) == 5


def linked(name, length):
    """SCOREBOARD with so many links of a sort on its chain."""
    mixes = MIXES.copy()
    mixes[name][1] = length
    if (count := name.replace("critical", "count")) in MIX_DEFAULTS:
        mixes[count][1] = length
    return replace(SCOREBOARD, mixes=mixes)


def test_links_of_chains_are_read_as_written(tmp_path):
    digests = [write_waits(tmp_path / "plain.h5")]
    names = [name for name in MIX_DEFAULTS if not name.startswith("count")]
    for name in names:
        issue = linked(name, 3)
        digests.append(write_waits(tmp_path / "t.h5", issue))
        assert np.array_equal(Trace.open(tmp_path / "t.h5").issue.mixes, issue.mixes)
    assert len(set(digests)) == 1 + len(names)


def test_file_before_1_8_has_no_separate_links(tmp_path):
    digest = write_waits(tmp_path / "t.h5")
    with changed(tmp_path / "t.h5") as file:
        file.attrs["version"] = [1, 7]
        for name in MIX_DEFAULTS:
            del file[f"instruction_mixes/{name}"]
    trace = Trace.open(tmp_path / "t.h5")
    assert np.array_equal(trace.issue.mixes, MIXES) and content_digest(tmp_path / "t.h5") == digest


CODE = replace(SCOREBOARD, dependence=KnownWaits.control_code, instructions=Instructions.machine_code)
ACCESS, RESULT = (3, 0, 4, 0, NO_WAIT), (5, 0b1001, 1, 6, 2)  # set, wait, stall, result, groups left


def write_controls(path, access=ACCESS, result=RESULT, issue=CODE, op=0):
    """A load that sets scoreboard 3, and an instruction that waits for it and sets another."""
    row = [NO_WAIT, NO_WAIT, NO_WAIT]
    rows = [[(op, 1, 5, 1, 512, 4, 0, [], *row, 1, 0, *access), (NO_OP, 0, 5, 1, 0, 0, 0, [], *row, 1, 0, *result)], []]
    with TraceWriter(path, kernel="k", source="kernel.py", parameters={}) as writer:
        writer.append(np.arange(1), chunk(rows))
        return writer.finish(shape(rows), OPS, ARRAYS, issue)


def test_control_codes_are_read_as_written(tmp_path):
    digest = write_controls(tmp_path / "t.h5")
    trace = Trace.open(tmp_path / "t.h5")
    (found,) = trace.chunks()
    assert [tuple(getattr(found, name)[row] for name in CONTROL_DEFAULTS) for row in (0, 1)] == [ACCESS, RESULT]
    assert (trace.issue.dependence, trace.issue.instructions) == (CODE.dependence, CODE.instructions)
    for at in range(5):
        other = tuple(value + (k == at and value != 0) for k, value in enumerate(RESULT))
        assert other == RESULT or write_controls(tmp_path / "u.h5", result=other) != digest


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (dict(access=(6, 0, 4, 0, NO_WAIT)), "scoreboard_set must be 0 to 5, or 7 for none"),
        (dict(access=(3, 64, 4, 0, NO_WAIT)), "scoreboard_wait must not be more than 63"),
        (dict(access=(3, 0, 16, 0, NO_WAIT)), "stall must not be more than 15"),
        (dict(result=(5, 0, 4, 14, NO_WAIT)), "result must not be more than 13"),
        (dict(result=(5, 0, 4, 0, NO_WAIT)), "result must be given where a row without access sets a scoreboard"),
        (dict(access=(3, 0, 4, 1, NO_WAIT)), "result must be given where a row without access sets a scoreboard"),
        (dict(access=(3, 0, 4, 12, NO_WAIT)), "result must be given where a row without access sets a scoreboard"),
        (dict(result=(5, 0, 4, 1, 8)), "wait_products must be 0 to 7, or 255 for none"),
        (dict(op=1), "scoreboard_set must be 7 of an access that has no result"),
        (dict(issue=SCOREBOARD), "scoreboard_set must be 7, as `dependence` is no control_code"),
    ],
)
def test_senseless_control_codes_are_one_line(tmp_path, wrong, says):
    write_controls(tmp_path / "t.h5", **wrong)
    with pytest.raises(InputError, match=rf"t\.h5: instructions/{says}"):
        list(Trace.open(tmp_path / "t.h5").chunks())


def write_phases(path, flags=(Flag.arrives, Flag.awaits), phases=(2, 2), ops=(1, NO_OP)):
    """Warps of a row each, two in a block."""
    rows = [
        [(op, int(flag), 0, 1, 0, 0, 0, [], *[NO_WAIT] * 3, 0, phase)]
        for op, flag, phase in zip(ops, flags, phases, strict=True)
    ]
    with TraceWriter(path, kernel="k", source="kernel.py", parameters={}) as writer:
        writer.append(np.arange(len(rows) // 2), chunk(rows))
        writer.finish(shape(rows), [OPS[0], replace(OPS[0], async_copy=True)], ARRAYS, SCOREBOARD)
    return path


def test_mbarriers_are_read_as_written(tmp_path):
    (found,) = Trace.open(write_phases(tmp_path / "t.h5")).chunks()
    assert found.phase.tolist() == [2, 2] and found.flags.tolist() == [Flag.arrives, Flag.awaits]


def test_a_phase_is_of_one_block(tmp_path):
    """Also where rows of a phase are not one behind the other, and the blocks begin in the midst of a chunk."""
    row = dict(flags=[Flag.awaits] * 6, ops=[NO_OP] * 6)
    fine = Trace.open(write_phases(tmp_path / "t.h5", phases=(2, 1, 4, 3, 6, 6), **row))
    assert sum(len(found.op) for found in fine.chunks(2)) == sum(len(found.op) for found in fine.chunks()) == 6
    for phases in ((2, 1, 4, 1, 6, 6), (1, 1, 2, 2, 2, 3), (1, 2, 3, 3, 4, 1)):
        trace = Trace.open(write_phases(tmp_path / "t.h5", phases=phases, **row))
        with pytest.raises(InputError, match=r"t\.h5: instructions/phase must be of one block; give each block's"):
            list(trace.chunks())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (dict(flags=(Flag.arrives, Flag.sequence)), "instructions/phase must be given where flags say"),
        (dict(phases=(2, 0)), "instructions/phase must be given where flags say"),
        (dict(flags=(Flag.arrives, Flag.arrives | Flag.awaits)), "one of both"),
        (dict(phases=(3, 3)), "instructions/phase must not be above the number of rows, 2"),
        (dict(ops=(0, NO_OP)), "instructions/flags must let no access but an asynchronous copy arrive"),
        (dict(ops=(1, 1)), "instructions/flags must let no access wait at an mbarrier"),
    ],
)
def test_mbarriers_that_make_no_sense_are_one_line(tmp_path, wrong, says):
    with pytest.raises(InputError, match=says):
        list(Trace.open(write_phases(tmp_path / "t.h5", **wrong)).chunks())


def test_address_origins_do_not_change_digest(tmp_path):
    plain = [[row[:6] + (0, row[7]) for row in program] for program in ROWS]
    digest = write_trace(tmp_path / "t.h5", plain)
    assert write_trace(tmp_path / "u.h5", plain, ops=[replace(OPS[0], by_data=True), *OPS[1:]]) == digest
    assert not any(op.by_data for op in Trace.open(tmp_path / "t.h5").ops)
    assert [op.by_data for op in Trace.open(tmp_path / "u.h5").ops] == [True, *[False] * (len(OPS) - 1)]


OLDER = {
    0: ("off_path", "bypass_l1"),
    1: ("off_path",),
    2: (),
    3: (),
}  # minor version -> what it lacks besides 1.4's


@pytest.mark.parametrize("minor", OLDER)
def test_older_files_have_no_waits_and_mixes(tmp_path, minor):
    plain = [[row[:6] + (0, row[7]) for row in program] for program in ROWS]
    digest = write_trace(tmp_path / "t.h5", plain)
    with changed(tmp_path / "t.h5") as file:
        file.attrs["version"] = [1, minor]
        for name in ("dependence", "instructions"):
            del file.attrs[name]
        del file["instruction_mixes"], file["ops/async_copy"], file["ops/by_data"], file["sources"]
        assert not {"off_path", *WAIT_COLUMNS, "instruction_mix", *CONTROL_DEFAULTS} & set(file["instructions"])
        for name in OLDER[minor]:
            if name != "off_path":
                del file[f"ops/{name}"]
    trace = Trace.open(tmp_path / "t.h5")
    (found,) = trace.chunks()
    assert {v for name in WAIT_COLUMNS for v in getattr(found, name).tolist()} == {
        NO_WAIT
    } and not found.instruction_mix.any()
    assert (trace.issue.dependence, trace.issue.instructions) == (KnownWaits.sequence, Instructions.none)
    assert content_digest(tmp_path / "t.h5") == digest and len(trace.issue.mixes) == 1


def test_version_1_0_files_have_no_bypassing_ops(path):
    with changed(path) as file:
        del file["ops/bypass_l1"]
        file.attrs["version"] = np.array([1, 0], "<i4")
    assert Trace.open(path).ops == tuple(OPS)


def test_texts_of_trace_are_shown_on_one_line(tmp_path):
    odd = StaticInstruction(OpKind.load, Space.global_, 4, 0, 3, 9, "a\nb.py", "\x1b[31m")
    with TraceWriter(tmp_path / "t.h5", kernel="k\n2", source="s\r", parameters={"a\n": "b\t"}) as writer:
        writer.append(np.arange(1), chunk([[], []]))
        writer.finish(shape([[], []]), [odd], [ArrayInfo("x\u202e", Space.global_, 512, 4096, 4)])
    trace = Trace.open(tmp_path / "t.h5")
    assert (trace.kernel, trace.source, trace.parameters) == ("k\\n2", "s\\r", {"a\\n": "b\\t"})
    assert (trace.ops[0].file, trace.ops[0].text, trace.arrays[0].name) == ("a\\nb.py", "\\x1b[31m", "x\\u202e")


def test_columns_at_their_default_are_left_out(tmp_path):
    """Also where the first other value comes in a later batch, as of a file that has all of them."""
    row, other = ROWS[0][0][:6] + (0, ROWS[0][0][7]), ROWS[0][0][:6] + (3, ROWS[0][0][7])
    programs = [[row], [row], [row], [other]]
    digests = {write_trace(tmp_path / f"{k}.h5", programs, k) for k in (1, 2)}
    assert len(digests) == 1
    with h5py.File(tmp_path / "1.h5") as file:
        assert "off_path" in file["instructions"] and "phase" not in file["instructions"]
    (found,) = Trace.open(tmp_path / "1.h5").chunks()
    assert found.off_path.tolist() == [0, 0, 0, 3] and found.phase.tolist() == [0] * 4
    assert content_digest(tmp_path / "1.h5") in digests
