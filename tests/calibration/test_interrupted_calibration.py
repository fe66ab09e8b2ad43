"""An interrupt ends a calibration, and what was found before is kept."""

from __future__ import annotations

from memsim.calibration import calibrate
from memsim.calibration.probed_gpu import Properties

_NUMBERS = dict(
    sms=132, threads=2048, warp=32, blocks=32, registers=65536, shared_bytes=233472, l2_bytes=52428800,
    clock_khz=1980000, memory_khz=2619000, bus_bits=5120, walk_shared_bytes=33028,
)  # fmt: skip


class _Driver:
    def properties(self) -> Properties:
        return Properties("NVIDIA Fake", "9.0", _NUMBERS)

    def launch_ns(self) -> float:
        return 3900.0


def test_interrupted_calibration_keeps_its_values(monkeypatch):
    def interrupted(probed, known, progress):
        known.take({"l1.hit_latency_cycles": 33}, "one element walked in circles")
        raise KeyboardInterrupt

    monkeypatch.setattr(calibrate, "measure", interrupted)
    name, known = calibrate.calibrate_gpu(_Driver(), "h100", "curve.csv", lambda what: None)
    assert name == "NVIDIA Fake" and known.interrupted and "interrupted" in known.left[-1]
    assert known.values["l1.hit_latency_cycles"].value == 33
    assert known.values["launch.idle_cycles"].value == 7722
