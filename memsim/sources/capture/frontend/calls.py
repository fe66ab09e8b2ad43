"""Calls: of the user's device functions, of what the runtime provides, of atomics and loads through a pointer."""

from __future__ import annotations

from collections.abc import Sequence

from clang.cindex import Cursor, CursorKind, Type, TypeKind

from memsim.sources.capture.frontend.callees import (
    callee_name,
    candidates,
    given_arguments,
    is_operator_method,
    is_variable,
    names_class,
    parameter_types,
    parts,
    takes_group,
)
from memsim.sources.capture.frontend.declarations import Key, is_launch, key
from memsim.sources.capture.frontend.expressions import COPIED, OPERAND, Expressions
from memsim.sources.capture.frontend.flow import NOTHING, Deps, Symbol
from memsim.sources.capture.frontend.names import ATOMIC_CLASSES, Builtin, atomic_method, builtin
from memsim.sources.capture.frontend.operators import CALL
from memsim.sources.capture.frontend.parsing import is_system
from memsim.sources.capture.frontend.places import explicit_base, is_lvalue
from memsim.sources.capture.frontend.probing import PROBE, Context
from memsim.sources.capture.frontend.tree import Node, Unary, is_object, is_reference
from memsim.sources.capture.sites import Role
from memsim.trace.schema import Kind

_UPDATING = ("++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")


