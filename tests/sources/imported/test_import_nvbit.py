"""NVBit's mem_trace: lines of all warps mixed, launches that overlap in the text, what 0x0 means."""

import numpy as np
import pytest
from accelsim_text import lanes, whole
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from nvbit_text import LOG, A, launch, line
from typer.testing import CliRunner

from memsim.cli import app
from memsim.sources.imported.nvbit import import_nvbit, importing
from memsim.support.errors import InputError
from memsim.trace.schema import Flag, OpKind, Space


def imported(folder, text, **options):
    path = folder / "mem_trace.log"
    path.write_text(text)
    return import_nvbit(path, folder, **options)


def test_a_log(tmp_path):
    first, second = imported(tmp_path, LOG)
    assert [trace.path.name for trace in (first, second)] == ["launch-0.h5", "launch-1.h5"]
    assert (first.kernel, second.kernel) == ("csr(int const*, float)", "k(int*)")
    assert (first.launch.grid, first.launch.block) == ((2, 2, 1), (40, 1, 1))
    assert (first.launch.registers, first.launch.shared_bytes) == (18, 512)
    assert first.block_ids.tolist() == [0, 1, 3] and second.block_ids.tolist() == [0]
    assert first.first_instruction.tolist() == [0, 1, 1, 2, 2, 2, 3]  # two warps per block
    assert [(op.text, op.kind, op.width) for op in first.ops] == [
        ("LDG.E.64", OpKind.load, 8),
        ("STG.E", OpKind.store, 4),
        ("RED.E.ADD.STRONG.GPU", OpKind.reduction, 4),
    ]
    assert lanes(first) == [
        ("LDG.E.64", {lane: A + 8 * lane for lane in range(32)}),
        ("RED.E.ADD.STRONG.GPU", {0: A}),  # although launch 1 was announced before it was printed
        ("STG.E", {0: A + 64, 2: A + 128, 3: A}),
    ]
    assert whole(first).flags.tolist() == [Flag.sequence] * 3  # nothing tells what depends on what


ZEROS = {
    "from 0 on": ([4 * lane for lane in range(32)], range(32)),
    "first lanes": ([4 * lane for lane in range(8)], range(8)),
    "backwards": ([28 - 4 * lane for lane in range(8)], range(8)),
    "one for all": ([0] * 32, range(32)),
    "from lane 2 on": ([0, 0] + [4 + 4 * lane for lane in range(6)], range(1, 8)),
    "no common stride": ([0, 4, 12], [1, 2]),
    "nothing near 0": ([64, 68, 0, 0], [0, 1]),
    "one lane": ([0, 64], [1]),
}


@pytest.mark.parametrize(("addresses", "active"), ZEROS.values(), ids=ZEROS)
def test_zeros_of_shared_memory(tmp_path, addresses, active):
    (trace,) = imported(tmp_path, launch() + line(addresses, opcode="LDS"))
    ((_, found),) = lanes(trace)
    assert list(found) == list(active) and trace.ops[0].space is Space.shared


def test_lanes_beyond_the_block_do_not_exist(tmp_path):
    (trace,) = imported(tmp_path, launch() + line([A + 4 * lane for lane in range(32)], warp=1))
    ((_, found),) = lanes(trace)
    assert list(found) == list(range(8))  # of 40 threads


def test_what_variants_print(tmp_path):
    """Fields between opcode and addresses, and output of the program before a line on the same line."""
    usual = line([A, A + 4])
    (trace,) = imported(tmp_path, launch() + "50 %" + usual.replace("LDG.E.64 - ", "LDG.E.64 - READ - size 8 - "))
    assert lanes(trace) == [("LDG.E.64", {0: A, 1: A + 4})]


