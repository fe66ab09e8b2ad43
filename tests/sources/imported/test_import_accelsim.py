"""Accel-Sim's traces: every encoding by hand, what becomes of opcodes, registers and spaces, the list of kernels."""

import gzip
import lzma
import subprocess
import sys

import numpy as np
import pytest
import zstandard
from accelsim_text import LOCAL_BASE, SHARED_BASE, block, header, imported, lanes, whole

from memsim.sources.imported.accelsim import convert, import_accelsim
from memsim.sources.imported.accelsim.export import export_accelsim
from memsim.support.errors import InputError
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, Flag, OpKind, Space

A = 0x7F00_0000_0000
SEQUENCE, BARRIER, DATA = int(Flag.sequence), int(Flag.barrier), int(Flag.data)


def access(tmp_path, line, **changes):
    """Addresses by lane of the one access that a line makes."""
    ((_, found),) = lanes(imported(tmp_path, header(**changes) + block([line])))
    return found


ENCODINGS = {
    # From the issue and Accel-Sim's reader: the same access in each mode, expected by hand.
    "list": ("0000000b 1 R4 LDG.E 1 R2 4 0 0x7f0000000010 0x7f0000000000 0x7f0000000f00", {0: 16, 1: 0, 3: 0xF00}),
    "list without 0x": ("00000003 1 R4 LDG.E 1 R2 4 0 7f0000000010 7f0000000000", {0: 16, 1: 0}),
    "stride": ("0000001c 1 R4 LDG.E 1 R2 4 1 0x7f0000000100 8", {2: 256, 3: 264, 4: 272}),
    "negative stride": ("0000001c 1 R4 LDG.E 1 R2 4 1 0x7f0000000100 -8", {2: 256, 3: 248, 4: 240}),
    "no stride": ("00000006 1 R4 LDG.E 1 R2 4 1 0x7f0000000100 0", {1: 256, 2: 256}),
    "deltas": ("80000005 1 R4 LDG.E 1 R2 4 2 0x7f0000000100 -256 512", {0: 256, 2: 0, 31: 512}),
    "no deltas": ("80000000 1 R4 LDG.E 1 R2 4 2 0x7f0000000100", {31: 256}),
    "immediate after it": ("00000003 1 R4 LDG.E 1 R2 4 2 0x7f0000000100 4 17", {0: 256, 1: 260}),
    "more than 4 GiB apart": ("00000007 1 R4 LDG.E 1 R2 4 2 0x7f0000000000 8589934592 4", None),
}


@pytest.mark.parametrize(("line", "expected"), ENCODINGS.values(), ids=ENCODINGS)
def test_addresses(tmp_path, line, expected):
    trace = imported(tmp_path, header() + block([f"0010 {line} "]))
    found = lanes(trace)
    if expected is None:  # a row's offsets have 4 bytes: further lanes follow in rows of their own, in its sequence
        assert [addresses for _, addresses in found] == [{0: A}, {1: A + (1 << 33), 2: A + (1 << 33) + 4}]
        assert whole(trace).flags.tolist() == [SEQUENCE, 0]
    else:
        assert found == [("0x0010 LDG.E", {lane: A + offset for lane, offset in expected.items()})]


def test_old_tracers_repeat_block_and_warp_per_line(tmp_path):
    line = "0 0 0 0 0010 00000003 1 R4 LDG.E 1 R2 4 1 0x7f0000000000 4"
    assert access(tmp_path, line, accelsim_tracer_version=2) == {0: A, 1: A + 4}
    assert access(tmp_path, line, accelsim_tracer_version=None) == {0: A, 1: A + 4}


def test_source_lines(tmp_path):
    text = header(enable_lineinfo=1, accelsim_tracer_version=4) + block(
        ["42 0010 00000001 1 R4 LDG.E 1 R2 4 2 0x7f0000000000 0"]
    )
    (op,) = imported(tmp_path, text).ops
    assert (op.file, op.line, op.text) == ("_Z1kPi", 42, "0x0010 LDG.E")


