"""What a notebook shows, and what a prompt does."""

from __future__ import annotations

import pytest
import synthetic

import memsim
from memsim.analysis.compare import compare
from memsim.analysis.result import RunResult as Bare
from memsim.interactive import held
from memsim.interactive_result import Result


@pytest.fixture(scope="module")
def result():
    return Result(synthetic.spmv(6))


def test_load_is_found_by_text_array_or_place(result):
    assert result.loads["y[ind]"] is result.loads[4] is result.loads["y"]
    assert result.loads["indices"] is result.loads["spmv.py:43"]
    with pytest.raises(KeyError, match="'row_ptr' names 2 rows"):
        result.loads["row_ptr"]
    with pytest.raises(KeyError, match="is not the name of a row; there are row_ptr"):
        result.loads["nothing"]


def test_reprs_are_one_line(result):
    load = repr(result.loads["y"])
    assert "\n" not in load and "spmv.py:44 y[ind]" in load and "cycles" in load


def test_a_notebook_shows_tables_with_names_escaped():
    trials = synthetic.spmv(6)
    trials.arrays[4]["name"], trials.about["trace"]["kernel"] = "<b>", "<script>"
    hostile = Result(trials)
    shown = hostile._repr_html_() + held(compare(hostile, hostile))._repr_html_() + hostile.loads._repr_html_()
    assert "<b>" not in shown and "<script>" not in shown and "&lt;script&gt;" in shown
    assert f"{hostile.l2_read.mean * 100:.2f}" in shown and "1x (1 … 1)" in shown


def test_a_figure_by_name(result):
    assert len(result.plot("latency").axes) == 2
    with pytest.raises(ValueError, match="give one of ratios, convergence, loads, latency"):
        result.plot("pie")


def test_results_are_held_so_wherever_they_come_from(tmp_path):
    simulated = memsim.simulate(memsim.trace("saxpy", n=4096), gpu="tesla-c2050", trials=2)
    assert isinstance(simulated, memsim.Result) and isinstance(simulated, Bare)
    why = simulated.why()
    assert "saxpy" in why and repr(why) == str(why)
    assert isinstance(memsim.compare(simulated, simulated), type(held(compare(simulated, simulated))))


def test_figures_show_themselves(result):
    """In a notebook without a backend of matplotlib's."""
    assert result.plot("ratios")._repr_png_().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_result_is_a_frame_and_a_page(result, tmp_path):
    pytest.importorskip("pandas")
    frame = result.to_frame()
    assert frame.trial.tolist() == list(range(6)) and frame.l2_read.tolist() == result.l2_read.values.tolist()
    simulated = memsim.simulate(memsim.trace("saxpy", n=4096), gpu="tesla-c2050", trials=2)
    page = simulated.report(tmp_path / "page.html", quick=True)
    assert "<!doctype html>" in page.read_text() and "axpy on tesla-c2050" in page.read_text()


def test_gpus_are_a_table():
    found = memsim.gpus()
    assert "a100" in str(found) and "<table>" in found._repr_html_()
    name, gpu = found["a100"]
    assert name == "a100" and gpu.sm.count == 108
    assert found.records()[0].keys() >= {"name", "sms", "l2_bytes"}


def test_a_study_that_ran_shows_tables():
    study = memsim.Study(
        kernels={"saxpy": {"workload": "saxpy", "parameters": {"n": 4096}}},
        gpus="tesla-c2050",
        vary={"l1.mshrs": [4, 32]},
        trials=2,
    )
    found = study.run()
    assert isinstance(found, memsim.StudyResult) and "<table>" in found._repr_html_()
    assert "l1.mshrs" in found._repr_html_()
