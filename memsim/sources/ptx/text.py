"""From a PTX text to a module: a recursive descent over its tokens (PTX ISA 9.0, chapters 4, 5 and 11)."""

from __future__ import annotations

import re
import struct

from memsim.sources.ptx.module import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Module,
    Not,
    Operand,
    PtxVariable,
    Register,
    SourcePosition,
    Stamp,
    Symbol,
    Vector,
)
from memsim.sources.ptx.token_cursor import TokenCursor
from memsim.sources.ptx.tokens import Token, integer

MOST_REGISTERS = 1 << 16  # of one function; a GPU's thread has 255
MOST_BYTES = 1 << 31  # of one variable
_SPACES = (".global", ".const", ".shared", ".local", ".param", ".tex")
_TYPE = re.compile(r"\.(pred|([bsuf]|bf)(\d+)(x2)?|[fe]\d+\w*|texref|samplerref|surfref)$")
_LIMITS = (".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg", ".reqnctapercluster",
           ".maxclusterrank")  # fmt: skip


def type_bytes(kind: str) -> int:
    """Bytes of a PTX type, by its name without the dot.

    >>> type_bytes("f16x2"), type_bytes("u8"), type_bytes("b128"), type_bytes("e4m3x2")
    (4, 1, 16, 2)
    """
    if kind.startswith("e"):  # e4m3 and the like: their digits are not their width
        return 2 if kind.endswith("x2") else 1
    found = re.search(r"(\d+)(x(\d))?$", kind)
    return int(found[1]) * int(found[3] or 1) // 8 if found else 1


def parse(text: str, where: str) -> Module:
    """Parse a module.

    Raises:
        InputError: the text is cut or is no PTX; one line that names the line of the text.
    """
    return _Parser(text, where).module()


