"""Results files: what is saved comes back, and what is damaged is refused in one line."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import synthetic
from changing import changed, unsealed
from places import HELPERS

from experiments.robustness.damage import flipped
from memsim.analysis.result import RunResult
from memsim.gpu.components import COUNTERS, UNNAMED_COUNTERS
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.montecarlo import store
from memsim.montecarlo.trials import Trials
from memsim.profile.ops import OpProfile
from memsim.profile.reuse import OCTAVES
from memsim.report.text import tables
from memsim.support.errors import InputError


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "result.h5"
    store.save(path, synthetic.spmv(3))
    return path


def test_everything_comes_back(saved):
    before, after = synthetic.spmv(3), store.load(saved)
    for field in dataclasses.fields(Trials):
        one, other = getattr(before, field.name), getattr(after, field.name)
        if isinstance(one, np.ndarray):
            assert np.array_equal(one, other), field.name
        else:
            assert one == other, field.name


def test_only_the_file_is_left(saved):
    assert [path.name for path in saved.parent.iterdir()] == ["result.h5"]


def test_failed_write_leaves_old_file_and_no_other(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_args, **_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(h5py.Group, "create_dataset", full)
    with pytest.raises(InputError, match=r"result.h5: file cannot be written \(No space left on device\)"):
        store.save(saved, synthetic.spmv(2))
    assert saved.read_bytes() == before and len(list(saved.parent.iterdir())) == 1


FULL_DISK = """
import sys
import synthetic
from memsim.support.errors import InputError
from memsim.montecarlo import store
from tests.support.full_disk import limit_files

limit_files(int(sys.argv[2]), int(sys.argv[2]))
try:
    store.save(sys.argv[1], synthetic.spmv(3))
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("room", [0, 100, 5_000])
def test_full_disk_is_one_error_with_clean_exit(tmp_path, room):
    """A limit on the size of files stands in for the disk. HDF5 by itself crashes when it cannot flush at exit."""
    path = [str(Path(store.__file__).parents[2]), str(HELPERS)]
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path / "x.h5", str(room)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stderr == ""
    assert "x.h5: file cannot be written (File too large)" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("keep", [0, 7, 100, 0.5, 0.9, -1])
def test_truncated_files_are_refused(saved, keep):
    content = saved.read_bytes()
    end = int(keep * len(content)) if isinstance(keep, float) else keep
    saved.write_bytes(content[:end])
    with pytest.raises(InputError, match="result.h5"):
        store.load(saved)


def test_no_flipped_bit_is_read(saved):
    content, rng = saved.read_bytes(), np.random.default_rng(0)
    for _ in range(1000):
        saved.write_bytes(flipped(content, rng))
        with pytest.raises(InputError) as error:
            store.load(saved)
        assert "\n" not in str(error.value)


def test_exchanged_counters_of_two_ops_are_found(saved):
    with changed(saved) as file:
        counters = file["trials/counters"][:]
        counters[:, [0, 1], Level.l1] = counters[:, [1, 0], Level.l1]
        file["trials/counters"][:] = counters
    with pytest.raises(InputError, match="trials/counters are inconsistent: L2 is read another number of times"):
        store.load(saved)


def test_texts_are_shown_on_one_line(tmp_path):
    trials = synthetic.spmv(2)
    trials.about["trace"]["kernel"], trials.ops[0]["text"] = "spmv\n", "\x1b[31m"
    store.save(tmp_path / "r.h5", trials)
    loaded = store.load(tmp_path / "r.h5")
    assert (loaded.about["trace"]["kernel"], loaded.ops[0]["text"]) == ("spmv\\n", "\\x1b[31m")


def test_file_without_seal_is_refused(saved):
    unsealed(saved)
    with pytest.raises(InputError, match="result.h5: file is damaged or not an HDF5 file; give a complete"):
        store.load(saved)


def _attribute(name, value):
    def change(file):
        file.attrs[name] = value

    return change


def _replace(name, value):
    def change(file):
        del file[name]
        file[name] = value

    return change


def _json(name, change_value):
    def change(file):
        value = json.loads(file[name][()])
        change_value(value)
        _replace(name, json.dumps(value))(file)

    return change


def _pipes(cycles):
    executed = dict.fromkeys(store._EXECUTED_FIELDS, 1) | {"pipe_cycles": cycles}
    return _json("about", lambda about: about.update(executed=executed))


def _negative(file):
    file["trials/cycles"][0] = -1


def _link(file):
    del file["trials/cycles"]
    file["trials/cycles"] = h5py.ExternalLink("other.h5", "/secret")


