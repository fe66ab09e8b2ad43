"""A kernel description run one scalar thread at a time: slow, and independent of how memsim runs it.

The kernel's syntax tree is rewritten to plain Python for one thread (``with t.where(c)`` becomes ``if c``, ``t.sync()``
a ``yield``, accesses become calls that log source position, text and address). Warps are put together afterwards: lanes
that executed the same expression in the same loop iterations form one memory instruction; instructions are ordered by
every lane's own order and, where that leaves a choice, by source line.
"""

from __future__ import annotations

import ast
import heapq
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ATOMICS = {
    "atomic_add": lambda old, value: old + value,
    "atomic_min": min,
    "atomic_max": max,
    "atomic_exch": lambda old, value: value,
}


class Op(NamedTuple):
    """A static instruction, by what the source says."""

    line: int
    column: int
    text: str
    array: str


class Array:
    """An array as one thread sees it."""

    def __init__(self, name, values, base):
        self.name, self.values, self.base = name, values, base

    @property
    def dtype(self):
        return self.values.dtype

    def __len__(self):
        return len(self.values)

    def linear(self, index):
        index = tuple(int(i) for i in index) if isinstance(index, tuple) else (int(index),)
        shape = self.values.shape if len(index) > 1 else (self.values.size,)
        return int(np.ravel_multi_index(index, shape))


class Triple(NamedTuple):
    x: int
    y: int
    z: int


class ScalarThread:
    """``t`` of one thread; logs (op, iterations of the loops around it, address)."""

    def __init__(self, grid, block, block_id, thread, shared):
        self.grid_dim, self.block_dim = Triple(*grid), Triple(*block)
        self.block_idx, self.thread_idx = _position(block_id, grid), _position(thread, block)
        self.global_id = block_id * int(np.prod(block)) + thread
        self.lane_id, self.warp_id = thread % 32, thread // 32
        self.log, self._loops, self._shared = [], [], shared

    def var(self, value, dtype=None):
        kind = dtype or (np.float32 if isinstance(value, float) else np.asarray(value).dtype.type)
        return kind(value)

    def select(self, condition, first, second):
        return first if condition else second

    def compute(self, instructions, while_loading=False):
        pass

    def shared(self, shape, dtype=np.float32, name=None, *, site):
        if site not in self._shared:
            self._shared[site] = Array(name or site[1], np.zeros(shape, dtype), None)
        return self._shared[site]

    def _iterate(self, values):
        self._loops.append(0)
        for value in values:
            yield value
            self._loops[-1] += 1
        self._loops.pop()

    def range(self, *bounds):
        return self._iterate(range(*map(int, bounds)))

    def while_(self, condition):
        def values():
            while condition():
                yield

        return self._iterate(values())

    def access(self, op, array, index, size):
        self.log.append((op, tuple(self._loops), array, index * array.values.itemsize, size))

    def load(self, array, index, line, column, text):
        if not isinstance(array, Array):
            return array[index]
        at = array.linear(index)
        self.access(Op(line, column, text, array.name), array, at, 1)
        return array.values.flat[at]

    def store(self, value, array, index, line, column, text):  # in the order in which Python evaluates them
        at = array.linear(index)
        self.access(Op(line, column, text, array.name), array, at, 1)
        array.values.flat[at] = value

    def wait_async(self):
        pass

    def copy(self, to, at, op, source, index, width=1):
        first = source.linear(index)
        self.access(op, source, first, width)
        to.values.reshape(-1)[at : at + width] = source.values.reshape(-1)[first : first + width]

    def method(self, array, name, line, column, text, index, *arguments, **keywords):
        at = array.linear(index)
        if name == "copy_async":
            self.copy(array, at, Op(line, column, text, arguments[0].name), *arguments, **keywords)
            return None
        width = keywords.get("width", arguments[0] if name == "load" else 1)
        if name == "store":
            width = len(arguments[0])
        self.access(Op(line, column, text, array.name), array, at, width)
        flat = array.values.reshape(-1)
        if name == "load":
            return tuple(flat[at : at + width])
        if name == "store":
            flat[at : at + width] = arguments[0]
            return None
        old = flat[at]
        if name == "atomic_cas":
            flat[at] = arguments[1] if old == arguments[0] else old
        else:
            flat[at] = ATOMICS[name](old, arguments[0])
        return old


