"""Texture fetches and surface accesses of a warp (CUDA C++ programming guide, "Texture Fetching").

Texels lie row by row, as in linear memory; the layout of CUDA arrays on a GPU is not documented. Each fetch of a warp
is logged as accesses to the texels' 32-byte sectors, each sector once per lane.
"""

from __future__ import annotations

import math

import numpy as np

from memsim.jit.compiled import called, loop
from memsim.sources.ptx.machine.access import (
    DONE,
    LOGGED,
    OUTSIDE,
    TOO_MANY_OPS,
    VALUES,
    host_of,
    locate,
    log_located,
    read,
    stopped_at,
    write,
)
from memsim.sources.ptx.machine.codes import BROUGHT, COUNT, DST, LANES, LIST, MASK, SHIFT, A, C, Type, X, Y
from memsim.sources.ptx.machine.log import WAITED, find
from memsim.sources.ptx.machine.numbers import NEAREST, to_bits, to_number
from memsim.sources.ptx.machine.tables import BASE_WARP, TRACING
from memsim.sources.ptx.textures import (
    ADDRESS,
    BIAS,
    BORDER,
    BORDERED,
    CLAMP,
    COMPONENT,
    COMPONENTS,
    DEPTH,
    DIMENSIONS,
    FILTER,
    FLOAT,
    HEIGHT,
    HIGHEST_LEVEL,
    ID,
    IS_LINEAR,
    KIND,
    LAYERED,
    LEVEL_ALIGNMENT,
    LEVELS,
    LINEAR,
    LOWEST_LEVEL,
    MIRROR,
    MODE_X,
    NORMALIZED,
    READ_MODE,
    ROW_BYTES,
    SLICE_BYTES,
    SRGB,
    TEXEL,
    UNSIGNED,
    WIDTH,
    WRAP,
)

F16, F32 = int(Type.f16), int(Type.f32)
FETCH, GATHER, LOAD_SURFACE, STORE_SURFACE, QUERY = range(5)  # DST: what a micro-op does
# Bits of SHIFT. The low byte of MASK counts the dimensions; above it is the component of a gather, the bytes of a
# surface's element or the queried column.
LAYER, CUBE, INTEGERS, AS_FLOAT, HAS_LEVEL, CLAMPED, ZEROED, INTEGER_LEVEL = 1, 2, 4, 8, 16, 32, 64, 128
SECTOR_SHIFT = 5
FRACTIONS = 256.0  # weights of linear filtering have 8 bits of fraction
CORNERS = 8


@called
def _texture(m, handle):
    """The row of a texture object; the last row if there is none."""
    for k in range(len(m.textures)):
        if m.textures[k, ID] == handle:
            return k
    return len(m.textures) - 1


@called
def _number(m, bits):
    m.cell[0] = bits
    return np.float64(m.single[0])


@called
def _stored(m, bits):
    m.cell[0] = bits
    return m.double[0]


@called
def _index(i, n, mode, normalized):
    """The texel for an index along one dimension; -1 outside. Wrap and mirror need normalized coordinates."""
    if 0 <= i < n:
        return i
    if mode == BORDERED:
        return np.int64(-1)
    if mode == WRAP and normalized:
        return i % n
    if mode == MIRROR and normalized:
        i = i % (2 * n)
        return i if i < n else 2 * n - 1 - i
    return min(max(i, np.int64(0)), n - 1)


@called
def _floor(x):
    """An index that fits 32 bits; not a number counts as 0."""
    if x != x:
        return np.int64(0)
    return np.int64(math.floor(min(max(x, -2147483648.0), 2147483647.0)))


