"""Executes a kernel for one batch of blocks, all lanes in lockstep, and logs what the warps access."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from memsim.sources.batch_log import BatchLog
from memsim.sources.describe import compiled, instruction_mixes, waiting
from memsim.sources.describe.arithmetic import Becomes
from memsim.sources.describe.arrays import DeviceArray, check_vector
from memsim.sources.describe.indexing import Index, linear
from memsim.sources.describe.lanes import Lanes, LaneVariable, Operand
from memsim.sources.describe.masks import Context, Scope, Since, WarpFrame, newest
from memsim.sources.describe.ops import ExpressionOps
from memsim.sources.mixes import MIX_FIELDS, MixTable
from memsim.sources.rows import SEQUENCE, START, log_barrier, log_compute, log_trailing
from memsim.trace.schema import LaunchShape, OpKind, Space

BYPASS_BYTES = 16  # of a lane's copy to shared memory: PTX ISA, cp.async: .cg caches in L2 only, and takes 16 bytes
_READ_ONLY = {Space.constant: "constant", Space.texture: "a texture"}


class Batch:
    """The state of the execution: who is active, what each warp has issued, the log.

    Args:
        shape: the launch.
        block_ids: i8 [n_blocks], linear numbers of the blocks.
        ops, log, mixes: where static instructions, accesses and the instructions of compute runs go.
        fast_math: functions are intrinsics.
    """

    def __init__(
        self,
        shape: LaunchShape,
        block_ids: np.ndarray,
        ops: ExpressionOps,
        log: BatchLog,
        mixes: MixTable,
        fast_math: bool = False,
    ) -> None:
        self.shape, self.block_ids, self._ops, self._log, self._mixes = shape, block_ids, ops, log, mixes
        self.fast_math = fast_math
        n_warps = len(block_ids) * shape.warps_per_block
        self._state = np.zeros((n_warps, instruction_mixes.STATE_COLUMNS), np.int64)
        self._state[:, START] = 1
        # Scratch of the compiled loops, which allocate nothing.
        self._lanes = np.tile(np.arange(shape.warp_size + 1), (2, 1))
        self._scratch = np.zeros(MIX_FIELDS, np.int64), np.empty(instruction_mixes.N_CLASSES + 1, np.int64)
        self._chains = 1  # of dependent instructions, side by side, in what is issued now
        thread = np.arange(shape.warps_per_block * shape.warp_size).reshape(-1, shape.warp_size)
        mask = np.tile(thread < shape.threads_per_block, (len(block_ids), 1))
        bits = compiled.active_bits(mask)
        frame = WarpFrame(np.arange(n_warps, dtype=np.int32))
        self.context = self.root = Context(Scope(0), frame, None if mask.all() else mask, bits)

    # -- values

    def lanes(self, data: np.ndarray) -> Lanes:
        """A value of all lanes of the batch, [n_warps, warp_size], that depends on no load."""
        return Lanes(self, data, None, self.root.frame, self.root.scope)

    def read(self, value: Operand) -> tuple[Any, Since]:
        """A value's data and dependence in the current frame; numbers are returned as they are."""
        if not isinstance(value, Lanes):
            return value, None
        context = self.context
        if not (value.scope is context.scope or context.scope.inside(value.scope)):
            raise ValueError(
                "a value is used outside the `where` or loop it was computed in, where some lanes do not have it; "
                "declare `v = t.var(...)` before the region and assign with `v.set(...)` or `v += ...`"
            )
        if value.op is not None:
            self._ops.use(value.op)
        if value.frame is context.frame:
            return value.data, value.since
        rows = context.frame.rows_in(value.frame)
        return value.data[rows], None if value.since is None else value.since[rows]

    def matrix(self, value: Operand, dtype: Any) -> tuple[np.ndarray, Since]:
        """The same, converted to a type, as a whole matrix [rows, warp_size]."""
        data, since = self.read(value)
        if isinstance(data, np.ndarray) and data.ndim == 2:
            return data.astype(dtype, copy=False), since
        return np.full((len(self.context.bits), self.shape.warp_size), data, dtype), since

    def evaluate(
        self, function: Callable[..., np.ndarray], *operands: Operand, becomes: Callable[..., Becomes]
    ) -> Lanes:
        """One elementwise operation, and the non-memory instructions that it becomes, by its values."""
        context = self.context
        values, since = [], None
        for operand in operands:
            data, of_operand = self.read(operand)
            values.append(data)
            since = newest(since, of_operand)
        context.issue(becomes(*values))
        context.used = newest(context.used, since)
        return Lanes(self, function(*values), since, context.frame, context.scope)

    def variable(self, value: Operand, dtype: np.dtype) -> LaneVariable:
        """A new variable of the current region."""
        data, since = self.matrix(value, dtype)
        context = self.context
        return LaneVariable(self, data.copy(), None if since is None else since.copy(), context.frame, context.scope)

    def assign(self, variable: LaneVariable, value: Operand) -> None:
        """Give the active lanes of a variable a new value."""
        if variable.scope is not self.context.scope:
            self.read(variable)  # checks that the variable may be used here
        context = self.context
        data, since = self.matrix(value, variable.dtype)
        since = newest(since, context.since)
        rows = slice(None) if variable.frame is context.frame else context.frame.rows_in(variable.frame)
        if context.mask is None:
            variable.data[rows] = data
        else:
            variable.data[rows] = np.where(context.mask, data, variable.data[rows])
        if since is None and variable.since is None:
            return
        since = context.frame.independent if since is None else since
        if variable.since is None:
            variable.since = variable.frame.independent.copy()
        variable.since[rows] = since if context.mask is None else np.maximum(variable.since[rows], since)

    def check_active(self, wrong: np.ndarray, problem: Exception) -> None:
        """Raise ``problem`` if ``wrong`` holds in an active lane."""
        if np.any(wrong) and bool((wrong & self.context.lanes() & (self.context.bits[:, None] != 0)).any()):
            raise problem

    def check_divisor(self, divisor: Operand) -> None:
        """Raise ZeroDivisionError if an active lane divides by the integer 0."""
        data, _ = self.read(divisor)
        if np.asarray(data).dtype.kind in "iu":
            self.check_active(np.asarray(data) == 0, ZeroDivisionError("integer division by zero"))

    # -- regions

    def enter(self, context: Context) -> None:
        """Make another context the current one, after charging the warps with what they issued so far."""
        self.charge()
        self.context = context

    def charge(self) -> None:
        """Account the non-memory instructions of the current context to its warps, with what they used."""
        context = self.context
        if any(context.issued):
            instruction_mixes.issue(
                self._state, context.bits, context.frame.warps, np.array(context.issued), self._chains
            )
            context.issued = [0] * len(context.issued)
        if context.used is not None:
            waiting.use_values(self._state, context.bits, context.frame.warps, context.used)
            context.used = None

    def back_edge(self) -> None:
        """The active warps go on to another iteration of a loop."""
        self._end_stretch()
        compiled.back_edge(self._state, self.context.bits, self.context.frame.warps)

    def wait_for_copies(self) -> None:
        """The active warps' next accesses wait for all copies to shared memory."""
        waiting.need_copies(self._state, self.context.bits, self.context.frame.warps)
        compiled.back_edge(self._state, self.context.bits, self.context.frame.warps)

    def _end_stretch(self) -> None:
        """The active warps wait for what their arithmetic has used, as no compiler moves it farther."""
        self.charge()
        waiting.need_used(self._state, self.context.bits, self.context.frame.warps)

    def sync(self) -> None:
        """A barrier of every block that has active lanes; all its lanes must be active."""
        context = self.context
        frame_bits = np.zeros(len(self._state), self.root.bits.dtype)
        frame_bits[context.frame.warps] = context.bits
        by_block = (len(self.block_ids), self.shape.warps_per_block)
        reached = (frame_bits == self.root.bits).reshape(by_block).all(axis=1)
        if not (reached | (frame_bits == 0).reshape(by_block).all(axis=1)).all():
            raise RuntimeError("t.sync() is reached by some lanes of a block only; the block would hang")
        self._end_stretch()
        waiting.need_copies(self._state, context.bits, context.frame.warps)
        self._log.reserve(len(context.bits), 0)
        log, first = self._log, int(self._log.cursor[0])
        log_barrier(log.rows, log.cursor, self._state, context.bits, context.frame.warps, 0, 1)
        self._enter_mixes(first)

    def side_by_side(self, chains: int) -> int:
        """Have what is issued from now on be so many chains of dependent instructions; returns how many they were."""
        self.charge()
        before, self._chains = self._chains, chains
        return before

    def compute(self, instructions: int, critical_path: int | None) -> None:
        """Charge non-memory instructions of no class that use all that was loaded.

        `critical_path` of them depend on each other; None: as :meth:`side_by_side` says.
        """
        context = self.context
        if critical_path is None:
            context.issued[instruction_mixes.UNKNOWN] += instructions
        else:
            instruction_mixes.issue_critical_path(
                self._state, context.bits, context.frame.warps, instructions, critical_path
            )
        waiting.use_all(self._state, context.bits, context.frame.warps)

    def compute_while_loading(self, instructions: int, critical_path: int) -> None:
        """Log non-memory instructions that wait for none of the sequence's loads."""
        context, log = self.context, self._log
        log.reserve(len(context.bits), 0)
        log_compute(log.rows, log.cursor, context.bits, context.frame.warps, instructions, critical_path)

    def finish(self) -> None:
        """Log what the warps issue after their last access."""
        self._end_stretch()
        self._log.reserve(len(self._state), 0)
        first = int(self._log.cursor[0])
        log_trailing(self._log.rows, self._log.cursor, self._state)
        self._enter_mixes(first)

    def _enter_mixes(self, first: int) -> None:
        """Give the log's rows from ``first`` on the mixes of their compute runs."""
        instruction_mixes.enter_mixes(
            self._log.rows, first, int(self._log.cursor[0]), self._state, self._mixes, *self._scratch
        )

    # -- accesses

    def load(self, array: DeviceArray, index: Index, width: int, frame: FrameType) -> tuple[Lanes, ...]:
        """``width`` consecutive elements of every active lane, by one memory instruction."""
        elements, op = self._access(array, index, OpKind.load, width, frame)
        since = self._brought(op)
        return tuple(self._loaded(array, elements + k if k else elements, since) for k in range(width))

    def _loaded(self, array: DeviceArray, elements: np.ndarray, since: np.ndarray) -> Lanes:
        context = self.context
        out = np.empty(elements.shape, array.dtype)
        offsets = self._offsets(array)
        compiled.gather(array.as_bits, elements, context.bits, offsets, out.view(array.as_bits.dtype))
        return Lanes(self, out, since, context.frame, context.scope)

    def copy(
        self, to: DeviceArray, index: Index, array: DeviceArray, array_index: Index, width: int, frame: FrameType
    ) -> None:
        """Elements of global memory to shared memory by one memory instruction, past the registers."""
        if to.space is not Space.shared or array.space is not Space.global_ or to.dtype != array.dtype:
            raise TypeError(
                f"{array.info.name} to {to.info.name}: a copy goes from global to shared memory, of one type"
            )
        nbytes = width * array.dtype.itemsize
        if nbytes not in (4, 8, 16):
            raise ValueError(f"no copy of {array.info.name} takes {nbytes} bytes per lane; give 4, 8 or 16")
        into, _ = linear(self, to.info.name, to.shape, index)
        elements, op = self._access(
            array, array_index, OpKind.load, width, frame, bypass=nbytes == BYPASS_BYTES, copy=True
        )
        self.check_active((into < 0) | (into > to.size - width), IndexError(f"an index of {to.info.name} is outside"))
        for k in range(width):
            bits = self._loaded(array, elements + k, self.context.frame.independent).data.view(to.as_bits.dtype)
            compiled.scatter(to.as_bits, into + k, self.context.bits, self._offsets(to), bits)

    def store(self, array: DeviceArray, index: Index, values: tuple[Operand, ...], frame: FrameType) -> None:
        """Store consecutive elements of every active lane, by one memory instruction."""
        data, since = [], None
        for value in values:
            each, loaded = self.matrix(value, array.dtype)
            data.append(each)
            since = newest(since, loaded)
        elements, _ = self._access(array, index, OpKind.store, len(values), frame, since)
        for k, each in enumerate(data):
            bits = np.ascontiguousarray(each).view(array.as_bits.dtype)
            compiled.scatter(array.as_bits, elements + k, self.context.bits, self._offsets(array), bits)

    def atomic(
        self, array: DeviceArray, index: Index, operation: int, value: Operand, compare: Operand, frame: FrameType
    ) -> Lanes:
        """One atomic of every active lane, lane after lane; the old values."""
        values, since = self.matrix(value, array.dtype)
        compares, compared = self.matrix(compare, array.dtype)
        elements, op = self._access(array, index, OpKind.atomic, 1, frame, newest(since, compared))
        context = self.context
        old = np.empty(elements.shape, array.dtype)
        compiled.atomic(array.values, elements, context.bits, self._offsets(array), operation, values, compares, old)
        return Lanes(self, old, self._brought(op), context.frame, context.scope, op)

    def _access(
        self,
        array: DeviceArray,
        index: Index,
        kind: OpKind,
        width: int,
        frame: FrameType,
        data: Since = None,
        *,
        bypass: bool = False,
        copy: bool = False,
    ) -> tuple[np.ndarray, int]:
        """Log one access: its elements [rows, warp_size] and instruction. `data` is what a stored value depends on."""
        elements, since = self._elements(array, index, kind, width)
        op = self._ops.at(frame, array, kind, width * array.dtype.itemsize, bypass=bypass, copy=copy)
        context = self.context
        if since is not None and (since[context.bits != 0] >= 0).any():
            self._ops.point(op)
        since = newest(since, context.since)
        self.charge()
        for value in (since, data):
            if value is not None:
                waiting.need_values(self._state, context.bits, context.frame.warps, value)
        self._log_access(array, op, elements, width, since, data)
        load_class = self._ops.load_class(op)
        if load_class is not None:
            sure = kind is not OpKind.atomic
            waiting.bring(self._state, context.bits, context.frame.warps, int(load_class), sure)
        return elements, op

    def _elements(self, array: DeviceArray, index: Index, kind: OpKind, width: int) -> tuple[np.ndarray, Since]:
        """The first element of every lane [rows, warp_size], of an access that may be, and what it depends on."""
        check_vector(width, array.dtype.itemsize)
        if kind is not OpKind.load and array.space in (Space.constant, Space.texture):
            raise TypeError(f"{array.info.name} is {_READ_ONLY[array.space]}; a kernel cannot write it")
        elements, since = linear(self, array.info.name, array.shape, index)
        if width > 1:
            unaligned = ValueError(f"vector access of {array.info.name}: the index is no multiple of {width}")
            self.check_active(elements % width != 0, unaligned)
        return elements, since

    def _log_access(
        self, array: DeviceArray, op: int, elements: np.ndarray, width: int, since: Since, data: Since
    ) -> None:
        """A row of every active warp, with what it waits for, and the mix of its compute run."""
        context, log = self.context, self._log
        first = int(log.cursor[0])
        log.reserve(len(context.bits), elements.size)
        row, lane = compiled.log_access(
            log.rows,
            log.addresses,
            log.cursor,
            self._state,
            elements,
            context.bits,
            context.frame.warps,
            context.frame.independent if since is None else since,
            context.frame.independent if data is None else data,
            np.array([op, array.info.base, array.size - width + 1, array.dtype.itemsize]),
            self._lanes,
            np.empty(elements.shape[1] + 1, elements.dtype),
        )
        if row >= 0:
            raise self._out_of_range(array, int(elements[row, lane]), row, lane)
        self._enter_mixes(first)

    def _brought(self, op: int) -> np.ndarray:
        """What the value of the warps' newest load, of a static instruction, depends on."""
        warps = self.context.frame.warps
        since = np.full((len(warps), waiting.DEPENDENCES), -1, np.int32)
        since[:, waiting.SEQUENCE_OF] = self._state[warps, SEQUENCE]
        load_class = self._ops.load_class(op)
        assert load_class is not None, "a store brings nothing"
        waiting.brought(self._state, warps, int(load_class), since)
        return since

    def _offsets(self, array: DeviceArray) -> np.ndarray:
        """i8 [rows], where each row's copy of an array starts in its values."""
        warps = self.context.frame.warps
        if array.space is not Space.shared:
            return np.zeros(len(warps), np.int64)
        return (warps // self.shape.warps_per_block).astype(np.int64) * array.size

    def _out_of_range(self, array: DeviceArray, element: int, row: int, lane: int) -> IndexError:
        block, warp = divmod(int(self.context.frame.warps[row]), self.shape.warps_per_block)
        thread = warp * self.shape.warp_size + lane
        return IndexError(
            f"index {element} of {array.info.name} is outside 0 to {array.size - 1} "
            f"(block {self.block_ids[block]}, thread {thread})"
        )