OPCODES = {
    "LDG.E.SYS": (OpKind.load, Space.global_, 4, False),
    "LDG.E.U8.SYS": (OpKind.load, Space.global_, 1, False),
    "LDG.E.S16": (OpKind.load, Space.global_, 2, False),
    "LDG.E.64.CONSTANT.SYS": (OpKind.load, Space.global_, 8, False),
    "LDG.E.128.STRONG.GPU": (OpKind.load, Space.global_, 16, True),
    "LDG.E.STRONG.SYS": (OpKind.load, Space.global_, 4, False),
    "STG.E.STRONG.GPU": (OpKind.store, Space.global_, 4, False),
    "LDS.U.64": (OpKind.load, Space.shared, 8, False),
    "STS.128": (OpKind.store, Space.shared, 16, False),
    "LDSM.16.M88.4": (OpKind.load, Space.shared, 16, False),
    "LDL": (OpKind.load, Space.local, 4, False),
    "STL.64": (OpKind.store, Space.local, 8, False),
    "LDC.64": (OpKind.load, Space.constant, 8, False),
    "ATOMG.E.ADD.64.STRONG.GPU": (OpKind.atomic, Space.global_, 8, False),
    "ATOMS.ADD": (OpKind.atomic, Space.shared, 4, False),
    "RED.E.ADD.F64.RN.STRONG.GPU": (OpKind.reduction, Space.global_, 8, False),
}


@pytest.mark.parametrize("opcode", OPCODES)
def test_opcodes(tmp_path, opcode):
    kind, *rest = OPCODES[opcode]
    address = "0x40" if rest[0] is not Space.global_ else "0x7f0000000040"
    written = "1 R4" if kind in (OpKind.load, OpKind.atomic) else "0"
    (op,) = imported(tmp_path, header() + block([f"0010 00000001 {written} {opcode} 2 R2 R3 4 2 {address}"])).ops
    assert [op.kind, op.space, op.width, op.bypass_l1] == [kind, *rest]


@pytest.mark.parametrize(
    ("registers", "kind"),
    [
        ("1 R4 {} 2 R2 R3", OpKind.atomic),
        ("1 R255 {} 2 R2 R3", OpKind.reduction),
        ("0 {} 3 R4 R2 R3", OpKind.atomic),  # after a predicate the tracer counts the destination among the sources
        ("0 {} 3 R255 R2 R3", OpKind.reduction),
    ],
)
def test_atomic_whose_old_value_goes_nowhere_is_reduction(tmp_path, registers, kind):
    line = f"0010 00000001 {registers.format('ATOMG.E.ADD.STRONG.GPU')} 4 2 0x7f0000000000"
    assert imported(tmp_path, header() + block([line])).ops[0].kind is kind


def test_windows_distinguish_generic_addresses(tmp_path):
    local = LOCAL_BASE + 0x40
    line = f"0010 0000000f 1 R4 LD.E 1 R2 4 0 {SHARED_BASE + 16:#x} 0x7f0000000000 {SHARED_BASE + 20:#x} {local:#x}"
    trace = imported(tmp_path, header() + block([line]))
    by_space = {trace.ops[op].space: found for op, (_, found) in zip(whole(trace).op, lanes(trace), strict=True)}
    assert by_space[Space.shared] == {0: 16, 2: 20}  # as offsets
    assert by_space[Space.global_] == {1: A}
    assert set(by_space) == {Space.global_, Space.shared, Space.local}
    assert whole(trace).flags.tolist() == [SEQUENCE, 0, 0]


def test_kepler_has_no_generic_loads(tmp_path):
    line = f"0010 00000001 1 R4 LD.E 1 R2 4 2 {SHARED_BASE:#x}"
    assert imported(tmp_path, header(binary_version=35) + block([line])).ops[0].space is Space.global_