@called
def _face(m):
    """Replace a direction in m.fetch[0:3] by a cube's coordinates on a face; returns the face."""
    x, y, z = m.fetch[0], m.fetch[1], m.fetch[2]
    if abs(x) >= abs(y) and abs(x) >= abs(z):
        face, major, s, t = (0, x, -z, -y) if x >= 0 else (1, -x, z, -y)
    elif abs(y) >= abs(z):
        face, major, s, t = (2, y, x, z) if y >= 0 else (3, -y, x, -z)
    else:
        face, major, s, t = (4, z, x, -y) if z >= 0 else (5, -z, -x, -y)
    major = major if major > 0 else 1.0
    m.fetch[0], m.fetch[1] = (s / major + 1.0) / 2.0, (t / major + 1.0) / 2.0
    return np.int64(face)


@called
def _level(m, t, row, r, lane):
    """The level of a mipmapped array that a lane fetches from: the nearest one."""
    if t[LEVELS] <= 1:
        return np.int64(0)
    lod = 0.0
    if row[SHIFT] & HAS_LEVEL:
        bits = r[row[C], lane]
        lod = np.float64((bits << 32) >> 32) if row[SHIFT] & INTEGER_LEVEL else _number(m, bits)
    lod += _stored(m, t[BIAS])
    lod = min(max(lod, _stored(m, t[LOWEST_LEVEL])), _stored(m, t[HIGHEST_LEVEL]))
    return min(max(_floor(lod + 0.5), np.int64(0)), t[LEVELS] - 1)


