"""What workers share is named by all that it depends on."""

from __future__ import annotations

import threading
import time

import pytest
from parted_lanes import LONG, traced
from pydantic import BaseModel

import memsim
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.mapping import layout
from memsim.studies import node
from memsim.studies.node import NodeTask
from memsim.trace.coalesce import coalesce


class Watched:
    """A GPU that notes which of its fields are asked for."""

    def __init__(self, of, asked, prefix=""):
        self._of, self._asked, self._prefix = of, asked, prefix

    def __getattr__(self, name):
        found, place = getattr(self._of, name), self._prefix + name
        if isinstance(found, BaseModel):
            return Watched(found, self._asked, f"{place}.")
        # What follows from a field is that field.
        of = {"l1.serves_global": "l1.serves", "architecture": "compute_capability"}
        self._asked.add(of.get(place, place))
        return found


OF_TEXTURE = "kmeans", dict(points=512, features=2)


@pytest.mark.parametrize("gpu", ["tesla-c2050", "gtx480", "h100", "tesla-c1060", "tesla-v100"])
@pytest.mark.parametrize(
    ("name", "parameters"), [("spmv", dict(rows=256, nnz_per_row=4, variant="scalar")), OF_TEXTURE]
)
def test_keys_name_every_field_that_is_asked_for(name, parameters, gpu):
    """A field that coalescing or the layout comes to ask for, and that no key holds, would let points share wrongly."""
    trace = memsim.trace(name, **parameters)
    asked = set()
    transactions = coalesce(trace, Watched(load_gpu(gpu), asked))
    assert asked - {"name"} <= set(node._COALESCING)
    asked.clear()
    layout(transactions, Watched(load_gpu(gpu), asked))
    assert asked <= set(node._LAYOUT)


def test_each_gpu_has_its_own_divergence_rule(tmp_path):
    """In whatever order they come: a machine's workers share transactions."""
    trace = traced(LONG, tmp_path)
    gpus = [override(load_gpu("tesla-v100"), {"sm.divergence": way}) for way in ("interleaved", "in_turn")]

    def cycles(order, folder):
        tasks = [NodeTask(trace.digest, Execution.of(trace, gpu, tmp_path / folder), 0, False) for gpu in order]
        return [int(node.replay(task, 0, trace.path).trial.cycles) for task in tasks]

    both, turn = cycles(gpus, "one")
    assert cycles(gpus[::-1], "other") == [turn, both] and turn > 1.5 * both


def test_what_is_shared_is_made_once(tmp_path):
    made = []

    def make(temporary):
        made.append(temporary)
        time.sleep(0.2)
        temporary.write_text("whole")

    threads = [threading.Thread(target=node.once, args=(tmp_path / "folder", "it", make)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and (tmp_path / "folder" / "it").read_text() == "whole"


def test_what_could_not_be_made_leaves_nothing(tmp_path):
    def fail(temporary):
        temporary.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        node.once(tmp_path, "it", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["it.lock"]
    assert node.once(tmp_path, "it", lambda temporary: temporary.write_text("whole")).read_text() == "whole"
