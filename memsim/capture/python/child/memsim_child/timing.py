"""Tuners' timers answer with memsim's simulated times: a callable runs once, and its launches are simulated."""

import functools
import os
import sys

from memsim_child import driver, tuning

_depth = 0
_interrupted = False  # a callable timed another one, so its own time has a hole
_noted = set()
_called = {}  # functions of `perf_report`, by their lines (providers) that they were called for
_left_out = None  # whether functions of `perf_report` are not called, as the program has launched kernels before
_runs_once = False  # a function of `perf_report` is called for its launches: what it times runs once, as it is


class NoTime(float):
    """Zero milliseconds, by which programs divide: operations per second are then infinite."""

    def __new__(cls, *_):
        return super().__new__(cls, 0.0)

    def __mul__(self, other):
        return NoTime()

    __rmul__ = __truediv__ = __mul__

    def __rtruediv__(self, other):
        return float("inf")


def milliseconds(function, flushed):
    """The simulated time of the launches of ``function()``; 0 with a note where it launches nothing."""
    global _depth, _interrupted
    if _depth:
        driver.benchmark_end()  # what an outer timer has seen up to here is timed again below
        _interrupted = True
    _depth += 1
    try:
        for _ in range(3):  # again where the callable timed others, as an autotuner does at its first call
            _interrupted = False
            time, launches = _once(function, flushed)
            if not _interrupted:
                break
    finally:
        _depth -= 1
        if _depth:
            _interrupted = True
            driver.benchmark_begin(False)
    if not launches:
        _note_no_launch(function)
        return NoTime()
    return time


def _once(function, flushed):
    driver.benchmark_begin(flushed)
    try:
        function()
    except BaseException:
        driver.benchmark_end()
        raise
    return driver.benchmark_end()


def _note_no_launch(function):
    """Say once per place that a timed callable launches no kernel."""
    code = getattr(function, "__code__", None)
    position = "%s:%d" % (code.co_filename, code.co_firstlineno) if code else repr(function)
    if position not in _noted:
        _noted.add(position)
        print("memsim: %s launches no kernel, so its time is 0" % position, file=sys.stderr)


def _note(function, text):
    """Say something of a function of `perf_report`, once."""
    if function not in _noted:
        _noted.add(function)
        print("memsim: benchmark function %s %s" % (getattr(function, "__name__", function), text), file=sys.stderr)


def _without_measuring(function, lines, arguments, named):
    """Measure nan, without a call; if the program launches kernels in such functions alone, call them for these.

    A function is called for the first row of each line, as lines compare kernels: ``lines`` are the arguments that name
    one. What it then times runs once, outside of a benchmark. Tuners still time.
    """
    global _runs_once, _left_out
    if _left_out is None:
        _left_out = bool(driver.launches())
    if _left_out:
        _note(function, "was not called, so its times are nan; --every-launch calls it")
        return float("nan")
    line = repr([(name, named[name]) for name in named if name in lines])
    if line in _called.setdefault(function, set()):
        return float("nan")
    _called[function].add(line)
    _note(function, "was called once for each line, and its times are nan; --every-launch calls it for all rows")
    _runs_once = True
    try:
        function(*arguments, **named)
    finally:
        _runs_once = False
    return float("nan")


def _times_for_tuner():
    """Whether a timer was called by Triton or torch, not by the program."""
    frame = sys._getframe()
    while frame.f_globals.get("__name__", "").startswith(__package__):
        frame = frame.f_back
    return frame.f_globals.get("__name__", "").split(".")[0] in ("triton", "torch")


def _timed(function, flushed, quantiles, return_mode):
    """What `do_bench` returns for a callable."""
    if _runs_once and not _depth and not _times_for_tuner():
        function()
        return _summary(float("nan"), quantiles, return_mode)
    return _summary(milliseconds(function, flushed), quantiles, return_mode)


def _summary(time, quantiles, return_mode):
    """What `do_bench` returns if every repetition takes ``time``."""
    if quantiles is not None:
        times = [time] * len(quantiles)
        return times[0] if len(times) == 1 else times
    return [time] if return_mode == "all" else time


def take_triton(module):
    """Replace `triton.testing`'s timers."""

    def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", **_):
        return _timed(_without_gradients(fn, grad_to_none), True, quantiles, return_mode)

    def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean", **_):
        return _timed(_without_gradients(fn, grad_to_none), False, quantiles, return_mode)

    take_reports(module)
    for replacement in (do_bench, do_bench_cudagraph):
        original = getattr(module, replacement.__name__, None)
        if original is not None:
            replacement.__doc__ = original.__doc__
            setattr(module, replacement.__name__, tuning.remembered(replacement))


def take_reports(module):
    """Let memsim see when a function of `perf_report` runs: its launches outside `do_bench` prepare measurements.

    Where MEMSIM_NO_REPORTS is set, such a function measures nan (:func:`_without_measuring`).
    """
    report = getattr(module, "perf_report", None)
    if report is None:
        return

    def perf_report(benchmarks):
        given = benchmarks if isinstance(benchmarks, (list, tuple)) else [benchmarks]
        lines = {getattr(one, "line_arg", None) for one in given}

        def decorate(function):
            @functools.wraps(function)
            def run(*arguments, **named):
                if os.environ.get("MEMSIM_NO_REPORTS"):
                    return _without_measuring(function, lines, arguments, named)
                driver.report_begin()
                try:
                    return function(*arguments, **named)
                finally:
                    driver.report_end()

            return report(benchmarks)(run)

        return decorate

    perf_report.__doc__ = report.__doc__
    module.perf_report = perf_report


def _without_gradients(function, tensors):
    """The callable that `do_bench` times: gradients of ``tensors`` are dropped first."""
    if not tensors:
        return function

    def run():
        for tensor in tensors:
            tensor.grad = None
        return function()

    return run


def take_inductor(module):
    """Replace the timers of torch.compile."""

    def benchmark_gpu(self, _callable, *_, return_mode="min", **__):
        return _summary(milliseconds(_callable, True), None, return_mode)

    for name in dir(module):
        one = getattr(module, name)
        if isinstance(one, type) and "benchmark_gpu" in vars(one):
            one.benchmark_gpu = benchmark_gpu
