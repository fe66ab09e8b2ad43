"""Reports the configurations that the tuners of Triton and torch.compile have tried, and the benchmark of each.

Triton calls `knobs.autotuning.listener` with the times that its timer returned. Releases before 3.8 have no listener.
"""

import collections
import functools
import json
import sys

from memsim_child import driver

_CALLS = 4096  # of timers, that a tuner may still report
_INFINITE = float("inf")  # Triton's time of a configuration that fails
_calls = collections.deque(maxlen=_CALLS)  # what a timer returned (None: it failed), number of the benchmark, error
_unreported = ""  # the Triton that reports nothing


def remembered(timer):
    """A timer of `triton.testing` whose calls are remembered until a tuner reports them."""

    @functools.wraps(timer)
    def run(*arguments, **named):
        global _unreported
        if _unreported:
            driver.report_tuned(json.dumps({"unreported": _unreported}))
            _unreported = ""
        try:
            times = timer(*arguments, **named)
        except Exception as error:
            _calls.append((None, 0, str(error)))
            raise
        _calls.append((times, driver.benchmarks - 1, ""))
        return times

    return run


def listen(knobs):
    """Have Triton report each kernel that it has tuned."""
    global _unreported
    if hasattr(knobs.autotuning, "listener"):
        knobs.autotuning.listener = _report
    else:
        import triton

        _unreported = "Triton %s" % triton.__version__


def _report(fn, configs_timings, cache_hit=False, **_):
    if cache_hit:  # by an earlier tuner of this run, which has reported them
        return
    failed = [error for times, _, error in _calls if times is None]
    configurations = []
    for config, times in reversed(configs_timings.items()):  # the latest failures are this tuner's
        one = {"chosen": config.all_kwargs()}
        number = next((number for known, number, _ in _calls if known is times), None)
        if number is not None:
            one["benchmark"] = number
        elif failed and _is_infinite(times):
            one["reason"] = failed.pop()
        else:
            one["reason"] = "was not timed by triton.testing.do_bench alone; leave out the tuner's do_bench"
        configurations.append(one)
    _send(fn.__name__, configurations[::-1])


def take_inductor(module):
    """Have torch.compile report each of its kernels that it has tuned."""
    tuner = getattr(module, "CachingAutotuner", None)
    tune = getattr(tuner, "benchmark_all_configs", None)
    if tune is None:
        return

    @functools.wraps(tune)
    def benchmark_all_configs(self, *arguments, **named):
        bench, numbers = self.bench, {}

        def numbered(launcher, *given, **options):
            before = driver.benchmarks
            milliseconds = bench(launcher, *given, **options)
            if before < driver.benchmarks and milliseconds != _INFINITE:
                numbers[launcher] = driver.benchmarks - 1
            return milliseconds

        self.bench = numbered
        try:
            times = tune(self, *arguments, **named)
        finally:
            del self.bench
        configurations = []
        for launcher in times:
            one = {"chosen": launcher.config.all_kwargs()}
            if launcher in numbers:
                one["benchmark"] = numbers[launcher]
            else:
                one["reason"] = "spills registers, or cannot be launched"
            configurations.append(one)
        _send(self.fn.__name__, configurations)
        return times

    tuner.benchmark_all_configs = benchmark_all_configs


def _send(kernel, configurations):
    sys.stdout.flush()
    driver.report_tuned(json.dumps({"kernel": kernel, "configurations": configurations}, default=str))


def _is_infinite(times):
    return isinstance(times, list) and times and times[0] == _INFINITE