def test_local_memory_is_laid_out_word_by_word(tmp_path):
    """A warp's lanes' words of one address fill a 128-byte line; warps share no line."""
    lines = ["0010 ffffffff 1 R4 LDL 1 R1 4 1 0xfffdc0 0", "0020 ffffffff 1 R4 LDL.64 1 R1 8 1 0xfffdc8 0"]
    trace = imported(tmp_path, header() + block(lines, lines))
    (_, word), (_, double), (_, other), _ = lanes(trace)
    assert np.diff(list(word.values())).tolist() == [4] * 31 and word[0] % 128 == 0
    assert double[0] - word[0] == 2 * 128 and np.diff(list(double.values())).tolist() == [8] * 31
    assert not {address // 128 for address in word.values()} & {address // 128 for address in other.values()}


def test_both_halves_of_ldgsts(tmp_path):
    lines = [
        "0010 00000001 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 2 0x0100",
        "0010 00000001 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 2 0x7f0000000000",
    ]
    ops = imported(tmp_path, header() + block(lines)).ops
    assert [(op.kind, op.space, op.bypass_l1) for op in ops] == [
        (OpKind.store, Space.shared, False),
        (OpKind.load, Space.global_, True),
    ]


LOAD, LOAD2 = "1 R4 LDG.E 1 R2 4 1 0x7f0000000000 4", "1 R6 LDG.E 1 R2 4 1 0x7f0000001000 4"
# Instructions after two loads (R4 and R6), and the flags of what accesses memory.
DEPENDENCE = {
    "none": (["1 R8 LDG.E 1 R2 4 1 0x7f0000002000 4"], [0]),
    "address": (["1 R8 LDG.E 1 R4 4 1 0x7f0000002000 4"], [SEQUENCE]),
    "overwritten": (["1 R4 LDG.E 1 R2 4 1 0x7f0000002000 4"], [SEQUENCE]),
    "computed with": (["1 R9 FFMA 3 R4 R5 R5 0", "1 R8 LDG.E 1 R2 4 1 0x7f0000002000 4"], [SEQUENCE]),
    "computed without": (["1 R9 FFMA 3 R5 R5 R5 0", "1 R8 LDG.E 1 R2 4 1 0x7f0000002000 4"], [0]),
    "stored": (["0 STG.E 2 R2 R4 4 1 0x7f0000002000 4"], [DATA]),
    "stored there": (["0 STG.E 2 R4 R2 4 1 0x7f0000002000 4"], [SEQUENCE]),
    "added": (["0 RED.E.ADD 2 R2 R6 4 1 0x7f0000002000 4"], [DATA]),
    "waited for": (["0 DEPBAR.LE 0 0", "1 R8 LDG.E 1 R2 4 1 0x7f0000002000 4"], [SEQUENCE]),
    "barrier": (["0 BAR.SYNC 0 0", "1 R8 LDG.E 1 R2 4 1 0x7f0000002000 4"], [SEQUENCE | BARRIER, SEQUENCE]),
    "arrival": (["0 BAR.ARV 0 0", "1 R8 LDG.E 1 R2 4 1 0x7f0000002000 4"], [0]),
    "once": (["1 R8 LDG.E 1 R4 4 1 0x7f0000002000 4", "1 R9 LDG.E 1 R6 4 1 0x7f0000002000 4"], [SEQUENCE, 0]),
    "zero register": (["1 R255 LDG.E 1 R2 4 1 0x7f0000000000 4", "1 R8 LDG.E 1 R255 4 1 0x7f0000000000 4"], [0, 0]),
}


@pytest.mark.parametrize(("lines", "flags"), DEPENDENCE.values(), ids=DEPENDENCE)
def test_sequences(tmp_path, lines, flags):
    lines = [f"{16 * n:04x} ffffffff {line}" for n, line in enumerate([LOAD, LOAD2, *lines])]
    assert whole(imported(tmp_path, header() + block(lines))).flags.tolist() == [SEQUENCE, 0, *flags]


def test_the_words_of_a_vector_are_loaded_too(tmp_path):
    vector = "0010 ffffffff 1 R4 LDG.E.128 1 R2 16 1 0x7f0000000000 16"
    for register, flag in ((7, SEQUENCE), (8, 0)):
        after = f"0020 ffffffff 1 R9 LDG.E 1 R{register} 4 1 0x7f0000000000 4"
        assert whole(imported(tmp_path, header() + block([vector, after]))).flags.tolist() == [SEQUENCE, flag]


def test_gaps_count_what_is_issued(tmp_path):
    """Instructions without access or without active lanes; not EXIT, and those after the last access in a row."""
    lines = [
        "0000 ffffffff 1 R1 MOV 0 0",
        "0010 00000000 1 R1 LDG.E 1 R2 4 1 0x0 0",
        "0020 ffffffff 1 R1 LDC 1 R2 0",
        "0030 ffffffff 0 CCTL.IVALL 1 R2 4 1 0x7f0000000000 4",
        f"0040 ffffffff {LOAD}",
        "0050 ffffffff 1 R1 MOV 0 0",
        "0060 ffffffff 0 EXIT 0 0",
    ]
    chunk = whole(imported(tmp_path, header() + block(lines)))
    assert (chunk.compute_run.tolist(), chunk.op.tolist(), chunk.flags.tolist()) == ([4, 1], [0, NO_OP], [SEQUENCE, 0])


def test_blocks_and_warps_may_be_unordered_or_missing(tmp_path):
    def line(address):
        return f"0010 00000003 1 R4 LDG.E 1 R2 4 2 {address:#x} 12" if address % 8 else line_strided(address)

    def line_strided(address):
        return f"0020 00000003 1 R4 LDG.E 1 R2 4 1 {address:#x} 4"

    text = header() + block([line(A + 8), line(A + 12)], [line(A + 20)], at="3,1,0", numbers=[1, 0])
    trace = imported(tmp_path, text + block([line(A + 40)], at="1,0,0", numbers=[1]))
    assert trace.block_ids.tolist() == [7, 1] and trace.first_instruction.tolist() == [0, 1, 3, 3, 4]
    assert [found[0] - A for _, found in lanes(trace)] == [20, 8, 12, 40]


def test_block_larger_than_buffers_goes_out_in_parts(tmp_path, monkeypatch):
    """The same trace, whatever is held in memory; only there warps must be in order."""
    explicit = "0020 0000000f 1 R4 LDG.E 1 R2 4 2 0x7f0000000000 4 8 12"
    many = [explicit, f"0010 ffffffff {LOAD}"] * 40
    text = header() + "".join(block(many, many[:30], at=f"{n},0,0") for n in range(3))
    digest = imported(tmp_path, text).digest
    monkeypatch.setattr(convert, "BATCH_ROWS", 50)
    monkeypatch.setattr(convert, "BATCH_ADDRESSES", 70)
    trace = imported(tmp_path, text)
    assert trace.digest == digest and trace.n_instructions == 330
    with pytest.raises(InputError, match=r"line 18: warp must not be below the one before it"):
        imported(tmp_path, header() + block(many, many, numbers=[1, 0]))


def pack_zst(data):
    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, pack_zst])
