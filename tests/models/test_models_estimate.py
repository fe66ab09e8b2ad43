"""``memsim estimate``: what it counts in a trace, by hand; that it obeys bandwidth; its text, JSON and bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fake_trace import ALL, FakeTrace, machine, static_instruction
from typer.testing import CliRunner

import memsim
from memsim.cli import app
from memsim.gpu.presets import load_gpu, override
from memsim.models.counts import count_instructions
from memsim.models.estimate import estimate
from memsim.trace.coalesce import coalesce
from memsim.trace.coalescing_rules import make_rules
from memsim.trace.ideal import least_transactions
from memsim.trace.reader import Trace
from memsim.trace.schema import OpKind

FX5600 = load_gpu("quadro-fx5600")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("estimate")


def transposed(folder, variant: str) -> Trace:
    return memsim.trace("transpose", n=128, variant=variant, out=folder / f"{variant}.h5", blocks="all")


@pytest.mark.parametrize(
    ("gpu", "transactions"), [("quadro-fx5600", 32), ("geforce-gtx280", 32), ("tesla-c2050", 32), ("tesla-v100", 32)]
)
def test_a_naive_transpose_stores_column_wise(folder, gpu, transactions):
    """A warp loads four rows of 32 words and stores four columns of 32."""
    counts = count_instructions(transposed(folder, "naive"), load_gpu(gpu))
    assert counts.warps == 16 * 8
    assert (counts.coal_mem_insts, counts.uncoal_mem_insts) == (4 * counts.warps, 4 * counts.warps)
    assert counts.uncoal_per_mw == transactions and counts.load_bytes_per_warp == 128
    assert counts.on_chip_insts == counts.barriers == 0


@pytest.mark.parametrize("gpu", ["quadro-fx5600", "tesla-v100"])
def test_a_tiled_transpose_is_coalesced(folder, gpu):
    counts = count_instructions(transposed(folder, "tiled"), load_gpu(gpu))
    assert (counts.coal_mem_insts, counts.uncoal_mem_insts) == (8 * counts.warps, 0)
    assert (counts.on_chip_insts, counts.barriers) == (8 * counts.warps, counts.warps)
    assert counts.comp_insts == counts.non_memory_insts + 9 * counts.warps


def test_tiling_a_transpose_is_predicted_to_pay():
    """The first step of Ruetsch and Micikevicius, NVIDIA 2009, at their size."""
    naive, tiled = (
        estimate(memsim.trace("transpose", n=2048, variant=variant, blocks="0:8"), FX5600)
        for variant in ("naive", "tiled")
    )
    assert naive.prediction.cycles > 2 * tiled.prediction.cycles
    assert naive.prediction.case == "memory"


@pytest.mark.parametrize("gpu", ["quadro-fx5600", "geforce-gtx280", "tesla-c2050", "tesla-v100"])
def test_streaming_takes_what_the_bandwidth_allows(folder, gpu):
    """y = a x + y moves 12 bytes an element; nothing else takes time once the GPU is full."""
    n = 1 << 20
    trace = memsim.trace("saxpy", n=n, out=folder / f"saxpy-{gpu}.h5", gpu=gpu)
    done = estimate(trace, load_gpu(gpu))
    ideal = 12 * n / done.machine.bandwidth_gb_per_s / 1e6
    assert ideal < done.milliseconds < 1.5 * ideal


CAPABILITIES = ["1.0", "1.1", "1.2", "1.3", "2.0", "3.5", "5.2", "7.0", "8.6", "9.0"]


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("l1", [True, False])
def test_dense_accesses_make_fewer_transactions_than_scattered(capability, l1):
    gpu = machine(capability, l1)
    widths = [4, 8, 16] if capability in ("1.0", "1.1") else [1, 2, 4, 8, 16]  # 1.0 coalesces no narrower words
    ops = [static_instruction(width, kind) for width in widths for kind in (OpKind.load, OpKind.store, OpKind.atomic)]
    dense = [(op, ALL, [4096 + ops[op].width * lane for lane in range(32)]) for op in range(len(ops))]
    scattered = [(op, ALL, [4096 + 512 * lane for lane in range(32)]) for op in range(len(ops))]
    made = coalesce(FakeTrace(ops, dense + scattered), gpu).instructions["count"]
    op, mask = np.tile(np.arange(len(ops), dtype=np.uint16), 2), np.full(2 * len(ops), ALL, np.uint32)
    least = least_transactions(make_rules(ops, gpu), op, mask)
    assert made[: len(ops)].tolist() == least[: len(ops)].tolist()
    assert (made[len(ops) :] >= 32).all() and (least[len(ops) :] <= 16).all()


def test_inactive_lanes_need_no_transactions():
    gpu = machine("2.0", False)  # without L1: sectors of 32 bytes
    rules = make_rules([static_instruction(4)], gpu)
    masks = np.array([ALL, 0xFF, 0x1FF, 1, 0xFFFF0000], np.uint32)
    assert least_transactions(rules, np.zeros(5, np.uint16), masks).tolist() == [4, 1, 2, 1, 2]


def test_launch_smaller_than_gpu_fills_it_once(folder):
    trace = transposed(folder, "naive")  # 16 blocks
    done = estimate(trace, override(load_gpu("tesla-v100"), {"sm.count": 80}))
    assert done.occupancy.blocks > 1 and done.kernel.active_blocks_per_sm == 1 and done.prediction.rep == 1


def test_the_command_prints_tables_and_json(folder):
    path = str(transposed(folder, "tiled").path)
    run = CliRunner().invoke(app, ["estimate", path, "--gpu", "quadro-fx5600"])
    assert run.exit_code == 0, run.output
    assert "limited by registers" in run.output and "MWP" in run.output and "derived" not in run.output
    run = CliRunner().invoke(app, ["estimate", path, "--gpu", "tesla-v100", "--set", "sm.registers=8192", "--json"])
    said = json.loads(run.stdout)
    done = estimate(Trace.open(path), override(load_gpu("tesla-v100"), {"sm.registers": 8192}))
    assert said["cycles"] == done.prediction.cycles and said["occupancy"]["limiters"] == ["registers"]
    assert said["case"] in ("few_warps", "memory", "computation") and "mem_ld_cycles" in said["derived"]


def test_the_python_function_is_what_the_command_runs(folder):
    path = transposed(folder, "tiled").path
    done = memsim.estimate(path, gpu="quadro-fx5600", settings={"mwp_cwp.mem_ld_cycles": 1000})
    assert done.machine.mem_ld_cycles == 1000 and done.prediction.mem_l == 1000


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--gpu", "quadro-fx5601"], "did you mean quadro-fx5600"),
        (["--set", "sm.registers=64"], "block needs 4096 registers; give a block that needs at most 64"),
        (["--set", "mwp_cwp.mem_ld_cycles=0"], "mwp_cwp.mem_ld_cycles is 0"),
        (["--set", "sm.warp_size=16", "--set", "sm.max_threads=512"], "warp_size is 32"),
    ],
)
def test_bad_input_ends_in_one_line(folder, more, message):
    run = CliRunner().invoke(app, ["estimate", str(transposed(folder, "tiled").path), *more])
    assert run.exit_code == 2 and message in run.stderr and run.stderr.count("\n") == 1, run.output
