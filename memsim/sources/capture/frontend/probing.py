"""The lowest layer of the walk over a function: sites are made, probes put into the text, values kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from clang.cindex import Cursor, CursorKind, Type

from memsim.sources.capture.frontend.declarations import Key, is_kernel
from memsim.sources.capture.frontend.flow import NOTHING, Deps, Draft, Facts, Symbol, Values
from memsim.sources.capture.frontend.operators import Operators
from memsim.sources.capture.frontend.source import Edits, SourceFile
from memsim.sources.capture.frontend.tree import Node
from memsim.sources.capture.sites import Role
from memsim.support.errors import InputError
from memsim.trace.schema import Kind

PROBE = "memsim_probe::"
_UNTYPED = (CursorKind.LAMBDA_EXPR, CursorKind.INIT_LIST_EXPR)  # what cannot stand in decltype
Identity = tuple[int, int, Role, Kind | None]  # of a site in its function: extent, role, kind


@dataclass
class Context:
    """What the walks over all functions of a file share.

    Attributes:
        files: the user's files by name.
        edits: of each file.
        functions: device functions by key.
        operators: the user's overloaded ones.
        parameters: by name of functions, the types of each one's parameters.
        keep_redundant: probe also loads that a compiler provably removes.
        facts: what flows between functions.
        gpu: whether the text is for nvcc.
        assembly: inline PTX is let through: the program ends where it would run it.
        made: by function, its sites by what they are.
        drafts: by function, its sites in order.
        calls: by function, the functions it calls.
        lambdas: of variables that hold a lambda, the lambda's key.
        refused: functions that cannot be captured, and why.
        registered: how many variables the runtime was told of.
        rewritten: declarations and inline PTX that were, by file and offset.
    """

    files: Mapping[str, SourceFile]
    edits: Mapping[str, Edits]
    functions: Mapping[Key, Cursor]
    operators: Operators
    parameters: Mapping[str, list[list[Type]]] = field(default_factory=dict)
    keep_redundant: bool = False
    gpu: bool = False
    assembly: bool = False
    facts: Facts = field(default_factory=Facts)
    made: dict[Key, dict[Identity, Draft]] = field(default_factory=dict)
    drafts: dict[Key, list[Draft]] = field(default_factory=dict)
    calls: dict[Key, set[Key]] = field(default_factory=dict)
    lambdas: dict[int, Key] = field(default_factory=dict)
    refused: list[tuple[Key, InputError]] = field(default_factory=list)
    registered: int = 0
    rewritten: set[tuple[str, int]] = field(default_factory=set)

    def check(self) -> None:
        """Refuse what a kernel cannot do without.

        Raises:
            InputError: names the file and the line.
        """
        reached: set[Key] = set()
        waiting = [key for key, function in self.functions.items() if is_kernel(function)]
        while waiting:
            key = waiting.pop()
            if key not in reached:
                reached.add(key)
                waiting += self.calls.get(key, ())
        for key, refusal in self.refused:
            if key in reached:
                raise refusal

    def refuse(self, node: Node, what: str, instead: str) -> InputError:
        return InputError(self.where(node), what, f"cannot be captured; {instead}")

    def where(self, node: Node) -> str:
        """File and line of a node, as they were written."""
        file = self.files[node.file]
        return f"{file.path}:{file.written_as(node.start, node.end).line}"


class Held(NamedTuple):
    """A value that was loaded: at which site, the variables that its lvalue names, whether no thread can change it."""

    draft: Draft
    names: frozenset[int]
    lasts: bool


class Loaded(dict[str, Held]):
    """Values still at hand, by their lvalues' texts."""

    def forget(self, variable: int) -> None:
        """Drop what names a variable that changes."""
        for text in [text for text, held in self.items() if variable in held.names]:
            del self[text]

    def stored(self) -> None:
        """Drop what a store may have changed, or behind a barrier another thread."""
        for text in [text for text, held in self.items() if not held.lasts]:
            del self[text]

    def copy(self) -> Loaded:
        return Loaded(self)

    def both(self, other: Loaded) -> Loaded:
        return Loaded({text: one for text, one in self.items() if other.get(text) == one})


class Probing:
    """Makes the sites of one function and edits its text.

    Attributes:
        values: what variables depend on here.
        control: what decides whether this point is reached.
        loaded: what need not be loaded again.
        arithmetic: instructions since the last site.
    """

    def __init__(self, context: Context, key: Key, body: Node) -> None:
        self.context, self.key = context, key
        self.edits = context.edits[body.file]
        self.file = context.files[body.file]
        self.values = Values()
        self.control: Deps = frozenset({Symbol("control", key)})
        self.loaded = Loaded()
        self.arithmetic = 0
        self._drafts = context.drafts.setdefault(key, [])
        self._made = context.made.setdefault(key, {})
        context.calls.setdefault(key, set())

    def is_made(self, node: Node, role: Role) -> bool:
        return (node.start, node.end, role, None) in self._made

    def site(self, node: Node, role: Role, kind: Kind | None, address: Deps = NOTHING) -> tuple[Draft, bool]:
        """The site of a node, and whether it is new: loops are walked more than once."""
        identity = (node.start, node.end, role, kind)
        draft = self._made.get(identity)
        new = draft is None
        if draft is None:
            draft = Draft(role, kind, node.file, node.start, node.end, gap=self.arithmetic)
            self._made[identity] = draft
            self._drafts.append(draft)
        self.arithmetic = 0
        draft.waits_for |= address | self.control
        draft.address |= address
        return draft, new

    def around(self, node: Node, form: str, *drafts: Draft, decided_by: str = "") -> None:
        """Wrap a node into a probe, ``form<ids>(node)``; one that the runtime's `decided_by` may leave out."""
        if not decided_by:
            self.edits.wrap(node.start, node.end, lambda: _call(form, drafts), lambda: ")")
            return
        probe = "[](auto& memsim_value) { "
        self.edits.wrap(
            node.start,
            node.end,
            lambda: f"{PROBE}{decided_by}(",
            lambda: f", {probe}{_call(form, drafts)}memsim_value); }})",
        )

    def around_call(self, node: Node, draft: Draft, of: Node | None = None) -> None:
        """Wrap a call into its marks, unless the site is dropped; with `of` given, only if that is an object."""
        self.edits.wrap(
            node.start,
            node.end,
            lambda: f"{self._marks(draft, of)}[&]() -> decltype(auto) {{ return " if draft.id else "",
            lambda: "; })" if draft.id else "",
        )

    def _marks(self, draft: Draft, of: Node | None) -> str:
        decided_by = f", {self.type_of(of)}" if of is not None else ""
        return f"{PROBE}{'call_of' if decided_by else 'call'}<{draft.id}{decided_by}>("

    def type_of(self, node: Node) -> str:
        """The type of an expression, as it is written; ``void`` where that cannot be."""
        if any(one.kind in _UNTYPED for one in node.walk()):
            return "void"
        return f"decltype({self.text(node)})"

    def text(self, node: Node) -> str:
        return self.file.text[node.start : node.end]

    def normal_text(self, node: Node) -> str:
        """The text without white space that means nothing: equal for equal lvalues."""
        return re.sub(r"\s+(?=\W)|(?<=\W)\s+", "", self.text(node))


def _call(form: str, drafts: tuple[Draft, ...]) -> str:
    return f"{PROBE}{form}<{', '.join(str(draft.id) for draft in drafts)}>("