@called
def _corners(m, t, row, r, lane):
    """Put the addresses of a lane's texels into m.texels[:, lane] (0: outside) and their weights into m.weights.

    Returns how many there are; the texels are in the order of x, then y, then z.
    """
    flags, dimensions = row[SHIFT], row[MASK] & 255
    first = row[LIST]
    layer = np.int64(0)
    if flags & LAYER:
        layer = r[m.lists[first], lane] & 0xFFFFFFFF
        first += 1
    level = _level(m, t, row, r, lane)
    base, width, height, depth = t[ADDRESS], t[WIDTH], t[HEIGHT], t[DEPTH]
    row_bytes, slice_bytes = t[ROW_BYTES], t[SLICE_BYTES]
    for _ in range(level):
        base += (slice_bytes * depth + LEVEL_ALIGNMENT - 1) // LEVEL_ALIGNMENT * LEVEL_ALIGNMENT
        width, height = max(width // 2, 1), max(height // 2, 1)
        if not t[LAYERED]:
            depth = max(depth // 2, 1)
        row_bytes = width * t[TEXEL]
        slice_bytes = row_bytes * height
    for k in range(dimensions):
        bits = r[m.lists[first + k], lane]
        m.fetch[k] = np.float64((bits << 32) >> 32) if flags & INTEGERS else _number(m, bits)
    if flags & CUBE:
        layer = 6 * layer + _face(m)
        dimensions = np.int64(2)
    dimensions = min(dimensions, t[DIMENSIONS])  # a 1D texture may be fetched from with two coordinates
    if flags & (LAYER | CUBE):
        layer = min(max(layer, np.int64(0)), depth - 1)
        base += layer * slice_bytes
    gathers = row[DST] == GATHER
    linear = (t[FILTER] == LINEAR and not flags & INTEGERS and not t[IS_LINEAR]) or gathers
    count = 1 << dimensions if linear else 1
    for corner in range(count):
        m.weights[corner] = 1.0
        m.texels[corner, lane] = base
    for k in range(dimensions):
        extent, step = (width, t[TEXEL]) if k == 0 else (height, row_bytes) if k == 1 else (depth, slice_bytes)
        x, mode = m.fetch[k], t[MODE_X + k]
        if t[IS_LINEAR]:
            mode = np.int64(BORDERED)
        elif flags & CUBE:
            mode = np.int64(CLAMP)
        scaled = (t[NORMALIZED] or flags & CUBE) and not flags & INTEGERS
        if scaled:
            x *= extent
        if linear:
            x -= 0.5
        low = _floor(x)
        weight = math.floor((x - low) * FRACTIONS + 0.5) / FRACTIONS if x == x else 0.0
        for corner in range(count):
            upper = (corner >> k) & 1
            at = _index(low + upper, extent, mode, scaled)
            if linear:
                m.weights[corner] *= weight if upper else 1.0 - weight
            if at < 0:
                m.texels[corner, lane] = 0
            elif m.texels[corner, lane] != 0:
                m.texels[corner, lane] += at * step
    return np.int64(count)


@called
def _component(m, w, t, lane, address, c):
    """The bits of a texel's component; what a texel does not have is 0."""
    if address == 0 or c >= t[COMPONENTS]:
        return np.int64(0)
    size = t[COMPONENT]
    return read(m, host_of(m, w, find(m, address), lane, address) + c * size, size)


@called
def _value(m, t, bits, address, c):
    """The number that a component stands for: a float, or an integer as a fraction of the largest."""
    if address == 0:
        return 0.0 if t[IS_LINEAR] else _stored(m, t[BORDER + c])
    if c >= t[COMPONENTS]:
        return 1.0 if c == 3 else 0.0
    size = 8 * t[COMPONENT]
    if t[KIND] == FLOAT:
        return to_number(m.cell, m.single, m.double, bits, F16 if size == 16 else F32)
    if t[KIND] == UNSIGNED:
        value = np.float64(bits) / np.float64((1 << size) - 1)
        if t[SRGB] and c < 3 and size == 8:
            return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        return value
    signed = (bits << (64 - size)) >> (64 - size)
    return max(np.float64(signed) / np.float64((1 << (size - 1)) - 1), -1.0)


@called
def _property(t, column, level):
    """A column of a texture; of extents those at a level."""
    level &= 0xFF
    if level == 0 or column == DEPTH and t[LAYERED]:
        return t[column]
    return max(t[column] >> level, np.int64(1))


@called
def _single(m, value):
    return to_bits(m.cell, m.single, m.double, value, np.int64(F32), np.int64(NEAREST), np.int64(0))


@called
def _result(m, w, t, lane, count, c):
    """A component of what a lane fetches: bits of 32."""
    address = m.texels[0, lane]
    if t[KIND] != FLOAT and not t[READ_MODE]:
        bits = _component(m, w, t, lane, address, c)
        size = 8 * t[COMPONENT]
        return ((bits << (64 - size)) >> (64 - size)) & 0xFFFFFFFF if t[KIND] == 0 else bits
    if count == 1:
        return _single(m, _value(m, t, _component(m, w, t, lane, address, c), address, c))
    total = 0.0
    for corner in range(count):
        address = m.texels[corner, lane]
        total += m.weights[corner] * _value(m, t, _component(m, w, t, lane, address, c), address, c)
    return _single(m, total)


@called
def _log(m, record, w, warp, pc, active, count, width):
    """Check and log the accesses of all lanes, each 32-byte sector of a lane once; DONE, or why they cannot be."""
    for corner in range(count):
        n = np.int64(0)
        for lane in range(LANES):
            address = m.texels[corner, lane]
            if (active >> lane) & 1 == 0 or address == 0:
                continue
            seen = False
            for other in range(corner):
                seen |= m.texels[other, lane] >> SECTOR_SHIFT == address >> SECTOR_SHIFT and m.texels[other, lane] != 0
            if not seen:
                m.lanes[n], m.address[n] = lane, address
                n += 1
        if n == 0:
            continue
        region = locate(m, pc, n, width)
        if region < -1:
            return -2 - region
        if m.grid[TRACING] and m.code[pc, Y] & LOGGED and not log_located(m, record, warp, pc, n, width, region):
            return np.int64(TOO_MANY_OPS)
    return np.int64(DONE)


@loop
def fetch(m, w, pc, active):
    """A texture fetch, gather or query of the active lanes; DONE, or why it cannot be."""
    record, r, row, warp = m.records[w], m.registers[w], m.code[pc], m.status[BASE_WARP] + w
    record[BROUGHT] = 0
    most, width = np.int64(0), np.int64(1)
    for lane in range(LANES):
        if (active >> lane) & 1 == 0:
            continue
        t = m.textures[_texture(m, r[row[A], lane])]
        if t[ID] == 0:
            return stopped_at(m, lane, r[row[A], lane], OUTSIDE)
        if row[DST] == QUERY:
            r[m.lists[row[LIST]], lane] = _property(t, row[MASK] >> 8, r[row[C], lane] if row[SHIFT] & HAS_LEVEL else 0)
            continue
        count = _corners(m, t, row, r, lane)
        most, width = max(most, count), t[TEXEL]
        for corner in range(count, CORNERS):
            m.texels[corner, lane] = 0
        if row[Y] & VALUES:
            results = row[LIST] + row[X]
            for c in range(row[COUNT]):
                if row[DST] == GATHER:  # counter-clockwise from the lower left texel (PTX ISA 9.0, tld4)
                    m.some[0] = m.texels[(2, 3, 1, 0)[c], lane]
                    saved, m.texels[0, lane] = m.texels[0, lane], m.some[0]
                    bits = _result(m, w, t, lane, np.int64(1), row[MASK] >> 8)
                    m.texels[0, lane] = saved
                else:
                    bits = _result(m, w, t, lane, count, np.int64(c))
                m.trace_addresses[c] = bits
            for c in range(row[COUNT]):
                r[m.lists[results + c], lane] = m.trace_addresses[c]
    stop = _log(m, record, w, warp, pc, active, most, width)
    if m.grid[TRACING] and row[Y] & WAITED and stop == DONE:
        for c in range(row[COUNT]):
            m.pending[w, m.lists[row[LIST] + row[X] + c]] = record[BROUGHT]
    return stop


@loop
def surface(m, w, pc, active):
    """A surface load or store of the active lanes: x counts bytes; DONE, or why it cannot be."""
    record, r, row, warp = m.records[w], m.registers[w], m.code[pc], m.status[BASE_WARP] + w
    record[BROUGHT] = 0
    flags, dimensions, element = row[SHIFT], row[MASK] & 255, row[MASK] >> 8
    width = element * row[COUNT]
    for lane in range(LANES):
        if (active >> lane) & 1 == 0:
            continue
        t = m.textures[_texture(m, r[row[A], lane])]
        if t[ID] == 0:
            return stopped_at(m, lane, r[row[A], lane], OUTSIDE)
        first, address, inside = row[LIST], t[ADDRESS], True
        for k in range(dimensions + (flags & LAYER)):
            value = (r[m.lists[first + k], lane] << 32) >> 32
            axis = k
            if flags & LAYER:
                axis = 2 if k == 0 else k - 1
            extent = t[WIDTH] * t[TEXEL] if axis == 0 else t[HEIGHT] if axis == 1 else t[DEPTH]
            step = 1 if axis == 0 else t[ROW_BYTES] if axis == 1 else t[SLICE_BYTES]
            last = extent - width if axis == 0 else extent - 1
            if flags & CLAMPED:
                value = min(max(value, 0), last)
            elif value < 0 or value > last:
                inside = False
            address += value * step
        if not inside and not flags & ZEROED:
            return stopped_at(m, lane, address, OUTSIDE)
        m.texels[0, lane] = address if inside else 0
    stop = _log(m, record, w, warp, pc, active, 1, width)
    if stop != DONE:
        return stop
    registers = row[LIST] + row[X]
    for lane in range(LANES):
        if (active >> lane) & 1 == 0 or row[Y] & VALUES == 0:
            continue
        address = m.texels[0, lane]
        host = host_of(m, w, find(m, address), lane, address) if address else np.int64(0)
        for c in range(row[COUNT]):
            if row[DST] == STORE_SURFACE:
                if address:
                    write(m, host + c * element, element, r[m.lists[registers + c], lane])
            else:
                r[m.lists[registers + c], lane] = read(m, host + c * element, element) if address else 0
    if m.grid[TRACING] and row[Y] & WAITED:
        for c in range(row[COUNT]):
            m.pending[w, m.lists[registers + c]] = record[BROUGHT]
    return np.int64(DONE)