@drawn(25)
@given(st.data())
def test_any_order_through_the_disk(tmp_path_factory, data):
    """Records sorted in pieces are those of each warp in the order of the text, whatever fits into memory."""
    event = st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 1), st.integers(1, 5))
    events = data.draw(st.lists(event, min_size=1, max_size=60))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    text, expected = "".join(launch(number, grid="6,1,1") for number in range(3)), {}
    for number, cta, warp, count in events:
        addresses = (A + rng.integers(0, 1 << 20, count)).tolist()
        text += line(addresses, number=number, cta=f"{cta},0,0", warp=warp)
        expected.setdefault(number, {}).setdefault((cta, warp), []).append(dict(enumerate(addresses)))
    folder = tmp_path_factory.mktemp("log")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importing, "HELD_RECORDS", 32 + data.draw(st.integers(1, 40)))
        patch.setattr(importing, "BATCH_RECORDS", data.draw(st.integers(1, 40)))
        traces = imported(folder, text)
    assert [trace.parameters["launch"] for trace in traces] == sorted(expected)
    for trace in traces:
        of_launch = expected[trace.parameters["launch"]]
        found = lanes(trace)
        for warp in range(trace.n_warps):
            key = (int(trace.block_ids[warp // 2]), warp % 2)
            rows = slice(trace.first_instruction[warp], trace.first_instruction[warp + 1])
            assert [addresses for _, addresses in found[rows]] == of_launch.pop(key, [])
        assert not of_launch
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["mem_trace.log", *(f"launch-{number}.h5" for number in expected)]
    )


def test_chosen_launches(tmp_path):
    (trace,) = imported(tmp_path, LOG, kernels=["1"])
    assert trace.kernel == "k(int*)" and trace.parameters["order"] == 1
    (trace,) = imported(tmp_path, LOG, kernels=["csr"])
    assert trace.kernel.startswith("csr")
    with pytest.raises(InputError, match="kernel 9 does not exist; there are 0 csr"):
        imported(tmp_path, LOG, kernels=["9"])


WRONG = {
    "no log": ("hello\n", "file has no access of NVBit's mem_trace"),
    "launches alone": (launch(), "file has no access of NVBit's mem_trace"),
    "unknown launch": (line([A]), "line 1: grid_launch_id names no launch"),
    "twice": (launch() + launch(), "line 2: grid launch id 0 appears twice"),
    "old launch line": (launch().split(" - grid size")[0] + "\n", "line 1: LAUNCH must continue with"),
    "huge block": (launch(block="1024,1024,1"), "line 1: LAUNCH has a block size"),
    "huge grid": (launch(grid="2147483647,65535,65535"), "line 1: LAUNCH has a grid size"),
    "no grid": (launch(grid="0,1,1"), "line 1: LAUNCH has a grid size"),
    "block outside": (launch() + line([A], cta="2,0,0"), "line 2: CTA must be"),
    "warp outside": (launch() + line([A], warp=2), "line 2: warp must be"),
    "cut": (launch() + line([A])[:200], "line 2: addresses must be 32"),
    "cut early": (launch() + line([A])[:52], "line 2: MEMTRACE must continue with"),
    "cut earlier": (launch() + line([A])[:40], "line 2: MEMTRACE must continue with"),
    "cut at once": (launch() + line([A])[:30], "line 2: MEMTRACE must continue with"),
    "address": (launch() + line([A]).replace("0x0000000000000000 \n", "0xffffffffffffffff \n"), "line 2: addresses"),
    "opcode": (launch() + line([A], opcode="0x12"), "line 2: opcode must begin"),
    "unknown opcode": (launch() + line([A], opcode="WARPSPEED"), "line 2: opcode accesses memory, but its effect"),
    "wide opcode": (launch() + line([A], opcode="LDG.E.256"), "line 2: opcode accesses 32 bytes"),
    "local": (launch() + line([A], opcode="LDL"), "line 2: addresses of local memory"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_wrong_logs(tmp_path, text, message):
    with pytest.raises(InputError) as error:
        imported(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path}/mem_trace.log: {message}") and "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["mem_trace.log"]


@pytest.mark.parametrize(
    ("out", "message"),
    [("no/such", "folder {}/no does not exist; create it first"), ("one.h5", "file is one file for 2 kernels")],
)
def test_places_that_do_not_fit(tmp_path, out, message):
    path = tmp_path / "mem_trace.log"
    path.write_text(LOG)
    with pytest.raises(InputError) as error:
        import_nvbit(path, tmp_path / out)
    assert str(error.value).startswith(f"{tmp_path / out}: {message.format(tmp_path)}")
    assert list(tmp_path.iterdir()) == [path]


def test_the_command(tmp_path):
    (tmp_path / "mem_trace.log").write_text(LOG)
    done = CliRunner().invoke(app, ["import", "nvbit", str(tmp_path / "mem_trace.log"), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0 and f"{tmp_path}/out/launch-1.h5: k(int*), grid 2x2x1" in done.output