class Scalar(ast.NodeTransformer):
    """Rewrites a kernel for one thread."""

    def __init__(self, source):
        self._source = source

    def _where(self, node):
        return [ast.Constant(node.lineno), ast.Constant(node.col_offset + 1), ast.Constant(self._text(node))]

    def _text(self, node):
        return " ".join(ast.get_source_segment(self._source, node).split())

    def _call(self, name, *arguments, keywords=()):
        function = ast.Attribute(ast.Name("t", ast.Load()), name, ast.Load())
        return ast.Call(function, list(arguments), list(keywords))

    def visit_Subscript(self, node):
        where = self._where(node)
        self.generic_visit(node)
        return self._call("load", node.value, node.slice, *where)

    def visit_Assign(self, node):
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            where = self._where(target)
            parts = [self.visit(part) for part in (node.value, target.value, target.slice)]
            return ast.Expr(self._call("store", *parts, *where))
        if isinstance(node.value, ast.Call) and getattr(node.value.func, "attr", "") == "shared":
            self._name_shared(target, node.value)
        return self.generic_visit(node)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Subscript):  # an element of a Python list; arrays are assigned to
            node.value = self.visit(node.value)
            return node
        return self.generic_visit(node)

    def _name_shared(self, target, call):
        name = target.id if isinstance(target, ast.Name) else "shared"
        site = ast.Tuple([ast.Constant(call.lineno), ast.Constant(name)], ast.Load())
        call.keywords.append(ast.keyword("site", site))

    def visit_Expr(self, node):
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if call.func.attr == "sync":
                return ast.Expr(ast.Yield(None))
            if call.func.attr == "set":
                name = call.func.value.id
                kind = ast.Call(ast.Name("type", ast.Load()), [ast.Name(name, ast.Load())], [])
                return ast.Assign([ast.Name(name, ast.Store())], ast.Call(kind, [self.visit(call.args[0])], []))
        return self.generic_visit(node)

    def visit_Call(self, node):
        attribute = getattr(node.func, "attr", "")
        if attribute in ("load", "store", "copy_async") or attribute.startswith("atomic_"):
            where = self._where(node)
            self.generic_visit(node)
            method = ast.Constant(attribute)
            return self._call("method", node.func.value, method, *where, *node.args, keywords=node.keywords)
        return self.generic_visit(node)

    def visit_With(self, node):
        first, *others = node.items
        if others:
            return self.visit_With(ast.With([first], [ast.With(others, node.body)]))
        condition = node.items[0].context_expr
        body = [one for statement in node.body for one in _listed(self.visit(statement))]
        if isinstance(condition, ast.Call):
            test = ast.NamedExpr(ast.Name("_condition", ast.Store()), self.visit(condition.args[0]))
            keep = ast.Assign([ast.Name("_kept", ast.Store())], ast.Name("_condition", ast.Load()))
            return [ast.If(test, [*body, ast.Assign([ast.Name("_kept", ast.Store())], ast.Constant(True))], [keep])]
        return ast.If(ast.UnaryOp(ast.Not(), ast.Name("_kept", ast.Load())), body, [])


def _listed(statements):
    return statements if isinstance(statements, list) else [statements]


def scalar_kernel(kernel):
    """The kernel as a generator function of one thread."""
    filename = kernel.__code__.co_filename
    source = Path(filename).read_text()
    tree = ast.parse(source)
    name = kernel.__name__
    function = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name)
    function = Scalar(source).visit(function)
    function.decorator_list = []
    function.body.append(ast.Expr(ast.Yield(None)))
    for argument in function.args.args:
        argument.annotation = None
    module = ast.fix_missing_locations(ast.Module([function], []))
    namespace = dict(kernel.__globals__)
    exec(compile(module, "<oracle>", "exec"), namespace)
    return namespace[name]


def run(launch, bases: dict[str, int]) -> list[list[tuple[Op, dict[int, int]]]]:
    """Execute every block; each warp's memory instructions as (op, {lane: address}).

    Args:
        launch: a memsim Launch; its arrays are changed.
        bases: where each array, shared ones too, begins.
    """
    kernel, shape = scalar_kernel(launch.kernel), launch.shape
    values = {name: getattr(value, "values", value) for name, value in launch.arguments.items()}  # of a Constant
    arguments: dict[str, Any] = {
        name: Array(name, value, bases[name]) if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }
    warps = []
    for block in range(shape.n_blocks):
        shared: dict[tuple[int, str], Array] = {}
        threads = [ScalarThread(shape.grid, shape.block, block, k, shared) for k in range(shape.threads_per_block)]
        running = [kernel(thread, **arguments) for thread in threads]
        while running:  # from barrier to barrier
            running = [thread for thread in running if next(thread, "over") != "over"]
        for first in range(0, len(threads), shape.warp_size):
            warps.append(_warp([thread.log for thread in threads[first : first + shape.warp_size]], bases))
    return warps


def _warp(logs, bases):
    """Lanes' logs as one order of memory instructions."""
    lanes: dict[Any, dict[int, int]] = defaultdict(dict)
    after: dict[Any, set[Any]] = defaultdict(set)
    before: dict[Any, int] = defaultdict(int)
    for lane, log in enumerate(logs):
        seen: dict[Any, int] = defaultdict(int)
        previous = None
        for op, loops, array, offset, _ in log:
            seen[op, loops] += 1
            key = (loops, op, seen[op, loops])
            lanes[key][lane] = bases[array.name] + offset
            if previous is not None and key not in after[previous]:
                after[previous].add(key)
                before[key] += 1
            previous = key
    ready = [(key[1].line, key) for key in lanes if not before[key]]
    heapq.heapify(ready)
    order = []
    while ready:
        _, key = heapq.heappop(ready)
        order.append((key[1], lanes[key]))
        for other in after[key]:
            before[other] -= 1
            if not before[other]:
                heapq.heappush(ready, (other[1].line, other))
    assert len(order) == len(lanes), "lanes disagree on the order"
    return order


def _position(linear, extent):
    x, rest = linear % extent[0], linear // extent[0]
    return Triple(x, rest % extent[1], rest // extent[1])
