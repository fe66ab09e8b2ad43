"""What workers share is shared by GPUs that agree in all that it depends on."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from divergent_lanes import LONG, traced

import memsim
from memsim.gpu.fields_read import agrees, recording_reads
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.mapping import layout
from memsim.montecarlo.shared_stages import fields_read, forget, made_once
from memsim.montecarlo.worker import TrialJob, replay
from memsim.support.errors import InputError
from memsim.trace.coalesce import coalesce
from memsim.trace.transactions import COLUMNS

OF_TEXTURE = "kmeans", dict(points=512, features=2)


@pytest.mark.parametrize(
    "gpu",
    [
        "tesla-c2050",
        *(pytest.param(gpu, marks=pytest.mark.slow) for gpu in ("gtx480", "tesla-c1060", "h100")),
        "tesla-v100",
    ],
)
@pytest.mark.parametrize(
    ("name", "parameters"), [("spmv", dict(rows=256, nnz_per_row=4, variant="scalar")), OF_TEXTURE]
)
def test_fields_that_were_not_read_change_nothing(name, parameters, gpu):
    """Every field of a GPU, one at a time: what its stage makes is the same, or the field was read."""
    trace, machine = memsim.trace(name, **parameters), load_gpu(gpu)
    read = {}
    transactions = coalesce(trace, recording_reads(machine, read))
    placed = {}
    layout(transactions, recording_reads(machine, placed))
    for field, other in neighbours(machine):
        if agrees(other, read):
            again = coalesce(trace, other)
            assert all(np.array_equal(getattr(again, one), getattr(transactions, one)) for one in COLUMNS), field
        if agrees(other, placed):
            again, first = layout(transactions, other), layout(transactions, machine)
            assert all(np.array_equal(getattr(again, one), getattr(first, one)) for one in vars(first)), field
    assert {"compute_capability", "architecture"} & read.keys() and "l1.sets" in placed


def neighbours(gpu):
    """The GPU with another value of a field, for each field that can have another by itself."""
    for section, fields in gpu.model_dump(mode="json").items():
        for name, value in fields.items() if isinstance(fields, dict) else ():
            expected = (
                (not value,) if isinstance(value, bool) else (value * 2, value // 2) if isinstance(value, int) else ()
            )
            for one in expected:
                with suppress(InputError):
                    yield f"{section}.{name}", override(gpu, {f"{section}.{name}": one})
                    break


def test_gpus_share_what_they_agree_in(tmp_path):
    made = []

    def make(path, gpu):
        made.append(gpu.l1.ways if gpu.l1.enabled else None)
        path.mkdir()

    base = load_gpu("tesla-c2050")
    off = override(base, {"l1.enabled": False})
    gpus = [base, override(base, {"l1.ways": 4}), override(base, {"dram.channels": 4}), off]
    paths = [made_once(tmp_path, "stage", gpu, make) for gpu in (*gpus, override(off, {"l1.ways": 4}))]
    assert made == [64, 4, None] and paths[0] == paths[2] != paths[1] and paths[3] == paths[4]
    forget()
    assert [made_once(tmp_path, "stage", gpu, make) for gpu in gpus] == paths[:4] and len(made) == 3
    assert sorted(fields_read(paths[0])) == ["l1.enabled", "l1.ways"] and fields_read(paths[3]) == ["l1.enabled"]


def test_each_gpu_has_its_own_divergence_rule(tmp_path):
    """In whatever order they come: a machine's workers share transactions."""
    trace = traced(LONG, tmp_path)
    gpus = [override(load_gpu("tesla-v100"), {"sm.divergence": way}) for way in ("interleaved", "in_turn")]

    def cycles(order, folder):
        jobs = [TrialJob(Execution.of(trace, gpu, tmp_path / folder), 0) for gpu in order]
        return [int(replay(job, 0, trace.path).trial.cycles) for job in jobs]

    both, turned = cycles(gpus, "one")
    assert cycles(gpus[::-1], "other") == [turned, both] and turned > 1.5 * both


def test_what_is_shared_is_made_once(tmp_path):
    made = []

    def make(temporary, gpu):
        made.append(temporary)
        time.sleep(0.2)
        temporary.write_text("whole")

    arguments = tmp_path / "folder", "it", load_gpu("tesla-c2050"), make
    found = []
    threads = [threading.Thread(target=lambda: found.append(made_once(*arguments))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(set(found)) == 1 and found[0].read_text() == "whole"


def test_what_could_not_be_made_leaves_nothing(tmp_path):
    gpu = load_gpu("tesla-c2050")

    def fail(temporary, gpu):
        temporary.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        made_once(tmp_path, "it", gpu, fail)
    assert [path.name for path in tmp_path.iterdir()] == ["it.lock"]
    made = made_once(tmp_path, "it", gpu, lambda temporary, gpu: temporary.write_text("whole"))
    assert made.read_text() == "whole"
