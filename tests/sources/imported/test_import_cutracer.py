"""CUTracer's records, written by hand: what they are with every instruction, and what with accesses alone."""

import json

import pytest
import zstandard
from accelsim_text import lanes, whole
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from memsim.cli import app
from memsim.sources.imported.cutracer import import_cutracer
from memsim.support.errors import InputError
from memsim.trace.schema import NO_WAIT, Instructions, OpKind, Space

A = 0x7F00_0000_0000
SASS = {
    0: ("0x10", "LDG.E R4, desc[UR6][R2.64] ;"),
    1: ("0x20", "@!P0 IADD3 R5, R4, 0x1, RZ ;"),
    2: ("0x30", "STG.E.64 desc[UR6][R6.64], R10 ;"),
    3: ("0x40", "STG.E desc[UR6][R2.64], R5 ;"),
    4: ("0x50", "EXIT ;"),
}
METADATA = {
    "type": "kernel_metadata", "mangled_name": "_Z3addPi", "unmangled_name": "add(int*)", "kernel_checksum": "7fa21c3",
    "func_addr": "0x7f5500000000", "nregs": 20, "shmem_static": 128, "shmem_dynamic": 64, "grid": [2, 1, 1],
    "block": [64, 1, 1], "instructions": {str(number): {"sass": sass} for number, (_, sass) in SASS.items()},
}  # fmt: skip


def record(kind, number, *, cta=0, warp=0, addresses=None, **changes):
    about = {"type": kind, "ctx": "0x55", "trace_index": 0, "timestamp": 1, "grid_launch_id": 0, "cta": [cta, 0, 0],
             "warp": warp, "opcode_id": number, "pc": SASS[number][0]}  # fmt: skip
    return about | ({} if addresses is None else {"addrs": addresses}) | changes


def every(lanes=32, step=4, base=A):
    return [base + step * lane if lane < lanes else 0 for lane in range(32)]


def write(folder, records, metadata=METADATA):
    path = folder / "kernel_7fa21c3_iter0_add.ndjson"
    path.write_text("".join(json.dumps(line) + "\n" for line in [metadata, *records]))
    return path


def program(warp=0, cta=0):
    """What a warp of such a kernel records in both modes: an access comes before or after its own opcode_only."""

    def issued(number):
        return record("opcode_only", number, cta=cta, warp=warp)

    def access(number, addresses):
        return record("mem_addr_trace", number, cta=cta, warp=warp, addresses=addresses)

    return [
        issued(0), access(0, every()), issued(1), access(2, every(step=8, base=A + 0x1000)), issued(2),
        issued(3), access(3, every(lanes=3)), issued(4),
    ]  # fmt: skip


def test_with_every_instruction_waits_and_gaps_are_codes(tmp_path):
    (trace,) = import_cutracer(write(tmp_path, [*program(), *program(warp=3, cta=1)]), tmp_path)
    assert (trace.kernel, trace.launch.grid, trace.launch.registers) == ("_Z3addPi", (2, 1, 1), 20)
    assert trace.launch.shared_bytes == 192 and trace.path.name == "kernel_7fa21c3_iter0_add.h5"
    assert trace.issue.instructions is Instructions.compiled
    assert [(op.kind, op.space, op.width) for op in trace.ops] == [
        (OpKind.load, Space.global_, 4), (OpKind.store, Space.global_, 8), (OpKind.store, Space.global_, 4)
    ]  # fmt: skip
    chunk = whole(trace)
    rows = slice(chunk.first_instruction[0], chunk.first_instruction[1])
    assert chunk.compute_run[rows].tolist() == [0, 1, 0]  # the addition, which waits for the load
    assert chunk.wait_long[rows].tolist() == [NO_WAIT, 0, NO_WAIT]
    assert chunk.first_instruction.tolist() == [0, 3, 3, 3, 6]  # warp 3 of the grid is warp 1 of block 1
    (_, loaded), (_, pairs), (_, few), *_ = lanes(trace)
    assert (loaded[31], pairs[31], few) == (A + 124, A + 0x1000 + 248, {0: A, 1: A + 4, 2: A + 8})


def test_accesses_alone_wait_for_all_before_them(tmp_path):
    path = write(tmp_path, [line for line in program() if line["type"] != "opcode_only"])
    (trace,) = import_cutracer(path, tmp_path / "a.h5")
    assert trace.issue.instructions is Instructions.none
    assert whole(trace).compute_run.tolist() == [0, 0, 0]
    assert whole(trace).wait_long.tolist() == [NO_WAIT, 0, NO_WAIT]  # the load answers once


def test_packed_by_zstd_and_from_the_command_line(tmp_path):
    path = tmp_path / "k.ndjson.zst"
    path.write_bytes(zstandard.compress(write(tmp_path, program()).read_bytes()))
    done = CliRunner().invoke(app, ["import", "cutracer", str(path), "-o", str(tmp_path)])
    assert done.exit_code == 0 and "_Z3addPi" in done.output and (tmp_path / "k.h5").is_file()


WRONG = {
    "no metadata": (program(), None, "line 1: type is invalid"),
    "two sorts": ([*program(), record("mem_value_trace", 0, addresses=every())], METADATA, "only one of them"),
    "a tensor copy": ([record("tma_trace", 0)], METADATA, "line 2: type is 'tma_trace'; memsim reads"),
    "few lanes": ([record("mem_addr_trace", 0, addresses=[1, 2])], METADATA, "line 2: addrs is invalid"),
    "huge address": ([record("mem_addr_trace", 0, addresses=[1 << 60] * 32)], METADATA, "line 2: addrs.0 is invalid"),
    "unknown instruction": ([record("opcode_only", 0, opcode_id=9)], METADATA, "line 2: sass '' is not an instruction"),
    "unknown access": (
        [record("mem_addr_trace", 0, addresses=every(), sass="WARPSPEED R1, [R2] ;")], METADATA, "its effect on memory"
    ),
    "nothing": ([], METADATA, "file has no records of accesses"),
    "outside the grid": ([record("mem_addr_trace", 0, cta=7, addresses=every())], METADATA, "line 2: cta"),
}  # fmt: skip


@pytest.mark.parametrize(("records", "metadata", "message"), WRONG.values(), ids=WRONG)
def test_wrong_files(tmp_path, records, metadata, message):
    path = write(tmp_path, records, metadata or records[0])
    with pytest.raises(InputError) as error:
        import_cutracer(path, tmp_path)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@drawn(60)
@given(st.data())
def test_damaged_files_are_refused_or_read(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("cutracer")
    path = write(folder, program())
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    try:
        import_cutracer(path, folder)
    except InputError as error:
        assert str(error).startswith(f"{path}: ") and str(error).isprintable()
