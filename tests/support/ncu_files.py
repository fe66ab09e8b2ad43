"""Reports as Nsight Compute leaves them, written from the format's description and with nothing of memsim's."""

from __future__ import annotations

import struct

META = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
        "Device", "CC")  # fmt: skip


def _cells(cells):
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


def _meta(number, launch):
    kernel, grid, block, _ = launch
    return [str(number), "4242", "app", "host", kernel, "1", "7", str(block), str(grid), "0", "7.0"]


def long_csv(launches, before=("==PROF== Connected to process 4242",)):
    """A row per metric. A launch is (kernel, grid, block, {metric: (unit, text)})."""
    lines = [*before, _cells([*META, "Section Name", "Metric Name", "Metric Unit", "Metric Value"])]
    for number, launch in enumerate(launches):
        for name, (unit, text) in launch[3].items():
            lines.append(_cells([*_meta(number, launch), "Command line profiler metrics", name, unit, text]))
    return "\n".join(lines) + "\n"


def wide_csv(launches, before=()):
    """A row per launch, with the units in the row below the header, as ``--page raw``."""
    names = list(dict.fromkeys(name for launch in launches for name in launch[3]))
    units = {name: unit for launch in launches for name, (unit, _) in launch[3].items()}
    lines = [*before, _cells([*META, *names]), _cells([""] * len(META) + [units[name] for name in names])]
    for number, launch in enumerate(launches):
        lines.append(_cells([*_meta(number, launch), *(launch[3].get(name, ("", ""))[1] for name in names)]))
    return "\n".join(lines) + "\n"


def varint(value):
    groups = []
    while True:
        value, low = divmod(value, 128)
        groups.append(low + (128 if value else 0))
        if not value:
            return bytes(groups)


def _field(number, kind, body):
    return varint(number * 8 + kind) + body


def integer(number, value):
    return _field(number, 0, varint(value))


def string(number, value):
    content = value if isinstance(value, bytes) else value.encode()
    return _field(number, 2, varint(len(content)) + content)


def _value(value):
    if isinstance(value, str):
        return string(1, value)
    return _field(3, 1, struct.pack("<d", value)) if isinstance(value, float) else integer(5, value)


def _result(names, kernel, grid, block, metrics):
    parts = [integer(1, 99), string(5, "_Z4mangled"), string(7, kernel), integer(8, 3)]
    for number, extents in ((10, grid), (11, block)):
        parts.append(string(number, b"".join(integer(place, size) for place, size in enumerate(extents, 1))))
    for name, value in metrics.items():
        parts.append(string(13, integer(1, names.index(name)) + string(2, _value(value))))
    return b"".join([*parts, string(17, b"sections are left alone")])


def _sized(message):
    return struct.pack("<I", len(message)) + message


def ncu_rep(*blocks):
    """A report; each block is a list of launches (kernel, grid, block, {metric: float, int or text})."""
    content = b"NVR\0" + _sized(integer(1, 20))
    for launches in blocks:
        names = sorted({name for *_, metrics in launches for name in metrics})
        payload = _sized(b"\x0a\x03abc") + b"".join(_sized(_result(names, *launch)) for launch in launches)
        table = b"".join(string(1, name) for name in names)
        header = integer(1, 1) + integer(2, len(launches)) + string(4, table) + integer(5, len(payload))
        content += _sized(header) + payload
    return content
