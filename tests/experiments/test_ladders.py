"""The studies of ladders: what their described kernels ask for, and how they time a product from two short ones."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from experiments.reduction_ladder import study as reductions
from experiments.reduction_ladder.programs import V100, captured
from experiments.sgemm_ladder import programs
from experiments.sgemm_ladder import study as products
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import OpKind


@pytest.mark.parametrize(("kernel", "lines"), [(1, 32 + 1), (2, 1 + 1)])
def test_step_of_described_products_touches_column_or_row(kernel, lines):
    """A warp of the first kernel has 32 rows of A and one column of B, one of the second a row and 32 columns."""
    tx = coalesce(programs.described(kernel, 32), load_gpu(programs.GPU))
    loads = tx.instructions[: tx.first_instruction[1]]
    loads = loads[(loads["kind"] == OpKind.load) & (loads["count"] > 0)]
    assert np.array_equal(loads["count"][:8].reshape(4, 2).sum(axis=1), [lines] * 4)


def test_product_takes_start_and_so_much_step(monkeypatch):
    """Of 2 ms and 0.01 ms a step: 4096 steps take 42.96 ms."""
    monkeypatch.setattr(products, "described", lambda kernel, k: k)
    time = SimpleNamespace
    monkeypatch.setattr(products.memsim, "simulate", lambda k, gpu, trials: time(kernel_time=time(mean=2 + 0.01 * k)))
    assert products.seconds(1, None, (8, 16)) == pytest.approx(0.04296)


def test_a_program_that_was_not_downloaded_is_named(tmp_path):
    with pytest.raises(
        InputError, match=r"reduce: reduce_v2_\*\.cu is missing; clone https://github\.com/Liu-xiandong"
    ):
        captured(V100, 2, tmp_path)


@pytest.mark.parametrize("study", [products, reductions])
def test_a_ladder_that_is_right_meets_its_aims(study):
    rows = {step: (name, figure, figure * 1.1) for step, (name, figure) in study.measured().items()}
    claims = list(study.claims(rows))
    assert len(claims) == len(rows) + 1
    assert all(claim.aim.met(claim.published, claim.ours) for claim in claims)


@pytest.mark.parametrize("study", [products, reductions])
def test_wrongly_ordered_ladder_misses_targets(study):
    measured = study.measured()
    backwards = reversed([figure for _, figure in measured.values()])
    rows = {
        step: (name, figure, 100 * other)
        for (step, (name, figure)), other in zip(measured.items(), backwards, strict=True)
    }
    assert not any(claim.aim.met(claim.published, claim.ours) for claim in study.claims(rows))
