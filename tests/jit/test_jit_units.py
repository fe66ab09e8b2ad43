"""A function within a loop becomes a part of it, whoever calls it first, and has no wrappers and no file of its own."""

import gc

import numba
import numpy as np
import pytest

from memsim.jit.compiled import called, inlined, loop
from memsim.jit.jit_units import _Unit, being_compiled

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
INT = (numba.int64,)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def _loops():
    @inlined
    def twice(x):
        return 2 * x

    @inlined
    def maybe(x, often):
        """LLVM sees no call of `twice` where `often` is a constant 0."""
        return twice(x) if often else x

    @loop
    def whole(x):
        return maybe(x, 0) + maybe(x, x) + twice(x) + max(x, 3)

    return twice, maybe, whole


def _parts(function):
    return [isinstance(one.library, _Unit) for one in function.overloads.values()]


def test_only_loop_that_is_called_becomes_program(elsewhere):
    twice, maybe, whole = _loops()
    assert whole(np.int64(5)) == 5 + 10 + 10 + 5
    assert (_parts(whole), _parts(twice), _parts(maybe)) == ([False], [True], [True, True])
    assert len(list(elsewhere.rglob("*.nbc"))) == 1
    defined = {function.name for function in whole.overloads[INT].library.get_defined_functions()}
    assert not any("twice" in name for name in defined)  # within its caller
    assert gc.isenabled() and not being_compiled()


def test_callee_need_not_be_inlined_though_caller_must(elsewhere):
    """Numba gives a part the options of what it is compiled for, where it has none of its own."""

    @called
    def twice(x):
        return 2 * x

    @inlined
    def caller(x):
        return twice(x) + 1

    @loop
    def whole(x):
        return caller(x)

    def must_be_inlined(function):
        return ["alwaysinline" in one.library.get_llvm_str() for one in function.overloads.values()]

    assert whole(np.int64(5)) == 11
    assert (must_be_inlined(caller), must_be_inlined(twice)) == ([True], [False])


def test_part_that_python_calls_is_compiled_whole_too():
    twice, _, whole = _loops()
    whole(np.int64(5))
    assert twice(np.int64(21)) == 42
    assert _parts(twice) == [False]
    assert whole(np.int64(5)) == 30


def test_loop_called_from_python_may_be_inlined():
    twice, _, whole = _loops()
    assert twice(np.int64(21)) == 42 and whole(np.int64(5)) == 30


def test_loop_from_disk_may_be_inlined():
    _loops()[0](np.int64(1))
    twice, _, whole = _loops()
    assert twice(np.int64(21)) == 42 and whole(np.int64(5)) == 30
    assert sum(twice.stats.cache_hits.values()) == 1


def test_untypable_code_is_reported_and_leaves_nothing_begun():
    @inlined
    def wrong(x):
        return x.nothing

    @loop
    def whole(x):
        return wrong(x)

    with pytest.raises(numba.TypingError, match="nothing"):
        whole(np.int64(1))
    assert gc.isenabled() and not being_compiled()
    assert _loops()[2](np.int64(5)) == 30
