"""Imports what Accel-Sim's tracer left: the kernels of a list, or one trace file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memsim.sources.imported.accelsim.convert import convert
from memsim.sources.imported.accelsim.header import Header, read_header
from memsim.sources.imported.accelsim.kernelslist import AccelsimLaunch, is_list, read_list
from memsim.sources.imported.accelsim.tracez import trace_blocks
from memsim.sources.imported.text import Progress
from memsim.sources.outputs import trace_paths
from memsim.support.errors import InputError
from memsim.trace.reader import Trace


def import_accelsim(
    source: str | Path,
    out: str | Path | None = None,
    kernels: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> list[Trace]:
    """Convert ``kernelslist.g``, or one ``.traceg`` or ``.tracez`` file, to trace files, one per kernel.

    Args:
        source: the list or the trace, plain or packed by gzip, xz or zstd.
        out: a folder, or a file that ends with ``.h5`` for one kernel; None: the current folder. In a folder, traces
            are called like the files they come from.
        kernels: which ones: by their id, by the name of their file, or by a part of the kernel's name; None: all.
        progress: called with the bytes of all files that are read, and all.

    Raises:
        InputError: anything in the files that is not as it must be, with file and line; traces of the kernels before
            are kept whole.
        OSError: the system does not let a file be read.
    """
    source = Path(source)
    chosen = _chosen(source, kernels)
    sizes = [launch.path.stat().st_size for launch in chosen]
    names = ["-".join(_name(launch, source)) for launch in chosen]
    traces = []
    for number, (launch, path) in enumerate(zip(chosen, trace_paths(out, names), strict=True)):
        before, total = sum(sizes[:number]), sum(sizes)

        def advance(done: int, _: int, before: int = before, total: int = total) -> None:
            if progress:
                progress(before + done, total)

        traces.append(convert(launch.path, path, launch.copies, advance, launch.order))
    return traces


def import_only_kernel(
    source: str | Path, out: str | Path, kernel: str | None = None, progress: Progress | None = None
) -> Trace:
    """Convert the only kernel of a file, or the one that is named, to replay it at once.

    Args:
        source, progress: as in :func:`import_accelsim`.
        out: the trace file.
        kernel: its id, the name of its file, or a part of its name; None: there is one.

    Raises:
        InputError: several kernels; anything else that :func:`import_accelsim` refuses.
        OSError: the system does not let a file be read.
    """
    source = Path(source)
    chosen = _chosen(source, None if kernel is None else [kernel])
    if len(chosen) > 1:
        names = ", ".join(_name(launch, source)[-1] for launch in chosen[:8])
        problem = f"are {len(chosen)}, {names}{' ...' if len(chosen) > 8 else ''}; choose one with --kernel"
        raise InputError(source, "kernels", problem)
    return convert(chosen[0].path, out, chosen[0].copies, progress, chosen[0].order)


def _name(launch: AccelsimLaunch, source: Path) -> tuple[str, ...]:
    """What a trace is called: the path of its file within the list's folder, without suffixes."""
    *folders, file = launch.path.relative_to(source.parent).parts
    for suffix in (".xz", ".zst", ".gz", ".traceg", ".tracez"):
        file = file.removesuffix(suffix)
    return (*folders, file)


def _chosen(source: Path, kernels: Sequence[str] | None) -> list[AccelsimLaunch]:
    """The launches asked for, after a look at the header of every trace: a bad one is found before hours of work."""
    launches = read_list(source) if is_list(source) else [AccelsimLaunch(source, (), None)]
    headers = [_header(launch.path) for launch in launches]
    if not kernels:
        return launches
    selected = []
    for selector in kernels:
        found = [
            launch
            for launch, header in zip(launches, headers, strict=True)
            if selector == str(header.kernel_id)
            or selector in (launch.path.name, _name(launch, source)[-1])
            or (not selector.isdigit() and selector in header.kernel)
        ]
        if not found:
            names = ", ".join(dict.fromkeys(f"{header.kernel_id} {header.kernel}" for header in headers))
            raise InputError(source, f"kernel {selector}", f"does not exist; there are {names[:400]}")
        selected += [launch for launch in found if launch not in selected]
    return [launch for launch in launches if launch in selected]


def _header(path: Path) -> Header:
    blocks = trace_blocks(path, block_bytes=1 << 16)
    try:
        return read_header(path, next(blocks, bytearray()))[0]
    finally:
        blocks.close()