class _Parser(TokenCursor):
    """The state of parsing: where in the tokens, which scopes of registers are open."""

    def __init__(self, text: str, where: str) -> None:
        super().__init__(text, where)
        self._module = Module(where)
        self._position = SourcePosition()
        self._inlined: dict[tuple[int, int, int], SourcePosition] = {}  # of the function that is being parsed
        self._scopes: list[dict[str, str]] = []  # names in `{ }` of a body -> their unique names
        self._n_scopes = 0
        self._in_assembly = 0  # `.loc`s seen in inline assembly: LLVM counts lines on there, so the first alone holds
        self._declared_registers: dict[str, str] = {}  # of the function that is being parsed

    # -- the module

    def module(self) -> Module:
        """All of the text; what comes before any function first, as files are named at its end."""
        self._find_files()
        while self._peek().kind != "end":
            self._top()
        if not self._module.functions:
            raise self._error(self._peek(), "defines no function; give the text of a module")
        return self._module

    def _find_files(self) -> None:
        for at, token in enumerate(self._tokens[:-2]):
            if token.text == ".file" and self._tokens[at + 2].kind == "string":
                name = self._tokens[at + 2].text.strip('"')
                self._module.files[int(self._tokens[at + 1].text)] = name
                if stamp := self._stamp(at + 3):
                    self._module.stamps[name] = stamp

    def _stamp(self, at: int) -> Stamp | None:
        """Time and size, which `, 1700000000, 1234` after a file's name may state."""
        following = self._tokens[at : at + 4]
        if [one.kind for one in following] != ["punctuation", "number"] * 2:
            return None
        return integer(following[1].text), integer(following[3].text)

    def _top(self) -> None:
        token = self._next()
        if token.text == ".target":
            self._module.target = self._list()
        elif token.text in (".version", ".address_size"):
            self._list()
        elif token.text == ".file":
            self._file()
        elif token.text == ".loc":
            self._loc()
        elif token.text in (".visible", ".extern", ".weak", ".common", ";", ".noreturn"):
            if token.text == ".extern" and self._peek().text in _SPACES:
                self._variable(self._next().text, self._module.variables, extern=True)
        elif token.text in (".entry", ".func"):
            self._function(token)
        elif token.text in _SPACES:
            self._variable(token.text, self._module.variables)
        elif token.text in (".alias", ".pragma"):
            while self._next().text != ";":
                pass
        else:
            raise self._error(token, f"has {token.text!r} where a function or a variable must begin")

    def _variable(self, space: str, into: dict[str, PtxVariable], *, extern: bool = False) -> None:
        """One or several variables of a space, up to the semicolon."""
        while True:
            variable = self._declared(space, extern=extern)
            into[variable.name] = variable
            if not self._take(","):
                break
        self._expect(";")

    def _declared(self, space: str, *, extern: bool = False) -> PtxVariable:
        """A variable after its space: alignment, type, name, extents, values."""
        align, vector, kind = 0, 1, ""
        while self._peek().text.startswith("."):
            token = self._next()
            if token.text == ".align":
                align = self._integer()
            elif token.text in (".v2", ".v4"):
                vector = int(token.text[2:])
            elif token.text == ".ptr":
                self._skip_pointee()
            elif token.text == ".attribute":
                self._skip_parentheses()
            elif token.text in (".unified", ".managed", *_SPACES):
                pass
            elif _TYPE.match(token.text):
                kind = token.text[1:]
            else:
                raise self._error(token, f"has {token.text!r} in a declaration")
        name = self._next()
        if name.kind != "word" or not kind:
            raise self._error(name, f"declares {name.text!r} without a type or a name")
        element = type_bytes(kind) * vector
        count, extern = self._extents(extern)
        if count * element > MOST_BYTES:
            raise self._error(name, f"declares {name.text} of {count * element} bytes; at most {MOST_BYTES}")
        values, addresses = self._values(kind) if self._take("=") else ((), ())
        return PtxVariable(
            self._renamed(name.text),
            space[1:],
            align or element,
            count * element,
            element,
            values,
            addresses,
            extern,
            kind,
        )

    def _skip_parentheses(self) -> None:
        """``.attribute(.managed)``, ``.attribute(.unified(1, 2))``: where the variable lies is the caller's matter."""
        self._expect("(")
        depth = 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self._next().text, 0)

    def _skip_pointee(self) -> None:
        """``.ptr .global .align 16``: the space and the alignment of what a parameter points to, not its own."""
        while self._peek().text in _SPACES:
            self._next()
        if self._take(".align"):
            self._integer()

    def _extents(self, extern: bool) -> tuple[int, bool]:
        count = 1
        while self._take("["):
            if self._take("]"):
                extern = True
                continue
            count *= self._integer()
            self._expect("]")
        return count, extern

    def _values(self, kind: str) -> tuple[tuple[int, ...], tuple[tuple[int, str, int], ...]]:
        """Initial values: their bytes, and where addresses of variables stand in them."""
        data = bytearray()
        addresses: list[tuple[int, str, int]] = []
        width = type_bytes(kind)
        while True:
            token = self._peek()
            if token.text in ("{", "}", ",", "(", ")"):
                self._at += 1
            elif token.text == ";" or token.kind == "end":
                return tuple(data), tuple(addresses)
            elif token.kind == "word" and self._next().text != "generic":
                added = self._integer() if self._take("+") else 0
                addresses.append((len(data), token.text, added))
                data += bytes(width)
            elif token.kind != "word":
                one = self._constant()
                value = one.value if not one.float_bits else _float_bits(one, width * 8)
                data += (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")

    # -- functions

    def _function(self, first: Token) -> None:
        results = self._parameters() if self._peek().text == "(" else []
        name = self._next()
        function = Function(name.text, first.text == ".entry", name.line, results)
        if self._peek().text == "(":
            function.parameters = self._parameters()
        while self._peek().text.startswith("."):
            self._limit(function)
        if self._take(";"):
            function.declared_only = True
            self._module.functions.setdefault(function.name, function)
            return
        self._expect("{")
        self._position, self._inlined = SourcePosition(), {}
        self._scopes, self._declared_registers = [{}], function.registers
        self._body(function)
        self._module.functions[function.name] = function

    def _parameters(self) -> list[PtxVariable]:
        self._expect("(")
        found = []
        while not self._take(")"):
            space = self._next()
            if space.text not in (".param", ".reg"):
                raise self._error(space, f"has {space.text!r} where a parameter must be")
            found.append(self._declared(".param"))
            self._take(",")
        return found

    def _limit(self, function: Function) -> None:
        token = self._next()
        if token.text in _LIMITS:
            numbers = [self._integer()]
            while self._take(","):
                numbers.append(self._integer())
            x, y, z = (numbers + [1, 1, 1])[:3]
            if token.text == ".reqntid":
                function.block = (x, y, z)
            elif token.text == ".reqnctapercluster":
                function.cluster = (x, y, z)
        elif token.text not in (".noreturn", ".explicitcluster", ".blocksareclusters"):
            raise self._error(token, f"has {token.text!r} before a function's body")

    def _body(self, function: Function) -> None:
        """Statements up to the closing brace."""
        while True:
            token = self._next()
            if token.kind == "assembly":
                self._in_assembly = int(token.text == "begin")
            elif token.text == "}":
                self._scopes.pop()
                if not self._scopes:
                    return
            elif token.text == "{":
                self._n_scopes += 1
                self._scopes.append({})
                self._find_labels()
            elif token.text.startswith("."):
                self._directive(function, token)
            elif token.kind == "word" and self._peek().text == ":":
                self._label(function, token)
            elif token.text != ";":
                self._at -= 1
                function.body.append(self._instruction())

    def _find_labels(self) -> None:
        """Labels of a scope may be branched to before they stand."""
        depth, at = 1, self._at
        while depth and self._tokens[at].kind != "end":
            depth += {"{": 1, "}": -1}.get(self._tokens[at].text, 0)
            if depth == 1 and self._tokens[at + 1].text == ":" and self._tokens[at].kind == "word":
                self._declare(self._tokens[at].text)
            at += 1

    def _declare(self, name: str) -> str:
        """The unique name of what the innermost scope declares."""
        if len(self._scopes) > 1:
            self._scopes[-1][name] = f"{name}#{self._n_scopes}"
        return self._renamed(name)

    def _renamed(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return name

    def _label(self, function: Function, token: Token) -> None:
        self._expect(":")
        name = self._renamed(token.text)
        if self._peek().text == ".branchtargets":
            self._at += 1
            function.tables[name] = []
            while not self._take(";"):
                function.tables[name].append(self._renamed(self._next().text))
                self._take(",")
        elif self._peek().text in (".callprototype", ".calltargets"):
            while self._next().text != ";":
                pass
        else:
            function.body.append(Label(name))

    def _directive(self, function: Function, token: Token) -> None:
        if token.text == ".loc":
            self._loc()
        elif token.text == ".file":
            self._file()
        elif token.text == ".reg":
            self._registers(function)
        elif token.text in _SPACES:
            while True:
                if len(self._scopes) > 1:
                    self._declare(self._name_ahead())
                variable = self._declared(token.text)
                function.variables[variable.name] = variable
                if not self._take(","):
                    break
            self._expect(";")
        elif token.text == ".pragma":
            while self._next().text != ";":
                pass
        elif token.text in (".b8", ".b16", ".b32", ".b64"):
            while self._peek().kind != "end" and self._peek().line == token.line:
                self._at += 1
        else:
            raise self._error(token, f"has the directive {token.text}, which memsim does not support")

    def _name_ahead(self) -> str:
        at = self._at
        while self._tokens[at].text.startswith(".") or self._tokens[at].kind == "number":
            at += 1
        return self._tokens[at].text

    def _file(self) -> None:
        """``.file NUMBER NAME [, TIME, SIZE]``, which was read at the beginning."""
        self._integer()
        self._list()

    def _loc(self) -> None:
        """``.loc FILE LINE COLUMN [, function_name NAME, inlined_at FILE LINE COLUMN]``.

        A caller that is inlined itself has a ``.loc`` of its own before (PTX ISA 9.0, section 11.5.3).
        """
        location, caller = self._location(), None
        while self._take(","):
            if self._next().text == "inlined_at":
                at = self._location()
                caller = self._inlined.get(at, self._position_at(at))
            else:
                self._next()
                if self._take("+"):
                    self._integer()
        if self._in_assembly < 2:
            self._position = self._inlined[location] = self._position_at(location, caller)
        self._in_assembly += bool(self._in_assembly)

    def _location(self) -> tuple[int, int, int]:
        return self._integer(), self._integer(), self._integer()

    def _position_at(self, location: tuple[int, int, int], caller: SourcePosition | None = None) -> SourcePosition:
        file, line, column = location
        return SourcePosition(self._module.files.get(file, ""), line, column, caller)

    def _registers(self, function: Function) -> None:
        while (token := self._next()).text in (".v2", ".v4"):
            pass
        if not _TYPE.match(token.text):
            raise self._error(token, f"declares registers of type {token.text!r}")
        kind = token.text[1:]
        while True:
            name = self._next()
            names = [name.text]
            if self._take("<"):
                count = self._integer()
                if not 0 <= count <= MOST_REGISTERS:
                    raise self._error(name, f"declares {count} registers; at most {MOST_REGISTERS}")
                names = [f"{name.text}{i}" for i in range(count)]
                self._expect(">")
            for one in names:
                function.registers[self._declare(one)] = kind
            if len(function.registers) > MOST_REGISTERS:
                raise self._error(name, f"declares over {MOST_REGISTERS} registers")
            if not self._take(","):
                break
        self._expect(";")

    # -- instructions

    def _instruction(self) -> Instruction:
        line, guard = self._peek().line, None
        if self._take("@"):
            negated = self._take("!")
            register = Register(self._renamed(self._next().text))
            guard = Not(register) if negated else register
        opcode = self._next()
        if opcode.kind != "word" or opcode.text[0] in "%$.":
            raise self._error(opcode, f"has {opcode.text!r} where an instruction must be")
        operands: list[Operand] = []
        if self._peek().text != ";":
            operands.append(self._operand())
            while self._take(","):
                operands.append(self._operand())
        self._expect(";")
        return Instruction(tuple(opcode.text.split(".")), tuple(operands), guard, line, self._position)

    def _operand(self) -> Operand:
        token = self._peek()
        if token.text == "[":
            return self._address()
        if token.text in ("{", "("):
            self._at += 1
            end, elements = "}" if token.text == "{" else ")", []
            while not self._take(end):
                elements.append(self._operand())
                self._take(",")
            return Vector(tuple(elements))
        if self._take("!"):
            return Not(Register(self._renamed(self._next().text)))
        if token.kind == "number" or token.text == "-":
            return self._constant()
        first = self._named()
        if self._take("|"):
            return Vector((first, self._named()))
        return first

    def _named(self) -> Register | Symbol:
        token = self._next()
        if token.kind != "word":
            raise self._error(token, f"has {token.text!r} where an operand must be")
        name = self._renamed(token.text)
        if name[0] == "%" or name in ("_", "WARP_SZ") or name in self._declared_registers:
            return Register(name)
        if self._take("+"):
            return Symbol(name, self._integer())
        return Symbol(name)

    def _address(self) -> Address:
        self._expect("[")
        token = self._peek()
        base: Operand = self._constant() if token.kind == "number" else self._named()
        offset = 0
        coordinates: tuple[Operand, ...] = ()
        while self._peek().text in ("+", "-"):
            sign = -1 if self._next().text == "-" else 1
            offset += sign * self._integer()
        if self._take(","):
            vector = self._operand()
            coordinates = vector.elements if isinstance(vector, Vector) else (vector,)
            if self._take(","):
                self._operand()
        self._expect("]")
        if isinstance(base, Symbol):
            base, offset = Symbol(base.name), offset + base.offset
        assert isinstance(base, Register | Symbol | Immediate)
        return Address(base, offset, coordinates)


def _float_bits(constant: Immediate, bits: int) -> int:
    """The bits of a floating-point constant in a type of so many bits."""
    if constant.float_bits == bits:
        return constant.value
    value = struct.unpack(
        "<d" if constant.float_bits == 64 else "<f", constant.value.to_bytes(constant.float_bits // 8, "little")
    )[0]
    return int.from_bytes(struct.pack({16: "<e", 32: "<f", 64: "<d"}[bits], value), "little")