def test_packed_files_are_known_by_content(tmp_path, pack):
    text = header() + block([f"0010 ffffffff {LOAD}"])
    assert lanes(imported(tmp_path, pack(text.encode())))[0][1][1] == A + 4


@pytest.fixture
def listed(tmp_path):
    """A list with two kernels, the second of them packed after the list was written."""
    first = block([f"0010 ffffffff {LOAD}", f"0020 ffffffff {LOAD2.replace('1000', '9000')}"])
    (tmp_path / "kernel-1.traceg").write_text(header() + first)
    second = header(kernel_id=2, kernel_name="_Z3csrPi") + first
    (tmp_path / "kernel-2.traceg.xz").write_bytes(lzma.compress(second.encode()))
    (tmp_path / "kernelslist.g").write_text(
        "MemcpyHtoD,0x00007f0000000000,4096\nMemcpyDtoH,what,ever\n\nkernel-1.traceg\n"
        "MemcpyHtoD,0x00007f0000009000,128\nkernel-2.traceg\n"
    )
    return tmp_path / "kernelslist.g"


def test_a_list(listed, tmp_path):
    seen = []
    traces = import_accelsim(listed, tmp_path / "out", progress=lambda done, total: seen.append((done, total)))
    assert [trace.path.name for trace in traces] == ["kernel-1.h5", "kernel-2.h5"]
    names = [[trace.arrays[op.array].name for op in trace.ops] for trace in traces]
    assert names == [["copy1", "global"], ["copy1", "copy2"]]  # what was copied before the launch
    assert [trace.parameters["order"] for trace in traces] == [0, 1]
    assert traces[0].arrays[0].base == A and traces[0].arrays[0].bytes == 4096
    assert seen == sorted(seen) and seen[-1][0] == seen[-1][1] > 0


@pytest.mark.parametrize("wanted", ["2", "csr", "kernel-2", "kernel-2.traceg.xz"])
def test_chosen_kernels(listed, tmp_path, wanted):
    (trace,) = import_accelsim(listed, tmp_path / "one.h5", [wanted])
    assert (trace.kernel, trace.path) == ("_Z3csrPi", tmp_path / "one.h5")
    assert trace.parameters["order"] == 1, "of all launches of the list"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("MemcpyHtoD,0x10\nkernel-1.traceg\n", "line 1 is b'MemcpyHtoD,0x10'; give"),
        ("MemcpyHtoD,0x10,99999999999999999999\nkernel-1.traceg\n", "line 1 is"),
        ("\nkernel-9.traceg\n", "line 2 names 'kernel-9.traceg', which is not there"),
        ("kernel/../../kernel-1.traceg\n", "line 1 names 'kernel/../../kernel-1.traceg'; give a file in the list's"),
        ("MemcpyHtoD,0x10,4\n", "file names no kernel"),
        ("", "file names no kernel"),
    ],
)
def test_bad_lists(listed, tmp_path, content, message):
    listed.write_text(content)
    with pytest.raises(InputError, match="^" + str(listed)) as error:
        import_accelsim(listed, tmp_path / "out")
    assert message in str(error.value) and not (tmp_path / "out").exists()


