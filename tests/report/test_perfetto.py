"""Trace events: the rules of Google's "Trace Event Format", and agreement with a replay that nobody records."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from typer.testing import CliRunner

import memsim
from memsim.cli import app
from memsim.gpu.presets import load_gpu
from memsim.report.recorder import recorded_replay

GPU = "tesla-v100"


def call(*command):
    return CliRunner().invoke(app, [str(part) for part in command])


def check_format(document):
    """The document's rules for the kinds of events that are used: "JSON Object Format", "Complete", "Counter" and
    "Metadata Events"; and that of nesting: events of a thread are within each other or apart."""
    assert document["displayTimeUnit"] in ("ms", "ns") and all(
        isinstance(value, str) for value in document["otherData"].values()
    )
    threads, named = defaultdict(list), set()
    for event in document["traceEvents"]:
        assert isinstance(event["name"], str) and type(event["pid"]) is int and type(event["tid"]) is int
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name") and list(event["args"]) == ["name"]
            named.add((event["pid"], event["tid"]))
            continue
        assert event["ts"] >= 0
        if event["ph"] == "C":
            assert event["args"] and all(isinstance(value, int | float) for value in event["args"].values())
            continue
        assert event["ph"] == "X" and event["dur"] >= 0 and isinstance(event["cat"], str)
        threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert set(threads) <= named
    for spans in threads.values():
        open_until = []
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_until and open_until[-1] <= start + 1e-9:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 1e-9
            open_until.append(end)
    return threads


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    out = tmp_path_factory.mktemp("traces") / "saxpy.h5"
    return memsim.trace("saxpy", n=1 << 11, gpu=GPU, blocks="all", out=out)


def test_recording_changes_no_cycle(trace):
    recorder = recorded_replay(trace, load_gpu(GPU), most=10**6)
    plain = memsim.simulate(trace, GPU, trials=1, engine="reference")
    assert recorder.model.cycles == plain.trials.cycles[0]
    served = [span for span in recorder.spans if span.unit == "L2 slice"]
    assert len(served) == sum(recorder.model.statistics.counts[key] for key in _packets(recorder))
    blocks = [span for span in recorder.spans if span.name.startswith("block")]
    assert max(span.end for span in blocks) <= recorder.model.cycles
    assert {one.length for one in recorder.lengths} > {0}
    last = {(one.unit, one.number): one.length for one in recorder.lengths}
    assert set(last.values()) == {0}  # all queues are empty at the end


def _packets(recorder):
    """Keys of the counts of packets in L2."""
    return [key for key in recorder.model.statistics.counts if key[1] == "l2" and key[3] == "transactions"]


def test_no_block_follows_the_requested_transactions(trace):
    few = recorded_replay(trace, load_gpu(GPU), most=40)
    assert 40 <= few.model.statistics.transactions < 96
    with pytest.raises(memsim.InputError, match="is not an SM of"):
        recorded_replay(trace, load_gpu(GPU), sm=80)


def test_a_kernels_events_keep_to_the_format(trace, tmp_path):
    out = tmp_path / "k.json"
    done = call("export", "perfetto", trace.path, "--gpu", GPU, "--sm", "1", "-o", out)
    assert done.exit_code == 0, done.output
    document = json.loads(out.read_text())
    threads = check_format(document)
    names = {event["args"]["name"] if event["ph"] == "M" else event["name"] for event in document["traceEvents"]}
    assert {"SM 1", "L2", "DRAM", "load-store unit", "wait for data", "issue"} <= names
    assert any(name.startswith("load x") for name in names)
    assert {pid for pid, _ in threads} == {1, 2, 3}
    refused = call("export", "perfetto", trace.path, "--gpu", GPU, "-o", out)
    assert refused.exit_code == 2 and "exists" in refused.output


def test_a_programs_events_keep_to_the_format(trace, tmp_path):
    activities = [("to_gpu", 1, 1 << 16), ("launch", 3, 0), ("launch", 4, 1), ("wait_device", 1, 0)]
    found = memsim.profile_program([trace, trace], GPU, quick=True, activities=activities)
    found.save(tmp_path / "p.h5")
    assert call("export", "perfetto", tmp_path / "p.h5", "-o", tmp_path / "p.json").exit_code == 0
    document = json.loads((tmp_path / "p.json").read_text())
    check_format(document)
    kernels = [event for event in document["traceEvents"] if event.get("cat") == "kernel"]
    assert len(kernels) == 2 and kernels[0]["args"]["launches"] == 2
    memsim.profile_program([trace], GPU, quick=True).save(tmp_path / "q.h5")
    refused = call("export", "perfetto", tmp_path / "q.h5", "-o", tmp_path / "q.json")
    assert refused.exit_code == 2 and "launches.json" in refused.output
