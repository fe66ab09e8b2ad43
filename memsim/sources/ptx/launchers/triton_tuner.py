"""Triton's autotuner and benchmarks without a GPU: what they time is simulated, and not kept for a real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from memsim.sources.ptx.launchers.capturing import Capturing

BENCHES = ("do_bench", "do_bench_cudagraph")  # of triton.testing: they time by a device's events


@contextmanager
def tuners_caught(capturing: Capturing) -> Iterator[None]:
    """Inside the block, ``capturing`` tells autotuners and ``triton.testing.do_bench`` their times."""
    from triton import knobs, testing
    from triton.runtime.autotuner import Autotuner

    own, own_bench, met = Autotuner.run, Autotuner._bench, {}
    runs: list[dict[Any, list[Any]]] = []  # of each that goes on, one inside the other, calls by configuration

    @wraps(own)
    def run(tuner: Any, *arguments: Any, **named: Any) -> Any:
        if id(tuner) not in met:
            met[id(tuner)] = tuner, tuner.cache_results
            _forget(tuner)
            tuner.cache_results = False  # simulated times must not be what a GPU's tuner finds on disk
        runs.append({})
        try:
            return own(tuner, *arguments, **named)
        finally:
            runs.pop()

    @wraps(own_bench)
    def bench(tuner: Any, *arguments: Any, config: Any, **named: Any) -> Any:
        first = len(capturing.timed)
        times = own_bench(tuner, *arguments, config=config, **named)
        runs[-1][config] = capturing.timed[first:]  # equal configurations are one, and the last counts, as in Triton
        return times

    def tell(
        fn: Any, best_config: Any, configs_timings: Mapping[Any, Sequence[float]], cache_hit: bool = False, **_: Any
    ) -> None:
        if not cache_hit:
            capturing.notes.append(_won(fn.__name__, capturing.gpu.name, best_config, configs_timings))
            capturing.tell_tuned(fn.__name__, [(config.all_kwargs(), calls) for config, calls in runs[-1].items()])

    benches = {name: getattr(testing, name) for name in BENCHES if hasattr(testing, name)}
    listener, knobs.autotuning.listener = knobs.autotuning.listener, tell
    Autotuner.run, Autotuner._bench = run, bench
    for name in benches:
        setattr(testing, name, _bench(capturing))
    try:
        yield
    finally:
        Autotuner.run, Autotuner._bench = own, own_bench
        knobs.autotuning.listener = listener
        for name, bench in benches.items():
            setattr(testing, name, bench)
        for tuner, cache_results in met.values():
            _forget(tuner)
            tuner.cache_results = cache_results


def _forget(tuner: Any) -> None:
    """What a tuner found and with what: of another GPU, or none."""
    tuner.cache.clear()
    tuner.__dict__.pop("do_bench", None)


def _won(kernel: str, gpu: str, best_config: Any, timings: Mapping[Any, Sequence[float]]) -> str:
    times = {str(config): times[0] for config, times in timings.items() if times[0] < float("inf")}
    if not times:
        return f"{kernel} is not tuned for {gpu}: none of its {len(timings)} configurations can be launched there"
    best, worst = min(times.values()), max(times, key=lambda config: times[config])
    return (
        f"{kernel} tuned for {gpu}, {len(times)} configurations simulated: {best_config} takes "
        f"{best:.3g} ms; {worst} {times[worst] / best:.2f} times as long"
    )


def _bench(capturing: Capturing) -> Callable[..., Any]:
    def bench(
        fn: Callable[[], Any],
        *_: Any,
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
        **__: Any,
    ) -> float | list[float]:
        time = capturing.benchmark(fn)[0]  # of one simulation: every quantile and mean of it is the same
        if quantiles is not None and len(quantiles) > 1:
            return [time] * len(quantiles)
        return [time] if quantiles is None and return_mode == "all" else time

    return bench
