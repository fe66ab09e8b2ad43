"""wmma (PTX ISA 9.0, section 9.7.14.4) as the loads, stores and products that assemblers make of it.

The ISA leaves open which lane holds which element of a wmma fragment. For compute capability 7.5 and later, ptxas
takes the documented fragments of mma.sync (section 9.7.14.5): what nvdisasm shows of its code are ldmatrix from shared
memory, words of 32 bits side by side in memory from elsewhere (turned in registers where need be), and pairs of sums.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memsim.sources.ptx.module import Address, Function, Immediate, Instruction, Operand, Register, Symbol, Vector
from memsim.sources.ptx.text import type_bytes
from memsim.support.errors import InputError

_GROUP = 8  # lines of a matrix that the lanes of a warp hold, four lanes each
_SHORT = {"tf32": "b32", "f64": "b64"}  # types of registers that hold one element
_MATRICES = 4  # that one ldmatrix loads at most


def without_wmma(function: Function, where: str) -> Function:
    """A kernel with other instructions in the place of wmma's.

    Args:
        function: a kernel without calls.
        where: what errors call the PTX.

    Raises:
        InputError: a fragment of a shape, type or layout that memsim does not support, with its line.
    """
    if not any(isinstance(one, Instruction) and one.name == "wmma" for one in function.body):
        return function
    expanded = replace(function, body=[], registers=dict(function.registers))
    for one in function.body:
        if isinstance(one, Instruction) and one.name == "wmma":
            _Expansion(expanded, one, where).expand()
        else:
            expanded.body.append(one)
    return expanded


@dataclass(frozen=True)
class _Matrix:
    """One matrix of a product, as it lies in memory and in lanes.

    Attributes:
        lines: of the fragment: rows of the left matrix and of the sum, columns of the right one.
        length: elements of a line.
        transposed: in memory, the lines are the fragment's other way.
        bytes: of an element.
    """

    lines: int
    length: int
    transposed: bool
    bytes: int

    @property
    def groups(self) -> int:
        return self.lines // _GROUP


class _Expansion:
    """Writes what stands for one instruction behind a function's body."""

    def __init__(self, expanded: Function, one: Instruction, where: str) -> None:
        self._expanded, self._one, self._where = expanded, one, where
        found = next((part for part in one.opcode if re.fullmatch(r"m\d+n\d+k\d+", part)), "")
        m, n, self._k = map(int, re.findall(r"\d+", found)) if found else (0, 0, 0)
        # Eight rows by 32 columns are computed turned: as 32 rows by eight.
        self._swapped = m == _GROUP and n > _GROUP
        self._m, self._n = (n, m) if self._swapped else (m, n)

    def expand(self) -> None:
        one = self._one
        if not self._k or one.has("u4", "s4", "b1"):
            raise self._error("is of a shape or type that memsim does not support")
        if one.has("mma"):
            return self._multiply()
        listed, address = (one.operands[0], one.operands[1]) if one.has("load") else (one.operands[1], one.operands[0])
        stride = one.operands[2] if len(one.operands) > 2 else None
        if not isinstance(listed, Vector) or not isinstance(address, Address) or stride is None:
            raise self._error("has no stride, which memsim needs")
        part = next(part for part in one.opcode if part in "abcd")
        if part in "ab":
            self._load_factor(part, listed, address, stride)
        else:
            self._move_sum(listed, address, stride)
        return None

    def _error(self, problem: str) -> InputError:
        return InputError(f"{self._where}:{self._one.line}", self._one.text, problem)

    # -- what is emitted

    def _emit(self, text: str, *operands: Operand) -> None:
        one = self._one
        added = Instruction(tuple(text.split(".")), operands, one.guard, one.line, one.position)
        self._expanded.body.append(added)

    def _new(self, kind: str) -> Register:
        name = f"%wmma{len(self._expanded.registers)}"
        self._expanded.registers[name] = kind
        return Register(name)

    def made(self, text: str, *operands: Operand, kind: str = "b32") -> Register:
        """A new register with what an instruction gives."""
        to = self._new(kind)
        self._emit(text, to, *operands)
        return to

    # -- addresses

    def _lane_bits(self, shift: int, mask: int) -> Register:
        lane = self.made("mov.u32", Register("%laneid"))
        moved = self.made("shr.u32", lane, Immediate(shift)) if shift else lane
        return self.made("and.b32", moved, Immediate(mask))

    def _addresses(self, address: Address, stride: Operand, size: int, line: Register, along: Register) -> _Addresses:
        """Addresses of a lane: of its line, with so many bytes along it."""
        base = address.base
        wide = not isinstance(base, Register) or "64" in self._expanded.registers.get(base.name, "b64")
        kind = "64" if wide else "32"
        if isinstance(base, Symbol):
            base = self.made("mov.u64", base, kind="b64")
        elements = self.made("mul.lo.s32", line, stride)
        bytes_ = self.made("mad.lo.s32", elements, Immediate(size), along)
        added = self.made("cvt.s64.s32", bytes_, kind="b64") if wide else bytes_
        start = self.made(f"add.s{kind}", base, added, kind=f"b{kind}")
        return _Addresses(self, start, stride, size, kind, address.offset)

    # -- factors

    def _load_factor(self, part: str, listed: Vector, address: Address, stride: Operand) -> None:
        kind = self._one.type
        left = (part == "a") != self._swapped
        transposed = self._one.has("col") != (part == "b")  # the fragment's lines are columns of b
        matrix = _Matrix(self._m if left else self._n, self._k, transposed, type_bytes(_SHORT.get(kind, kind)))
        if matrix.bytes >= 4:
            return self._load_elements(matrix, listed, address, stride)
        if matrix.transposed and matrix.bytes != 2:
            raise self._error("has a layout that memsim does not support for elements of 8 bits")
        shared = any(one.split("::")[0] == "shared" for one in self._one.opcode)
        if shared and matrix.bytes == 2:
            return self._load_rows(matrix, listed, address, stride)
        return self._load_words(matrix, listed, address, stride)

    def _load_elements(self, matrix: _Matrix, listed: Vector, address: Address, stride: Operand) -> None:
        """One element a register, from wherever it lies."""
        of_line, of_length = self._lane_bits(2, 7), self._lane_bits(0, 3)
        line, other = (of_length, of_line) if matrix.transposed else (of_line, of_length)
        along = self.made("mul.lo.s32", other, Immediate(matrix.bytes))
        at = self._addresses(address, stride, matrix.bytes, line, along)
        for w in range(matrix.lines * matrix.length // 32):
            lines, length = _GROUP * (w % matrix.groups), 4 * (w // matrix.groups)
            moved = (length, lines) if matrix.transposed else (lines, length)
            self._load(f"b{8 * matrix.bytes}", listed.elements[w], at(moved[0], moved[1] * matrix.bytes))

    def _load_words(self, matrix: _Matrix, listed: Vector, address: Address, stride: Operand) -> None:
        """Words along the lines of memory; those of the fragment's other way are turned in registers."""
        along = self.made("mul.lo.s32", self._lane_bits(0, 3), Immediate(4))
        at = self._addresses(address, stride, matrix.bytes, self._lane_bits(2, 7), along)
        groups = (matrix.length if matrix.transposed else matrix.lines) // _GROUP
        for w in range(matrix.lines * matrix.length * matrix.bytes // 128):
            group, block = w % groups, w // groups
            at_word = at(_GROUP * group, 16 * block)
            if matrix.transposed:
                word = self._new("b32")
                self._load("b32", word, at_word)
                self._transpose(listed.elements[block + matrix.groups * group], word)
            else:
                self._load("b32", listed.elements[w], at_word)

    def _load_rows(self, matrix: _Matrix, listed: Vector, address: Address, stride: Operand) -> None:
        """By ldmatrix: lanes give the rows of up to four matrices of 8 by 8 elements."""
        groups = (matrix.length if matrix.transposed else matrix.lines) // _GROUP
        count = matrix.lines * matrix.length // 64
        rows_of_matrices = min(groups, _MATRICES)  # matrices of one instruction that lie below one another
        line = self.made("and.b32", self.made("mov.u32", Register("%laneid")), Immediate(_GROUP * rows_of_matrices - 1))
        row_part = self._lane_bits(2 + rows_of_matrices.bit_length(), _MATRICES // rows_of_matrices - 1)
        at = self._addresses(address, stride, 2, line, self.made("mul.lo.s32", row_part, Immediate(16)))
        for first in range(0, count, _MATRICES):
            numbers = range(first, min(first + _MATRICES, count))
            order = [(w // groups + matrix.groups * (w % groups)) if matrix.transposed else w for w in numbers]
            text = f"ldmatrix.sync.aligned.m8n8.x{len(numbers)}{'.trans' * matrix.transposed}.shared.b16"
            self._emit(text, Vector(tuple(listed.elements[w] for w in order)), at(0, 16 * (first // groups)))

    def _load(self, kind: str, to: Operand, at: Address) -> None:
        self._emit(f"ld.{self._space()}{kind}", to, at)

    def _space(self) -> str:
        return next((f"{one}." for one in self._one.opcode if one.split("::")[0] in ("global", "shared")), "")

    def _transpose(self, to: Operand, word: Register) -> None:
        """Turn 8 by 8 halves: lane 4 r + c / 2 holds element (r, c), in half c % 2 of its word."""
        g, t = self._lane_bits(2, 7), self._lane_bits(0, 3)
        half = self.made("and.b32", g, Immediate(1))
        selector = self.made("mad.lo.s32", half, Immediate(0x2222), Immediate(0x5410))
        source = self.made("mad.lo.s32", t, Immediate(8), self.made("shr.u32", g, Immediate(1)))
        all_lanes = Immediate(0xFFFFFFFF)
        shuffle = "shfl.sync.idx.b32"
        low = self.made(shuffle, word, source, Immediate(31), all_lanes)
        below = self.made("add.s32", source, Immediate(4))
        high = self.made(shuffle, word, below, Immediate(31), all_lanes)
        self._emit("prmt.b32", to, low, high, selector)

    # -- sums

    def _move_sum(self, listed: Vector, address: Address, stride: Operand) -> None:
        kind = self._one.type
        transposed = self._one.has("col") != self._swapped
        matrix = _Matrix(self._m, self._n, transposed, type_bytes(kind))
        per = 2 * matrix.bytes
        if matrix.transposed and matrix.bytes < 4:
            raise self._error("has a layout that memsim does not support for sums of 16 bits")
        of_line, pair = self._lane_bits(2, 7), self._lane_bits(0, 3)
        line = self.made("shl.b32", pair, Immediate(1)) if transposed else of_line
        along = self.made("mul.lo.s32", of_line if transposed else pair, Immediate(matrix.bytes if transposed else per))
        at = self._addresses(address, stride, matrix.bytes, line, along)
        for p in range(matrix.lines * matrix.length // 64):
            row, column = _GROUP * (p % matrix.groups), _GROUP * (p // matrix.groups)
            if transposed:
                for j in range(2):
                    self._move(f"b{8 * matrix.bytes}", listed.elements[2 * p + j], at(column + j, row * matrix.bytes))
            elif matrix.bytes == 2:
                self._move("b32", listed.elements[p], at(row, column * matrix.bytes))
            else:
                pair_of = Vector(listed.elements[2 * p : 2 * p + 2])
                self._move(f"v2.b{8 * matrix.bytes}", pair_of, at(row, column * matrix.bytes))

    def _move(self, kind: str, registers: Operand, at: Address) -> None:
        if self._one.has("load"):
            self._emit(f"ld.{self._space()}{kind}", registers, at)
        else:
            self._emit(f"st.{self._space()}{kind}", at, registers)

    # -- products

    def _multiply(self) -> None:
        one = self._one
        d, a, b, c = (operand.elements if isinstance(operand, Vector) else (operand,) for operand in one.operands[:4])
        if self._swapped:
            a, b = b, a
        found = [part for part in one.opcode if re.fullmatch(r"[su]8|s32|b?f16|tf32|f32|f64", part)]
        types = [found[0], "f16", "f16", found[1]] if len(found) == 2 else found
        if self._swapped:
            types[1], types[2] = types[2], types[1]
        rows = 16 if self._m > _GROUP else _GROUP
        per_pair = 1 if types[0] == "f16" else 2, 1 if types[3] == "f16" else 2
        blocks = -(-self._k * type_bytes(_SHORT.get(types[1], types[1])) // (32 if types[1] == "f64" else 16))
        groups, columns = self._m // _GROUP, self._n // _GROUP
        text = f"mma.sync.aligned.m{rows}n8k{self._k}.row.col.{'.'.join(types)}"
        for h in range(0, groups, rows // _GROUP):
            mine = range(h, h + rows // _GROUP)
            left = [a[group + groups * block] for block in range(blocks) for group in mine]
            for j in range(columns):
                right = [b[j + columns * block] for block in range(blocks)]
                to, of = ([p * per + i for p in (group + groups * j for group in mine) for i in range(per)]
                          for per in per_pair)  # fmt: skip
                lists = ([d[i] for i in to], left, right, [c[i] for i in of])
                self._emit(text, *(Vector(tuple(rows_)) for rows_ in lists))


@dataclass
class _Addresses:
    """Addresses of a lane, some lines and bytes from its first."""

    of: _Expansion
    start: Register
    stride: Operand
    size: int
    kind: str
    offset: int

    def __post_init__(self) -> None:
        self._lines = {0: self.start}

    def __call__(self, lines: int, more: int) -> Address:
        """The address of so many lines, and bytes, on."""
        if lines not in self._lines:
            made = self.of.made
            if self.kind == "64":
                step = made("mul.wide.s32", self.stride, Immediate(lines * self.size), kind="b64")
            else:
                step = made("mul.lo.s32", self.stride, Immediate(lines * self.size))
            self._lines[lines] = made(f"add.s{self.kind}", self.start, step, kind=f"b{self.kind}")
        return Address(self._lines[lines], self.offset + more)
