"""Random structured programs for tests of the merge."""

from hypothesis import strategies as st

from memsim.trace.schema import Kind
from tests.oracles.simt_programs import Access, Barrier, Call, Condition, Exit, If, Loop, Program


class Writer:
    """Draws statements; ``plain`` leaves out what the textbook's stack executes in parts.

    That is what follows, in the same loop's iteration, an ``if`` with an early exit inside; a ``continue`` before a
    ``break``; a function's end after a return from a loop; and the side that two terms of a condition share.
    """

    def __init__(self, draw, n_functions, plain):
        self.draw, self.n_functions, self.plain, self.loads = draw, n_functions, plain, []

    def access(self):
        draw = self.draw
        kind = draw(st.sampled_from([Kind.load, Kind.load, Kind.store, Kind.atomic]))
        some = st.lists(st.sampled_from(self.loads), max_size=2) if self.loads else st.just([])
        waits, data = draw(some), draw(some) if kind is Kind.store else []
        access = Access(kind, draw(st.sampled_from([4, 0, -4, None])), waits, data)
        if kind is not Kind.store:
            self.loads.append(access)
        return access

    def maybe_access(self):
        return self.access() if self.draw(st.booleans()) else None

    def condition(self):
        terms = [self.maybe_access()]
        if not self.plain and self.draw(st.booleans()):
            terms.append(self.maybe_access())
        return Condition(terms, self.draw(st.booleans()), self.draw(st.integers(0, 4)) == 0)

    def body(self, function, depth=0, exits=("return",)):
        """Statements inside so many ifs and loops, which may be left as ``exits`` say."""
        kinds = ["access", "access"]
        if depth < 3:
            kinds += ["if", "loop", "call"]
        if exits:
            kinds += ["exit"]
        if not depth and function == 0:
            kinds += ["barrier"]
        drawn = self.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
        return [node for kind in drawn if (node := self.statement(kind, function, depth, exits))]

    def statement(self, kind, function, depth, exits):
        draw = self.draw
        match kind:
            case "access":
                return self.access()
            case "if":
                condition, inside = self.condition(), () if self.plain else exits
                then = self.body(function, depth + 1, inside)
                return If(condition, then, self.body(function, depth + 1, inside) if draw(st.booleans()) else [])
            case "loop":
                return self.loop(function, depth)
            case "call" if function + 1 < self.n_functions:
                callee = draw(st.integers(function + 1, self.n_functions - 1))
                return Call(callee, [self.access() for _ in range(draw(st.integers(0, 1)))])
            case "exit":
                return self.exit(exits)
            case "barrier":
                return Barrier()

    def loop(self, function, depth):
        draw = self.draw
        form = draw(st.sampled_from(["for", "while", "do", "range"]))
        test = self.maybe_access() if form in ("while", "for") else None
        exits = (draw(st.sampled_from(["break", "continue"])),) if self.plain else ("break", "continue", "return")
        body = self.body(function, depth + 1, exits)
        step = self.maybe_access() if form == "for" else None
        test = self.maybe_access() if form == "do" else test
        uniform = draw(st.integers(0, 4)) == 0
        return Loop(form, body, draw(st.integers(1, 4)), test, step, uniform, draw(st.integers(0, 3)))

    def exit(self, exits):
        """``if (...) { ... break; }``, or without the if."""
        exit = Exit(self.draw(st.sampled_from(exits)))
        if not self.plain and self.draw(st.integers(0, 3)) == 0:
            return exit
        return If(self.condition(), [*([self.access()] if self.draw(st.booleans()) else []), exit], [])


@st.composite
def programs(draw, plain=False):
    """A program of one to three functions."""
    n_functions = draw(st.integers(1, 3))
    writer = Writer(draw, n_functions, plain)
    return Program([writer.body(function) for function in range(n_functions)], draw(st.integers(0, 99)))


@st.composite
def deep_programs(draw):
    """Programs of functions that call the next one from inside a loop or if, seven deep."""
    n_functions = 8
    writer = Writer(draw, n_functions, plain=False)
    functions = []
    for function in range(n_functions):
        body = [writer.access()]
        if function + 1 < n_functions:
            call = Call(function + 1, [])
            inside = [call, writer.access()] if draw(st.booleans()) else [writer.access(), call]
            body += draw(
                st.sampled_from(
                    [[If(writer.condition(), inside, [])], [Loop("for", inside, 2)], [*inside, Call(function + 1, [])]]
                )
            )
        else:
            body += writer.body(function, depth=2)
        functions.append(body)
    return Program(functions, draw(st.integers(0, 99)))
