"""An exception anywhere in a replay, Ctrl-C too, ends the trial at once, as it is."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
import simpy
from budget import FIRST_SEED, cases
from test_invariance import scramble

from experiments.robustness.interrupts import ended, forked
from memsim.gpu.presets import load_gpu
from memsim.hierarchy import system
from memsim.support.errors import InputError

WATCHED = {system.__file__, *map(str, Path(simpy.__file__).parent.glob("*.py"))}
GPU = load_gpu("tesla-c2050")


class Injected:
    """Raises an exception at one of the lines that the simulation loop and SimPy execute."""

    def __init__(self, at: int, error: BaseException | None = None) -> None:
        self.lines, self._at, self._error = 0, at, error

    def __call__(self, frame, event, _):
        if frame.f_code.co_filename not in WATCHED:
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self._at:
                sys.settrace(None)
                raise self._error
        return self


def replay(tx, injected):
    built = system.System(tx, GPU, 2, np.random.SeedSequence(0))
    sys.settrace(injected)
    try:
        built.run()
    finally:
        sys.settrace(None)


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        pytest.param(InputError("a file", "field", "is wrong"), marks=pytest.mark.slow),
        pytest.param(MemoryError(), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_an_exception_at_any_line_ends_the_replay(tmp_path, error):
    """Some of all lines, drawn at random, in a process of its own: it could hang."""
    tx = scramble(GPU, blocks=2)
    counted = Injected(-1)
    replay(tx, counted)
    assert counted.lines > 1000

    def each():
        for at in random.Random(FIRST_SEED).choices(range(1, counted.lines + 1), k=cases(100, 60)):
            with pytest.raises(type(error)) as raised:
                replay(tx, Injected(at, error))
            assert raised.value is error, at

    log = tmp_path / "log.txt"
    assert ended(forked(each, log), 120) == 0, log.read_text()
