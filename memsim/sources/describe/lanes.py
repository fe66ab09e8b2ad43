"""Values of a kernel: one number a lane.

Arithmetic follows C where Python and C differ:

- ``//`` and ``%`` of integers round towards zero; ``/`` is for floats (cast one operand with ``.astype``);
- types convert as in C: the wider wins, of two equally wide integers the unsigned one, integers with floats become
  that float type; a literal takes the type of the other operand (a float literal with integers is a float32);
- integers wrap around.

Every operation counts as the non-memory instructions that it becomes, of the warps that execute it
(:mod:`memsim.sources.describe.arithmetic`); a product of floats and the first sum that takes it in are one. Numpy's
elementwise functions work too: ``np.sqrt(v)``, ``np.maximum(a, b)``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from memsim.sources.describe.arithmetic import becomes, cast, conversions
from memsim.sources.describe.masks import Scope, Since, WarpFrame
from memsim.sources.describe.types import is_bool, operand_type

if TYPE_CHECKING:
    from memsim.sources.describe.batch import Batch

Operand = Any  # Lanes or a Python or numpy number


class Lanes(NDArrayOperatorsMixin):
    """A value of every lane; immutable.

    It may be used only inside the region (``where``, loop) it was computed in, where every active lane has it; to carry
    a value out of a region assign it to a variable declared outside, see :class:`LaneVariable`.
    """

    __slots__ = ("_batch", "data", "since", "frame", "scope", "op", "product")

    def __init__(
        self, batch: Batch, data: np.ndarray, since: Since, frame: WarpFrame, scope: Scope, op: int | None = None
    ) -> None:
        self._batch, self.data, self.since, self.frame, self.scope = batch, data, since, frame, scope
        self.op = op  # the atomic whose old value this is
        self.product = False  # whether it is one of floats that no sum has taken in

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    def astype(self, dtype: Any) -> Lanes:
        """The value converted as a C cast does."""
        to = np.dtype(dtype)
        return self._batch.evaluate(lambda data: data.astype(to), self, becomes=lambda data: cast(data.dtype, to))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Operand, **keywords: Any) -> Any:
        if method != "__call__" or keywords.get("out") is not None or ufunc.nout != 1:
            return NotImplemented
        if ufunc in (np.floor_divide, np.remainder):
            self._batch.check_divisor(inputs[1])
        meaning = _C_MEANING.get(ufunc, _Elementwise(ufunc))
        is_taken_in = ufunc in _SUMS and _takes_in_product(inputs)
        counts = conversions if is_taken_in else partial(becomes, ufunc, self._batch.fast_math)
        result = self._batch.evaluate(meaning, *inputs, becomes=counts)
        result.product = ufunc is np.multiply and result.dtype.kind == "f"
        return result

    # In-place operators would make a new value silently; Python then falls back to `v = v + w`, which is the same.
    def _no_inplace(self, other: Operand) -> Any:
        return NotImplemented

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = _no_inplace
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = __ipow__ = _no_inplace

    def __bool__(self) -> bool:
        raise TypeError(
            "lanes may differ: use `with t.where(...)`, t.select or t.range instead of if, and/or, while; np.maximum, "
            "np.minimum instead of max, min"
        )

    def __index__(self) -> int:
        raise TypeError("lanes may differ: a Python number is needed here; loop with t.range, keep values in a list")

    def __repr__(self) -> str:
        return f"Lanes({self.data!r})"


class LaneVariable(Lanes):
    """A value that changes, made by ``t.var``: assignments reach the active lanes only.

    ``v += x`` and the other in-place operators, and ``v.set(x)``, assign. ``w = v`` is another name for the same
    variable; ``w = +v`` is its value now.
    """

    __slots__ = ()

    def set(self, value: Operand) -> None:
        """Assign to the active lanes, converted to the variable's type."""
        self._batch.assign(self, value)

    def _assigned(self, ufunc: np.ufunc, other: Operand) -> LaneVariable:
        self._batch.assign(self, ufunc(self, other))
        return self

    def __iadd__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.add, other)

    def __isub__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.subtract, other)

    def __imul__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.multiply, other)

    def __itruediv__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.true_divide, other)

    def __ifloordiv__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.floor_divide, other)

    def __imod__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.remainder, other)

    def __iand__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.bitwise_and, other)

    def __ior__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.bitwise_or, other)

    def __ixor__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.bitwise_xor, other)

    def __ilshift__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.left_shift, other)

    def __irshift__(self, other: Operand) -> LaneVariable:
        return self._assigned(np.right_shift, other)


_SUMS = frozenset([np.add, np.subtract])


def _takes_in_product(inputs: tuple[Operand, ...]) -> bool:
    """Whether a sum's operand is a product that no other sum has: nvcc contracts them to one instruction (-fmad).

    It does so to a product of the sum's own type only: another's is converted in between.
    """
    dtype = operand_type([value.data if isinstance(value, Lanes) else value for value in inputs])
    for value in inputs:
        if isinstance(value, Lanes) and value.product and value.dtype == dtype:
            value.product = False
            return True
    return False


def _converted(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The two operands of an arithmetic operation in their common type."""
    dtype = operand_type(values)
    return tuple(
        value.astype(dtype, copy=False) if isinstance(value, np.ndarray) else dtype.type(value) for value in values
    )


class _Elementwise:
    """A numpy function in C's types: two numeric operands are converted, a float64 made of narrower ones is float32."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc

    def __call__(self, *values: Any) -> np.ndarray:
        if len(values) == 2 and not all(is_bool(value) for value in values):
            values = _converted(values)
        result = self._ufunc(*values)
        if result.dtype == np.float64 and all(getattr(v, "dtype", None) != np.float64 for v in values):
            return result.astype(np.float32)
        return result


def _true_divide(first: Any, second: Any) -> np.ndarray:
    first, second = _converted((first, second))
    if first.dtype.kind != "f":
        raise TypeError("`/` of integers: use `//` for C's quotient, or cast one operand with .astype(np.float32)")
    return np.true_divide(first, second)


def _quotient(first: Any, second: Any) -> np.ndarray:
    first, second = _converted((first, second))
    if first.dtype.kind == "f":
        return np.floor_divide(first, second)
    return np.floor_divide(first, second) if _natural(first, second) else (first - np.fmod(first, second)) // second


def _remainder(first: Any, second: Any) -> np.ndarray:
    first, second = _converted((first, second))
    return np.remainder(first, second) if _natural(first, second) else np.fmod(first, second)


def _natural(first: Any, second: Any) -> bool:
    """Whether no operand is negative, so that rounding down (which numpy is quick at) is rounding towards zero."""
    return bool(np.min(first, initial=0) >= 0 and np.min(second, initial=0) >= 0)  # of no lanes, too


_C_MEANING: dict[np.ufunc, Any] = {np.true_divide: _true_divide, np.floor_divide: _quotient, np.remainder: _remainder}