@pytest.mark.parametrize(
    "change, complaint",
    [
        (_attribute("schema", "memsim-trace"), "schema is 'memsim-trace'"),
        (_attribute("schema", 3), "schema is"),
        (_attribute("version", [2, 0]), "version is 2.0; this memsim reads up to 1.x"),
        (_attribute("version", "new"), "version is not a pair"),
        (lambda file: file.__delitem__("trials/cycles"), "trials/cycles is missing"),
        (_link, "trials/cycles is missing"),
        (_replace("trials/cycles", np.zeros(3, "<f4")), "trials/cycles is float32"),
        (_replace("trials/cycles", np.zeros(2, "<i8")), "trials/cycles is int64"),
        (_negative, "trials/cycles holds negative values"),
        (_replace("about", "{"), "about is not JSON"),
        (_replace("about", "[" * 100_000), "about is not JSON"),
        (_replace("about", "[]"), "about is not a JSON object"),
        (_json("about", lambda about: about.pop("seed")), "about.seed is None"),
        (_json("about", lambda about: about["gpu"]["l1"].pop("hit_latency_cycles")), "about.gpu.l1.hit_latency_cycles"),
        (_json("about", lambda about: about["gpu"]["sm"].update(clock_mhz=0)), "about.gpu holds an impossible"),
        (_json("about", lambda about: about["trace"].update(blocks=0)), "about.trace holds an impossible number"),
        (_json("about", lambda about: about["trace"].update(path=[1])), r"about.trace.path is \[1\]; it must be"),
        (_pipes([1]), "about.executed.pipe_cycles is not a JSON object"),
        (_pipes({"fp31": 1.0}), "about.executed.pipe_cycles.fp31 is not known; pipes are alu, fma"),
        (_pipes({"fp32": "many"}), "about.executed.pipe_cycles.fp32 is 'many'; give cycles"),
        (_pipes({"fp32": -1}), "about.executed.pipe_cycles.fp32 is -1; give cycles"),
        (_pipes({"tensor": True}), "about.executed.pipe_cycles.tensor is True; give cycles"),
        (_pipes({"tensor": 1e999}), "about is not JSON"),
        (_replace("about", '{"seed": NaN}'), "about is not JSON"),
        (_json("ops", lambda ops: ops[0].update(line="four")), r"ops\[0\].line is 'four'"),
        (_json("ops", lambda ops: ops[0].update(array=5)), r"ops\[0\].array is 5; there are 5 arrays"),
        (_json("ops", lambda ops: ops.pop()), "counters is int64"),
    ],
)
def test_wrong_contents_are_named(saved, change, complaint):
    with changed(saved) as file:
        change(file)
    with pytest.raises(InputError, match=complaint):
        store.load(saved)


def test_pipe_cycles_and_trace_path_are_stored(saved):
    with changed(saved) as file:
        _pipes({"fp32": 2, "tensor": 0.5})(file)
        _json("about", lambda about: about["trace"].update(path="/t.h5"))(file)
    about = store.load(saved).about
    assert (about["executed"]["pipe_cycles"], about["trace"]["path"]) == ({"fp32": 2, "tensor": 0.5}, "/t.h5")


def test_no_time_without_size_of_wave(saved):
    def older(about):
        about["trace"]["wave_blocks"] = 0
        about["trace"]["blocks"] //= 2

    with changed(saved) as file:
        _json("about", older)(file)
    old = RunResult.load(saved)
    assert np.isnan(old.waves) and np.isnan(old.kernel_time.mean)
    assert "predicted kernel time –" in tables(old)


def test_older_files_tell_of_no_access_without_lanes(saved):
    executed = dict.fromkeys(store._EXECUTED_FIELDS, 1)
    del executed["masked"]
    with changed(saved) as file:
        _json("about", lambda about: about.update(executed=executed))(file)
        file.attrs["version"] = [1, 5]
    assert store.load(saved).about["executed"] == executed | {"masked": 0}


def test_older_files_have_their_counts_renamed(saved):
    executed = dict.fromkeys(store._EXECUTED_FIELDS, 1)
    older = {name: count for name, count in executed.items() if name != "compute_instructions"}
    with changed(saved) as file:
        _json("about", lambda about: about.update(executed=older | {"gap_instructions": 1}))(file)
        file.attrs["version"] = [1, 7]
    assert store.load(saved).about["executed"] == executed


def test_older_files_lack_counters_of_later_components(saved):
    """A file of 1.8 knows the prefetcher's counters alone: the columns of memory_side are absent, not damage."""
    known = [section for section, _ in COUNTERS].count("prefetcher")
    with changed(saved) as file:
        _json("about", lambda about: about["gpu"].update(prefetcher={"kind": "none"}))(file)
        _json("about", lambda about: about["gpu"].pop("memory_side", None))(file)
        file["trials"].pop("components")
        file["trials"]["components"] = np.zeros((3, known), np.int64)
        file.pop("component_counters")
        file.attrs["version"] = [1, 8]
    loaded = store.load(saved)
    assert loaded.components.shape == (3, len(COUNTERS)) and not loaded.components.any()
    assert RunResult.load(saved).components == {}


