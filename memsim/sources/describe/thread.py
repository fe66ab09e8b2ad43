"""What a kernel sees of the machine: its first argument, ``t``, in the shape of CUDA's built-in variables."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from memsim.sources.describe.arithmetic import CONTROL, INTEGER, LOOP_ITERATION, ONE, SHUFFLE
from memsim.sources.describe.arrays import DeviceArray
from memsim.sources.describe.batch import Batch
from memsim.sources.describe.lanes import Lanes, LaneVariable, Operand
from memsim.sources.describe.masks import Context, Scope, newest
from memsim.sources.describe.memory import DescribedMemory
from memsim.sources.describe.types import common_type, literal_type

LOOP_LIMIT = 1 << 17  # iterations of a loop with an open end


class Extent(NamedTuple):
    """CUDA's dim3: ints for extents, lanes for positions."""

    x: Any
    y: Any
    z: Any


class Thread:
    """The lanes of a batch of blocks, as the kernel names them.

    Attributes:
        thread_idx, block_idx: positions (``.x``, ``.y``, ``.z``), int32 lanes.
        block_dim, grid_dim: extents, ints.
        global_id: the thread's number in the grid, int32 lanes: of a one-dimensional launch
            ``block_idx.x * block_dim.x + thread_idx.x``.
        lane_id, warp_id: position in the warp, and the warp's in its block.
    """

    def __init__(self, batch: Batch, memory: DescribedMemory) -> None:
        self._batch, self._memory = batch, memory
        self.block_dim, self.grid_dim = Extent(*batch.shape.block), Extent(*batch.shape.grid)
        self._shared: dict[int, DeviceArray] = {}

    # -- who am I

    @cached_property
    def _in_block(self) -> np.ndarray:
        """Thread numbers in their block, [n_warps, warp_size]; those beyond the block's end belong to no thread."""
        shape = self._batch.shape
        numbers = np.arange(shape.warps_per_block * shape.warp_size, dtype=np.int32)
        return np.tile(numbers.reshape(-1, shape.warp_size), (len(self._batch.block_ids), 1))

    @cached_property
    def _block(self) -> np.ndarray:
        """Linear block numbers, [n_warps, warp_size]."""
        shape = self._batch.shape
        ids = np.repeat(self._batch.block_ids.astype(np.int32), shape.warps_per_block)
        return np.repeat(ids[:, None], shape.warp_size, axis=1)

    @cached_property
    def thread_idx(self) -> Extent:
        return self._position(self._in_block, self.block_dim)

    @cached_property
    def block_idx(self) -> Extent:
        return self._position(self._block, self.grid_dim)

    def _position(self, linear: np.ndarray, extent: Extent) -> Extent:
        along_x, rest = linear % extent.x, linear // extent.x
        return Extent(*map(self._batch.lanes, (along_x, rest % extent.y, rest // extent.y)))

    @cached_property
    def global_id(self) -> Lanes:
        return self._batch.lanes(self._block * np.int32(self._batch.shape.threads_per_block) + self._in_block)

    @cached_property
    def lane_id(self) -> Lanes:
        return self._batch.lanes(self._in_block % self._batch.shape.warp_size)

    @cached_property
    def warp_id(self) -> Lanes:
        return self._batch.lanes(self._in_block // self._batch.shape.warp_size)

    # -- values

    def var(self, value: Operand, dtype: Any = None) -> LaneVariable:
        """A variable: a value that assignments change in the active lanes.

        ``dtype`` is that of the value by default; an int literal makes an int32, a float literal a float32.
        """
        of_value = value.dtype if isinstance(value, Lanes) else literal_type(value)
        return self._batch.variable(value, np.dtype(of_value if dtype is None else dtype))

    def select(self, condition: Operand, if_true: Operand, if_false: Operand) -> Lanes:
        """C's ``condition ? if_true : if_false``, both sides computed."""
        types = [literal_type(value.data if isinstance(value, Lanes) else value) for value in (if_true, if_false)]
        dtype = types[0] if types[0] == types[1] else common_type(types[0], types[1])
        return self._batch.evaluate(
            lambda *values: np.where(*values).astype(dtype, copy=False),
            condition,
            if_true,
            if_false,
            becomes=lambda *_: ONE[INTEGER],
        )

    def compute(self, instructions: int, while_loading: bool = False, chain: int | None = None) -> None:
        """Charge the active warps with more non-memory instructions.

        The longest chain of dependent ones among them is ``chain`` long; unless it is given, each waits for the one
        before (or as :meth:`independent` says).

        They wait for all loads of the sequence before, as what is computed from loaded values does. With
        ``while_loading`` they wait for none: a warp stalls at the first use of a value that is not there yet, so what
        the compiler places between a load and that use is issued while the load is under way.
        """
        count = operator.index(instructions)
        longest = count if chain is None else operator.index(chain)
        if not 0 <= longest <= count:
            raise ValueError(f"chain is {longest}; give 0 to {count}, the number of instructions")
        if while_loading:
            self._batch.compute_while_loading(count, longest)
        else:
            self._batch.compute(count, None if chain is None else longest)

    @contextmanager
    def independent(self, chains: int) -> Iterator[None]:
        """``with t.independent(16):`` the instructions of the body are so many chains, side by side.

        By default an instruction waits for the one before. Those on the elements of a register tile, or of the
        iterations of an unrolled loop with a sum each, do not: a warp issues them one after the other,
        if its scheduler keeps up.
        """
        if operator.index(chains) < 1:
            raise ValueError(f"chains is {chains}; give at least 1")
        before = self._batch.side_by_side(operator.index(chains))
        try:
            yield
        finally:
            self._batch.side_by_side(before)

    # -- control

    @contextmanager
    def where(self, condition: Operand) -> Iterator[None]:
        """``with t.where(condition):`` the body is executed by the lanes where it holds."""
        outer = self._batch.context
        data, since = self._batch.matrix(condition, bool)
        outer.condition = data, since
        with self._region(outer.narrowed(data, since, _inside(outer))):
            yield

    @property
    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """``with t.otherwise:`` after a ``where``: the body is executed by the other lanes."""
        outer = self._batch.context
        if outer.condition is None:
            raise RuntimeError("`otherwise` follows no `where` of the same region")
        data, since = outer.condition
        outer.condition = None
        with self._region(outer.narrowed(~data, since, _inside(outer))):
            yield

    @contextmanager
    def _region(self, inner: Context) -> Iterator[None]:
        outer = self._batch.context
        self._batch.enter(inner)
        try:
            yield
        finally:
            self._batch.enter(outer)

    def range(self, *bounds: Operand) -> Iterator[Any]:
        """``for j in t.range([low,] high[, step])``: as Python's range, each lane with bounds of its own.

        With numbers as bounds ``j`` is an int, else lanes. Each iteration counts two non-memory instructions.
        """
        low, high, step = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: bounds}.get(len(bounds), (None,) * 3)
        if low is None:
            raise TypeError(f"t.range takes one to three bounds, not {len(bounds)}")
        if any(isinstance(bound, Lanes) for bound in (low, high, step)):
            return self._divergent_range(low, high, step)
        return self._uniform_range(builtins.range(*map(operator.index, (low, high, step))))

    def _uniform_range(self, values: builtins.range) -> Iterator[int]:
        context = self._batch.context
        for k, value in enumerate(values):
            if k:
                self._batch.back_edge()
            context.issue(LOOP_ITERATION)
            yield value

    def _divergent_range(self, low: Operand, high: Operand, step: Operand) -> Iterator[Lanes]:
        batch, outer = self._batch, self._batch.context
        counter, trips, since = self._trips(low, high, step)
        scope, context, condition = _inside(outer), outer, since
        stride, _ = batch.matrix(step, counter.dtype)
        for k in count():
            inner = context.narrowed(trips > k, condition, scope)
            if not inner.any:
                return
            if inner.frame is not context.frame:
                rows = inner.frame.rows_in(context.frame)
                counter, trips, stride = counter[rows], trips[rows], stride[rows]
                since = None if since is None else since[rows]
            context, condition = inner, None
            with self._region(inner):
                if k:
                    batch.back_edge()
                inner.issue(LOOP_ITERATION)
                yield Lanes(batch, counter, since, inner.frame, scope)
            counter = counter + stride

    def _trips(self, low: Operand, high: Operand, step: Operand) -> tuple[np.ndarray, np.ndarray, Any]:
        """Start value, number of iterations [rows, warp_size] and dependence of a loop with bounds by lane."""
        values = [self._batch.read(bound) for bound in (low, high, step)]
        types = [literal_type(value) for value, _ in values]
        if any(dtype.kind not in "iu" for dtype in types):
            raise TypeError("the bounds of t.range are not integers; cast with .astype")
        self._batch.check_active(np.asarray(values[2][0]) == 0, ValueError("the step of t.range is 0"))
        wide_low, wide_high, wide_step = (self._batch.matrix(bound, np.int64)[0] for bound in (low, high, step))
        down = wide_step < 0
        distance = np.where(down, wide_low - wide_high, wide_high - wide_low)
        trips = -(-distance // np.maximum(np.abs(wide_step), 1))
        if trips.max(initial=0) < 2**31:
            trips = np.maximum(trips, 0).astype(np.int32)
        dtype = common_type(common_type(types[0], types[1]), types[2])
        return wide_low.astype(dtype), trips, newest(newest(values[0][1], values[1][1]), values[2][1])

    def while_(self, condition: Callable[[], Operand], limit: int = LOOP_LIMIT) -> Iterator[int]:
        """``for _ in t.while_(lambda: p < end)``: the lanes where the condition holds go on; counts the iterations.

        The condition is evaluated before every iteration by the lanes still in the loop. A loop that is not over
        after ``limit`` iterations is an error.
        """
        batch, outer = self._batch, self._batch.context
        context, scope = outer, _inside(outer)
        for k in count():
            if k == limit:
                raise RuntimeError(f"the loop is not over after {limit} iterations; give a larger limit if it does end")
            with self._region(context.again(scope)):
                context = batch.context
                if k:
                    batch.back_edge()
                data, since = batch.matrix(condition(), bool)
                context.issue(ONE[CONTROL])  # the comparison counts itself
            inner = context.narrowed(data, since, scope)
            if not inner.any:
                return
            context = inner
            with self._region(inner):
                yield k

    # -- between the lanes of a warp

    def shuffle(self, value: Lanes, lane: Operand) -> Lanes:
        """``__shfl_sync``: the value that lane ``lane`` of the warp has, 0 to 31; one non-memory instruction.

        Raises:
            ValueError: an active lane asks for one that is not active, where CUDA leaves the value undefined.
        """
        batch = self._batch
        source, _ = batch.matrix(lane, np.int64)
        from_lane = source % batch.shape.warp_size
        there = np.broadcast_to(batch.context.lanes(), from_lane.shape)
        absent = ValueError("a shuffle reads a lane that is not active")
        batch.check_active(~np.take_along_axis(there, from_lane, 1), absent)
        data, _ = batch.matrix(value, value.dtype)
        return batch.evaluate(
            lambda *_: np.take_along_axis(data, from_lane, 1), value, lane, becomes=lambda *_: ONE[SHUFFLE]
        )

    def shuffle_down(self, value: Lanes, delta: int) -> Lanes:
        """``__shfl_down_sync``: the value of the lane ``delta`` further on; the last ones keep their own."""
        lanes, last = np.arange(self._batch.shape.warp_size), self._batch.shape.warp_size - 1
        return self.shuffle(value, self._lane(np.where(lanes + delta > last, lanes, lanes + delta)))

    def shuffle_xor(self, value: Lanes, bits: int) -> Lanes:
        """``__shfl_xor_sync``: the value of the lane whose number differs in ``bits``."""
        return self.shuffle(value, self._lane(np.arange(self._batch.shape.warp_size) ^ bits))

    def _lane(self, numbers: np.ndarray) -> Lanes:
        """The same lane numbers in every warp, known to the compiler."""
        rows = len(self._batch.root.bits)
        return self._batch.lanes(np.broadcast_to(numbers.astype(np.int32), (rows, len(numbers))))

    # -- shared memory

    def shared(self, shape: int | tuple[int, ...], dtype: Any = np.float32, name: str | None = None) -> DeviceArray:
        """An array in the shared memory of every block, zero at first; one for each place in the source.

        ``name`` is how tables show it, by default the name of the variable it is assigned to.
        """
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        frame = sys._getframe(1)
        number, info = self._memory.shared((frame.f_code, frame.f_lasti), extents, np.dtype(dtype), name)
        if number not in self._shared:
            values = np.zeros((len(self._batch.block_ids), *extents), dtype)
            self._shared[number] = DeviceArray(self._batch, number, info, values, extents)
        return self._shared[number]

    def wait_async(self) -> None:
        """``__pipeline_wait_prior(0)``: the warp waits for its copies to shared memory."""
        self._batch.wait_for_copies()

    def sync(self) -> None:
        """``__syncthreads()``: a barrier of the block; it ends every warp's sequence."""
        self._batch.sync()


def _inside(context: Context) -> Scope:
    return Scope(context.scope.depth + 1, context.scope)