class Calls(Expressions):
    """Walks calls.

    Attributes:
        initial: an expression that gives a member or a base its first value, which is no call by itself.
        constructors: those that the variables of the statement under way call.
    """

    def __init__(self, context: Context, where: Key, body: Node) -> None:
        super().__init__(context, where, body)
        self.initial: Node | None = None
        self.constructors: list[Key] = []

    def call(self, node: Node, used: bool) -> Deps:
        if is_launch(node):
            raise self.context.refuse(node, "device-side launch", "launch the kernel from the host")
        named = node.cursor.referenced
        if named is not None and named.kind == CursorKind.CONSTRUCTOR:
            return self._construct(node, named)
        callee, arguments = parts(node, self.file.text)
        name = callee_name(node, callee)
        users = self._users(named, callee)
        if name == "operator=" and not users and len(arguments) == 2:
            data = self.value(arguments[1])
            self.store(self.place(arguments[0]), data)
            return data
        operator = name.removeprefix("operator")
        if named is None and node.is_open and operator in self.context.operators.functions:
            return self.open_operator(node, operator, arguments)
        if not users and (kind := _of_atomic_object(named, used)) is not None:
            return self._atomic_object(node, kind, callee, arguments)
        if not users and (known := builtin(name)) is not None:
            group = known.after_group and takes_group(named, callee, arguments)
            return self._builtin(node, known, arguments, used, int(group))
        return self._evaluate(node, named, callee, arguments, users)

    def returns_reference(self, node: Node) -> bool:
        if node.kind != CursorKind.CALL_EXPR:
            return False
        named = node.cursor.referenced
        if named is None or named.kind not in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD):
            return False
        return is_reference(named.result_type) and bool(self._users(named, None))

    # -- who is called

    def _users(self, named: Cursor | None, callee: Node | None) -> list[Key]:
        """Keys of the user's functions that may be called."""
        possible = candidates(named, callee)
        if len(possible) == 1 and (closure := self.context.lambdas.get(possible[0].hash)):
            return [closure]
        keys = (key(one) for one in possible)
        return [one for one in keys if one in self.context.functions or one in self.context.drafts]

    def _is_unknown(self, named: Cursor | None) -> bool:
        """Whether a call goes where only the run tells: through a pointer, a template parameter, to another file."""
        if named is None or is_variable(named):
            return True
        return named.kind != CursorKind.OVERLOADED_DECL_REF and not is_system(named)

    # -- the user's functions

    def _evaluate(
        self, node: Node, named: Cursor | None, callee: Node | None, arguments: list[Node], users: list[Key]
    ) -> Deps:
        this = self._object(callee)
        types = parameter_types(named, callee)
        if is_operator_method(named, callee, arguments):
            place = self.place(arguments[0])
            this |= place.address | self.values.get(place.variable)
            arguments = arguments[1:]
        if types or users or (named is not None and is_system(named)):
            given = self._arguments(arguments, types, bool(users))
        else:
            given = self._open_arguments(arguments, CALL if is_variable(named) else callee_name(node, callee))
        everything = this.union(*given)
        unknown = not users and self._is_unknown(named)
        if not users and not unknown:
            self.arithmetic += 1
            self._written(arguments, everything)
            return everything
        self._mark(node, None if unknown else tuple(users))
        for one in users:
            self._bind_symbols(one, this, given)
        stored = frozenset(Symbol("out", one) for one in users)
        self._written(arguments, everything | stored, types)
        return everything if unknown else frozenset(Symbol("return", one) for one in users)

    def open_operator(self, node: Node, operator: str, operands: list[Node]) -> Deps:
        users = self.context.operators.functions[operator]
        objects = [self.context.operators.copies(operator, position) for position in (0, 1)]
        known = NOTHING.union(*(self.operand(one, objects[1]) for one in operands[1:]))
        if operator in _UPDATING:
            known |= self.modify(self.place(operands[0]), known, objects[0])
        else:
            known |= self.operand(operands[0], objects[0])
        self.arithmetic += 1
        self._mark(node, tuple(users))
        for one in users:
            self._bind_symbols(one, known, [known] * len(operands))
        return known | {Symbol("return", one) for one in users}

    def open_call(self, node: Node, operator: str, operand: Node, given: Deps) -> Deps:
        users = tuple(self.context.operators.functions.get(operator, ()))
        if not users:
            return given
        self._mark(node, users, operand)
        for one in users:
            self._bind_symbols(one, given, [given])
        return given | {Symbol("return", one) for one in users}

    def _mark(self, node: Node, callees: tuple[Key, ...] | None, of: Node | None = None) -> None:
        """Mark a call of the user's functions, or of what only the run tells; only of an object, if `of` is given."""
        mark, new = self.site(node, Role.call, None)
        if new:
            mark.callees = callees
            self.around_call(node, mark, of)
        self._enter(callees or ())

    def mark_statement(self, node: Node, callees: tuple[Key, ...]) -> None:
        """Mark a declaration whose variables' constructors are called."""
        mark, new = self.site(node, Role.call, None)
        if new:
            mark.callees = callees
            self.edits.insert(node.start, lambda: f"{PROBE}enter<{mark.id}>(); " if mark.id else "")
            self.edits.insert(node.end, lambda: f" {PROBE}leave();" if mark.id else "")

    def _enter(self, callees: tuple[Key, ...]) -> None:
        """The user's functions run: what was loaded may be old, and what they store is stored."""
        self.loaded.stored()
        for one in callees:
            self.context.calls[self.key].add(one)
        self.context.facts.add(Symbol("out", self.key), (Symbol("out", one) for one in callees))

    def _bind_symbols(self, callee: Key, this: Deps, given: Sequence[Deps]) -> None:
        facts = self.context.facts
        facts.add(Symbol("control", callee), self.control)
        facts.add(Symbol("this", callee), this)
        for index, known in enumerate(given):
            facts.add(Symbol("param", callee, index), known)

    def _object(self, callee: Node | None) -> Deps:
        """Evaluate what a method is called of."""
        if callee is None or callee.kind != CursorKind.MEMBER_REF_EXPR:
            return NOTHING
        base = explicit_base(callee)
        if base is None:
            return NOTHING
        if base.is_undecided and "->" in self.file.text[base.end : callee.end]:
            return self.scalar(base)
        place = self.place(base)
        return place.address | self.values.get(place.variable)

    def _arguments(self, arguments: list[Node], types: Sequence[Type], is_users: bool) -> list[Deps]:
        padded = [*types, *[None] * len(arguments)]
        return [self._argument(one, wanted, is_users) for one, wanted in zip(arguments, padded, strict=False)]

    def _argument(self, node: Node, wanted: Type | None, is_users: bool) -> Deps:
        """Evaluate an argument: by value, or bound to a reference, through which the callee may access it."""
        inner = node.inner
        if wanted is None or not is_reference(wanted) or not self.can_bind(inner):
            return self.converted(node, COPIED if wanted is None or is_object(wanted) else OPERAND)
        if is_users:
            return self._bound(inner)
        if wanted.get_pointee().is_const_qualified() or wanted.kind == TypeKind.RVALUEREFERENCE:
            return self.value(node)
        return self.modify(self.place(inner), NOTHING)

    def _open_arguments(self, arguments: list[Node], name: str) -> list[Deps]:
        """Evaluate arguments of a call that a template leaves open: functions of that name may take references."""
        given = []
        for index, argument in enumerate(arguments):
            types = [one[index] for one in self.context.parameters.get(name, ()) if index < len(one)]
            if types and all(map(is_reference, types)) and self.can_bind(argument.inner):
                given.append(self._bound(argument.inner))
            else:
                copied = not types or any(map(is_object, types)) and not any(map(is_reference, types))
                given.append(self.converted(argument, COPIED if copied else OPERAND))
        return given

    def _bound(self, node: Node) -> Deps:
        """Bind a reference to an lvalue, which accesses nothing."""
        place = self.place(node)
        return place.address | self.values.get(place.variable)

    def _written(self, arguments: list[Node], data: Deps, types: Sequence[Type] = ()) -> None:
        """Local variables whose address or reference a function got may hold anything that it knew."""
        for index, argument in enumerate(arguments):
            inner = argument.inner
            by_address = inner.is_unary(Unary.address)
            by_reference = index < len(types) and is_reference(types[index]) and is_lvalue(inner)
            if not (by_address or by_reference):
                continue
            self._hold(inner.children[0] if by_address else inner, data)

    def _hold(self, node: Node, data: Deps) -> None:
        """The variables of an expression hold what depends on `data`."""
        for one in node.walk():
            if one.kind == CursorKind.DECL_REF_EXPR and one.cursor.referenced is not None:
                variable = one.cursor.referenced.hash
                self.values.add(variable, data)
                self.loaded.forget(variable)

    # -- constructors

    def _construct(self, node: Node, constructor: Cursor) -> Deps:
        """A copy of a plain structure is one load of it whole; other constructors are functions."""
        arguments = given_arguments(node, self.file.text)
        where = key(constructor)
        if where not in self.context.functions:
            if constructor.semantic_parent.spelling in ATOMIC_CLASSES:
                return NOTHING.union(*(self._bound(one.inner) for one in arguments))
            return NOTHING.union(*map(self._kept_or_read, arguments, constructor.type.argument_types()))
        given = self._arguments(arguments, list(constructor.type.argument_types()), True)
        if names_class(self.text(node), constructor) and node is not self.initial:
            self._mark(node, (where,))
        else:
            self._enter((where,))
            self.constructors.append(where)
        self._bind_symbols(where, NOTHING, given)
        return NOTHING.union(*given) | {Symbol("out", where)}

    def _kept_or_read(self, argument: Node, wanted: Type) -> Deps:
        """An argument of a library's constructor, which keeps what it has a reference to (CUB: the storage)."""
        is_kept = wanted.kind == TypeKind.LVALUEREFERENCE and not wanted.get_pointee().is_const_qualified()
        return self._bound(argument.inner) if is_kept and self.can_bind(argument.inner) else self.value(argument)

    # -- the runtime's functions

    def _builtin(self, node: Node, known: Builtin, arguments: list[Node], used: bool, group: int) -> Deps:
        """An atomic, a load or store through a pointer, a texture fetch, a barrier; `group` arguments come first."""
        if known.refused:
            raise self.context.refuse(node, self.text(node).partition("(")[0], known.refused)
        if known.of_warp and self.context.gpu:
            raise self.context.refuse(node, "a fragment of a matrix", "capture it without --target gpu")
        filled = [self.place(arguments[known.fills]).address] if known.fills >= 0 else []
        deps = filled + [self.value(argument) for argument in arguments[len(filled) :]]
        everything = NOTHING.union(*deps)
        if known.ends_loads:
            self.loaded.stored()
        if known.is_fetch:
            return self._fetch(node, everything)
        returned = NOTHING
        for index, kind in ((group + index, kind) for index, kind in known.accesses):
            if index >= len(arguments):
                continue
            probe = "tile" if known.tells and not self.context.gpu else "pointer"
            returned |= self._through(arguments[index], known.kind_of(kind, used), deps[index], everything, probe)
        if filled:
            self._hold(arguments[known.fills], returned | everything)
        return returned if known.returns_loaded else returned | everything

    def _through(self, pointer: Node, kind: Kind, address: Deps, data: Deps, probe: str) -> Deps:
        """Access what a pointer argument points to."""
        draft, new = self.site(pointer, Role.access, kind, address)
        if kind is Kind.store:
            draft.data_from |= data
        elif kind is not Kind.load:
            draft.waits_for |= data  # an atomic is sent with its operand
        if new:
            self.around(pointer, probe, draft)
        if kind is not Kind.load:
            self.loaded.stored()
            self.context.facts.add(Symbol("out", self.key), data | {draft})
        return frozenset({draft}) if kind in (Kind.load, Kind.atomic) else NOTHING

    def _atomic_object(self, node: Node, kind: Kind, callee: Node | None, arguments: list[Node]) -> Deps:
        """A method of cuda::atomic or cuda::atomic_ref, which tells its probe what it touched."""
        operator = callee is None or callee.kind == CursorKind.DECL_REF_EXPR
        address = self.place(arguments[0]).address if operator and arguments else self._object(callee)
        given = [self.value(one) for one in arguments[int(operator) :]]
        draft, new = self.site(node, Role.access, kind, address)
        data = NOTHING.union(*given)
        if kind is Kind.store:
            draft.data_from |= data
        elif kind is not Kind.load:
            draft.waits_for |= data
        if new:
            before = f"{PROBE}atomically<"
            self.edits.wrap(
                node.start,
                node.end,
                lambda: f"{before}{draft.id}>([&]() -> decltype(auto) {{ return ",
                lambda: "; })",
            )
        if kind is not Kind.load:
            self.loaded.stored()
        return frozenset({draft}) if kind in (Kind.load, Kind.atomic) else NOTHING

    def _fetch(self, node: Node, address: Deps) -> Deps:
        draft, new = self.site(node, Role.access, Kind.load, address)
        if new:
            self.around(node, "fetch", draft)
        return frozenset({draft})


def _of_atomic_object(named: Cursor | None, used: bool) -> Kind | None:
    """What a method of CUDA's classes of atomic objects does to one; None of any other function."""
    if named is None or not is_system(named) or named.semantic_parent.spelling not in ATOMIC_CLASSES:
        return None
    return None if named.kind == CursorKind.CONSTRUCTOR else atomic_method(named.spelling, used)
