"""The baseline file: written in a stable order, read as it was, and refused with the field that is wrong."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.gate.baseline import Baseline, BaselineKernel, BaselineProgram
from memsim.gate.figures import AccessFigures
from memsim.support.errors import InputError

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20)
POSITIVE = st.floats(0, 1e12).map(lambda one: float(f"{one:.4g}"))
ACCESS = st.builds(
    AccessFigures, TEXT, st.integers(0, 999), TEXT, TEXT, TEXT, TEXT, *[POSITIVE] * 5, waiting=st.floats(0, 1)
)
KERNEL = st.builds(
    BaselineKernel,
    kernel=TEXT, gpu=TEXT, launches=st.integers(1, 99), time_us=POSITIVE.filter(bool), sectors_per_request=POSITIVE,
    bank_conflicts=POSITIVE, dram_bytes=POSITIVE, occupancy=st.floats(0, 1), instructions=POSITIVE,
    registers=st.integers(0, 255), shared_bytes=st.integers(0, 1 << 20), code=TEXT,
    allowed=st.just({"time": 0.5}) | st.just({}), accesses=st.lists(ACCESS, max_size=3),
)  # fmt: skip
PROGRAM = st.builds(
    BaselineProgram, files=st.lists(TEXT, min_size=1), arguments=st.lists(TEXT), kernels=st.lists(KERNEL, max_size=3)
)


@given(st.lists(PROGRAM, max_size=2), st.randoms(use_true_random=False))
def test_baseline_reads_as_written(tmp_path_factory, programs, order: random.Random):
    path = tmp_path_factory.mktemp("baseline") / "b.toml"
    path.write_text(text := Baseline(programs=programs).text(), encoding="utf-8")
    read = Baseline.read(path)
    assert read.text() == text
    shuffled = [one.model_copy(update={"kernels": order.sample(one.kernels, len(one.kernels))}) for one in programs]
    if len({(one.kernel, one.gpu) for program in programs for one in program.kernels}) == sum(
        len(program.kernels) for program in programs
    ):
        assert Baseline(programs=shuffled).text() == text


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (None, "does not exist; create it: memsim check --update"),
        ("version = 2", "version is 2; this memsim reads 1"),
        ("a = ", "is not TOML"),
        ("[allowed]\ntime = -1", "allowed.time is invalid"),
        ("[allowed]\nspeed = 1", "allowed.speed is invalid"),
        ("[[programs]]\nfiles = []", "programs.0.files is invalid"),
        ("[[programs]]\nfiles = ['a.cu']\n[[programs.kernels]]\nkernel = 'k'", "programs.0.kernels.0.gpu is invalid"),
    ],
)
def test_wrong_file_is_refused_by_field(text, reported, tmp_path):
    path = tmp_path / "b.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=reported):
        Baseline.read(path)