ONE_MORE_COUNTER = """
import sys
from dataclasses import replace
from memsim.gpu import prefetcher

counters = list(prefetcher.PREFETCHER.counters)
counters.insert(2, "new")
prefetcher.PREFETCHER = replace(prefetcher.PREFETCHER, counters=dict.fromkeys(counters, "new"))

from memsim.montecarlo import store

print(store.load(sys.argv[1]).components.tolist())
"""


@pytest.mark.parametrize("named", [True, False])
def test_a_counter_in_the_middle_shifts_none(tmp_path, named):
    """Later versions may declare a counter before the last one: columns go by name, in older files by their order."""
    before = synthetic.spmv(3)
    before.about["gpu"] |= {"memory_side": {"levels": 1}, "prefetcher": {"kind": "none"}}
    before.components[:, COUNTERS.index(("memory_side", "l3_writes"))] = [5, 6, 7]
    store.save(path := tmp_path / "r.h5", before)
    if not named:
        with changed(path) as file:
            file.pop("component_counters")
            del file["trials/components"]
            file["trials/components"] = before.components[:, : len(UNNAMED_COUNTERS)]
    done = subprocess.run([sys.executable, "-c", ONE_MORE_COUNTER, path], capture_output=True, text=True)
    assert done.stderr == "" and json.loads(done.stdout) == np.insert(before.components, 2, 0, axis=1).tolist()


@pytest.mark.parametrize("names", [["prefetcher.requests"], {"a": 1}, ["prefetcher.requests"] * len(COUNTERS)])
def test_names_of_counters_fit_their_columns(saved, names):
    with changed(saved) as file:
        _json("about", lambda about: about["gpu"].update(prefetcher={"kind": "none"}))(file)
        _replace("component_counters", json.dumps(names))(file)
    with pytest.raises(InputError, match="component_counters does not name each column"):
        store.load(saved)


@pytest.mark.parametrize(
    ("name", "axis", "known"), [("counters", -2, len(Event)), ("components", -1, len(UNNAMED_COUNTERS))]
)
def test_counters_of_other_versions(saved, name, axis, known):
    """An older file lacks the last counters, which are zero; one of a newer version has some that this cannot name."""
    with changed(saved) as file:
        _json("about", lambda about: about["gpu"].update(prefetcher={"kind": "none"}))(file)
        del file["component_counters"], file["trials/components"]
        file["trials/components"] = np.zeros((3, len(UNNAMED_COUNTERS)), np.int64)
    before = getattr(store.load(saved), name)
    for values in (before.take(range(known - 1), axis), np.concatenate([before] * 2, axis)):
        with changed(saved) as file:
            del file[f"trials/{name}"]
            file[f"trials/{name}"] = values
        if values.shape[axis] < before.shape[axis]:
            assert np.array_equal(getattr(store.load(saved), name), before)
    with pytest.raises(InputError, match=f"trials/{name} has counters of a newer memsim"):
        store.load(saved)


@pytest.mark.parametrize("has_components", [True, False])
def test_older_files_count_lookups_per_instruction(saved, has_components):
    """Before 1.11 the lookups in TLBs were an array of their own, by memory instruction."""
    before = store.load(saved)
    lookups = np.zeros((3, len(before.ops), 6), np.int64)
    lookups[:, 0, 0] = before.counters[:, :-1, Level.l2, :, CountUnit.transactions].sum(axis=(1, 2))
    with changed(saved) as file:
        sections = {"translation": {"enabled": True}} | ({"prefetcher": {"kind": "none"}} if has_components else {})
        _json("about", lambda about: about["gpu"].update(sections))(file)
        file["trials/translation"] = lookups
        file.pop("component_counters")
        del file["trials/components"]
        if has_components:
            file["trials/components"] = np.zeros((3, 9), np.int64)
    found = RunResult.load(saved).translation
    assert found.pop("sm_hit") == lookups.sum() / 3 and not any(found.values())


def test_profiles_of_older_files_lack_later_counts(saved):
    """As those from before atomics' addresses were."""
    without_addresses = {
        one.name: [0] * OCTAVES if one.name.endswith("_distances") else 0 for one in dataclasses.fields(OpProfile)
    }
    for name in ("addresses", "most_on_one", "partial_sectors"):
        del without_addresses[name]
    with changed(saved) as file:
        _json("about", lambda about: about.update(executed=dict.fromkeys(store._EXECUTED_FIELDS, 1)))(file)
        _json("ops", lambda ops: ops[0].update(profile=without_addresses))(file)
    assert OpProfile(**store.load(saved).ops[0]["profile"]).addresses == 0
    with changed(saved) as file:
        _json("ops", lambda ops: ops[0]["profile"].pop("sectors"))(file)
    with pytest.raises(InputError, match=r"ops\[0\].profile.sectors is None"):
        store.load(saved)


def test_a_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        store.load(tmp_path / "none.h5")


def test_no_trials_are_no_result(tmp_path):
    store.save(tmp_path / "empty.h5", synthetic.spmv(0))
    with pytest.raises(InputError, match="at least one"):
        store.load(tmp_path / "empty.h5")