def test_wrong_choices(listed, tmp_path):
    with pytest.raises(InputError, match="kernel 7 does not exist; there are 1 _Z1kPi, 2 _Z3csrPi"):
        import_accelsim(listed, tmp_path, ["7"])
    with pytest.raises(InputError, match="is one file for 2 kernels"):
        import_accelsim(listed, tmp_path / "one.h5")


@pytest.mark.slow
def test_memory_stays_bounded(tmp_path):
    """A 60 MB trace in 160 blocks takes no more memory to import than one of 12 MB."""
    script = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from memsim.sources.imported.accelsim.convert import convert\n"
        "convert(Path(sys.argv[1]), sys.argv[2])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    deltas = " ".join(["4 8 -4"] * 10)
    warp = [f"0010 ffffffff 1 R4 LDG.E 1 R2 4 2 0x7f0000000000 {deltas} 4", "0020 ffffffff 1 R5 MOV 1 R4 0"] * 1300
    peak = {}
    for blocks in (32, 160):
        path = tmp_path / f"{blocks}.traceg"
        with path.open("w") as file:
            file.write(header(grid_dim=f"({blocks},1,1)"))
            for n in range(blocks):
                file.write(block(warp, warp, at=f"{n},0,0"))
        done = subprocess.run(
            [sys.executable, "-c", script, path, tmp_path / "out.h5"], capture_output=True, text=True, check=True
        )
        peak[blocks] = int(done.stdout)
        assert Trace.open(tmp_path / "out.h5").n_instructions == blocks * 2 * 1300 + blocks * 2
        path.unlink()
    assert peak[160] < peak[32] + 40_000  # KiB


def test_exports_what_it_imports(tmp_path):
    """Base and stride for a run of lanes, deltas for others, as the tracer writes them."""
    lines = [
        "0010 ffffffff 1 R4 LDG.E.64 1 R2 8 1 0x7f0000000000 8",
        "0020 00000005 1 R6 LDG.E 1 R2 4 2 0x7f0000000000 8",
        "0030 0000000f 1 R7 LDG.E.STRONG.GPU 1 R2 4 2 0x7f0000000100 4 8 -100",
    ]
    export_accelsim([imported(tmp_path, header() + block(lines))], tmp_path / "out", pack=True)
    text = lzma.decompress((tmp_path / "out" / "kernel-1.traceg.xz").read_bytes()).decode().splitlines()
    accesses = [line.split(None, 1)[1].strip() for line in text if " LDG" in line]
    assert accesses == [
        "ffffffff 1 R8 LDG.E.64 1 R2 8 1 0x7f0000000000 8",
        "00000005 1 R10 LDG.E 1 R2 4 2 0x7f0000000000 8",
        "0000000f 1 R11 LDG.E.STRONG.GPU 1 R2 4 2 0x7f0000000100 4 8 -100",
    ]


def waits(trace):
    chunk = whole(trace)
    columns = (chunk.op, chunk.compute_run, chunk.wait_long, chunk.wait_short, chunk.wait_copies)
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)]


def test_uses_of_registers_wait_for_their_loads(tmp_path):
    """Two loads; arithmetic before the first use does not wait, the use waits for the older one, a store for both."""
    lines = [
        "0000 ffffffff 1 R8 LDG.E 1 R2 4 1 0x1000 4",
        "0010 ffffffff 1 R9 LDG.E 1 R2 4 1 0x2000 4",
        "0020 ffffffff 1 R4 IADD3 2 R4 R5 0",
        "0030 ffffffff 1 R5 FFMA 2 R8 R5 0",
        "0040 ffffffff 1 R6 FFMA 2 R5 R5 0",
        "0050 ffffffff 0 STS 2 R3 R9 4 1 0x7efeb0000000 4",
        "0060 ffffffff 1 R7 LDS 1 R3 4 1 0x7efeb0000000 4",
        "0070 ffffffff 0 STG.E 2 R2 R7 4 1 0x3000 4",
        "0080 ffffffff 0 EXIT 0 0",
    ]
    trace = imported(tmp_path, header(block_dim="(32,1,1)", grid_dim="(1,1,1)") + block(lines))
    none = (255, 255, 255)
    assert waits(trace) == [
        (0, 0, *none),
        (1, 0, *none),
        (NO_OP, 1, *none),
        (2, 2, 0, 255, 255),  # of the registers R8 and R9, both used from the row before on
        (3, 0, *none),
        (4, 0, 255, 0, 255),
    ]
    mix = trace.issue.mixes[whole(trace).instruction_mix[3]]
    assert (mix["count_fp32"], mix["critical_fp32"], mix["count_integer"]) == (2, 2, 0)
    assert (trace.issue.dependence, trace.issue.instructions) == ("scoreboard", "compiled")
