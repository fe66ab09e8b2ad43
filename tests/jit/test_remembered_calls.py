"""A remembered type of a call is the one that Numba works out."""

import operator

import pytest
from numba import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from memsim.jit import remembered_calls
from memsim.jit.remembered_calls import remembered_calls as remembered

CALLS = [
    (function, (one, other))
    for function in (operator.add, operator.floordiv, operator.lt, max)
    for one in (types.int64, types.float32, types.IntegerLiteral(3))
    for other in (types.int64, types.uint8)
]


@pytest.fixture
def context():
    made = cpu_target.typing_context
    made.refresh()
    return made


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_types_are_those_worked_out(context, function, arguments):
    kind = context.resolve_value_type(function)
    expected = kind.get_call_type(context, arguments, {})
    with remembered():
        assert [kind.get_call_type(context, arguments, {}) for _ in range(2)] == 2 * [expected]


def test_each_call_is_worked_out_once(context, monkeypatch):
    asked = []
    monkeypatch.setattr(remembered_calls, "_known", {})
    monkeypatch.setattr(remembered_calls, "_work_out", lambda *call: asked.append(call) or "signature")
    kind = context.resolve_value_type(operator.add)
    with remembered():
        for arguments in ((types.int64, types.int64), (types.int64, types.int64), (types.int64, types.uint8)):
            assert kind.get_call_type(context, arguments, {}) == "signature"
    assert len(asked) == 2


def test_what_has_no_type_stays_an_error(context):
    kind = context.resolve_value_type(operator.add)
    with remembered():
        for _ in range(2):
            with pytest.raises(TypingError):
                kind.get_call_type(context, (types.int64, types.none), {})
