"""Waits and instruction mixes of an Accel-Sim trace, from the registers that every line names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.jit.compiled import inlined
from memsim.sources.imported.units import UNITS
from memsim.sources.mixes import COUNT, MIX_FIELDS, MixTable, mix_number, new_mixes
from memsim.sources.rows import STATE
from memsim.sources.waits import ANSWERED, COPIES, LOADS, NEEDED, issue_load, need, take_waits
from memsim.trace.schema import INSTRUCTION_CLASSES, TENSOR_TYPES

ALL_REGISTERS = 256
ZERO_REGISTER = 255  # RZ: reads as 0, forgets what is written
_TENSOR = UNITS.index("tensor")
_CLASSES = len(INSTRUCTION_CLASSES)
_COUNTS = np.array([COUNT[f"count_{unit}"] for unit in UNITS])
_CHAINS = np.array([COUNT[f"critical_{unit}"] for unit in INSTRUCTION_CLASSES])
_MACS = np.array([COUNT[f"count_{each}"] for each in TENSOR_TYPES])
_RUN, _LENGTH = _CLASSES, _CLASSES + 1  # of a chain, after its instructions by class


class WarpState(NamedTuple):
    """The warp at hand.

    Attributes:
        loader: i8 [ALL_REGISTERS, 2], class and number of the load that wrote a register last; number 0: none did.
        waits: i8 [1, STATE], see memsim.sources.waits.
        counts: i8 [MIX_FIELDS], of the compute run under way.
        chains: i8 [ALL_REGISTERS + 1, classes + 2], the longest chain of dependent instructions that ends in a
            register, by class, the compute run that it belongs to, and its length; the last row is the longest of all.
        run: i8 [1], number of the compute run under way.
        mixes: those of all warps.
    """

    loader: np.ndarray
    waits: np.ndarray
    counts: np.ndarray
    chains: np.ndarray
    run: np.ndarray
    mixes: MixTable


def new_issue() -> WarpState:
    """No warp yet."""
    return WarpState(
        loader=np.zeros((ALL_REGISTERS, 2), np.int64),
        waits=np.zeros((1, STATE), np.int64),
        counts=np.zeros(MIX_FIELDS, np.int64),
        chains=np.zeros((ALL_REGISTERS + 1, _CLASSES + 2), np.int64),
        run=np.ones(1, np.int64),
        mixes=new_mixes(),
    )


@inlined
def begin_issue(issue):
    """Another warp: nothing is loaded."""
    issue.loader[:] = 0
    issue.waits[:] = 0
    begin_run(issue)


@inlined
def begin_run(issue):
    """No instruction since the last row."""
    issue.counts[:] = 0
    issue.run[0] += 1
    issue.chains[ALL_REGISTERS, :] = 0


@inlined
def use_registers(issue, named, first, count):
    """Whatever comes next waits for the loads of so many named registers."""
    for k in range(first, first + count):
        register = named[k]
        if register != ZERO_REGISTER and issue.loader[register, 1] > 0:
            need(issue.waits, 0, issue.loader[register, 0], issue.loader[register, 1])


@inlined
def is_new(issue, named, first, count):
    """Whether one of so many named registers comes from a load that nothing has needed yet."""
    new = False
    for k in range(first, first + count):
        register = named[k]
        number = issue.loader[register, 1] if register != ZERO_REGISTER else 0
        load_class = issue.loader[register, 0]
        known = max(issue.waits[0, NEEDED + load_class], issue.waits[0, ANSWERED + load_class])
        new |= number > known
    return new


@inlined
def wait_for_copies(issue):
    """Wait for all copies to shared memory: which groups DEPBAR leaves is not in the trace."""
    need(issue.waits, 0, COPIES, issue.waits[0, LOADS + COPIES])


@inlined
def loads_into(issue, load_class, register, count, rows):
    """A load of a class, of so many rows, into so many registers; without a register (-1), into none."""
    number = np.int64(0)
    for _ in range(rows):
        number = issue_load(issue.waits, 0, load_class)
    if register >= 0:
        for k in range(register, min(register + count, ZERO_REGISTER)):
            issue.loader[k, 0] = load_class
            issue.loader[k, 1] = number


@inlined
def count_instruction(issue, opcode, named, read_from, read, written):
    """Count an instruction of the compute run, and lengthen the chain that it continues."""
    unit = np.int64(opcode.unit)
    issue.counts[_COUNTS[unit]] += 1
    if unit == _TENSOR:
        issue.counts[_MACS[opcode.tensor]] += np.int64(opcode.macs)
    longest = np.int64(-1)
    length = np.int64(0)
    for k in range(read_from, read_from + read):
        register = named[k]
        if issue.chains[register, _RUN] == issue.run[0] and issue.chains[register, _LENGTH] > length:
            longest = register
            length = issue.chains[register, _LENGTH]
    if written == 0:
        extend(issue, ALL_REGISTERS, longest, unit, length)
    for k in range(written):
        if named[k] != ZERO_REGISTER:
            extend(issue, named[k], longest, unit, length)
            issue.loader[named[k], 1] = 0
            if length + 1 > issue.chains[ALL_REGISTERS, _LENGTH]:
                for c in range(_LENGTH + 1):
                    issue.chains[ALL_REGISTERS, c] = issue.chains[named[k], c]


@inlined
def extend(issue, to, longest, unit, length):
    """Have the chain that ends in register `longest` go on to another; the longest of all does not become shorter."""
    if to == ALL_REGISTERS and length + 1 <= issue.chains[ALL_REGISTERS, _LENGTH]:
        return
    for c in range(_CLASSES):
        issue.chains[to, c] = issue.chains[longest, c] if longest >= 0 else 0
    if unit < _CLASSES:
        issue.chains[to, unit] += 1
    issue.chains[to, _RUN] = issue.run[0]
    issue.chains[to, _LENGTH] = length + 1


@inlined
def end_run(issue, row):
    """Give a row its waits and its mix; the next compute run begins."""
    take_waits(row, issue.waits, 0)
    for c in range(_CLASSES):
        issue.counts[_CHAINS[c]] = issue.chains[ALL_REGISTERS, c]
    row["instruction_mix"] = mix_number(issue.mixes, issue.counts)
    if row["compute_run"] > 0:
        row["off_path"] = row["compute_run"] - min(issue.chains[ALL_REGISTERS, _LENGTH], np.int64(row["compute_run"]))
    begin_run(issue)
