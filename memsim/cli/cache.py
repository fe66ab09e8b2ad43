"""``memsim cache``: what memsim keeps from one command to the next, its size, and how to remove it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from memsim.cli.options import OutputFormat
from memsim.cli.output import print_output
from memsim.support.errors import InputError

MEANINGS = {
    "trials": "trials, and the what-if replays of findings",
    "captures": "captures of CUDA C++ files, and what they depend on",
    "loops": "compiled loops",
    "programs": "compiled CUDA programs",
    "libraries": "memsim's own CUDA libraries",
    "objects": "object files of these libraries",
    "link": "folders in which linkers find memsim's CUDA libraries",
    "toolkits": "CUDA toolkits made of these libraries and the real toolkit, for build systems",
    "older-cuda": "headers for programs that use what CUDA 13 removed",
    "python": "files that captured Python programs compile, and PyTorch's extensions",
}

cache = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Show or clear what memsim keeps: compiled loops and programs, captures, and trials.\n\n"
    "It is stored in $MEMSIM_CACHE, else in ~/.cache/memsim. MEMSIM_CACHE_MB limits the trials and the "
    "captures (512 each); 0 keeps none.\n\n\b\n"
    "  memsim cache list\n  memsim cache size\n  memsim cache clear trials",
)


@cache.command("list")
def listing(format: OutputFormat = None) -> None:
    """List the kinds of cached files, their number and size."""
    from memsim.report.formats import chosen_format
    from memsim.report.output import CommandOutput, PrintedTable

    records: list[dict[str, Any]] = [
        {"kind": folder.name, "files": count, "bytes": size, "meaning": MEANINGS.get(folder.name, "")}
        for folder, (count, size) in ((folder, _contents(folder)) for folder in _folders())
    ]
    rows = [[of["kind"], f"{of['files']:,}", f"{of['bytes'] / 1e6:,.1f}", of["meaning"]] for of in records]
    table = PrintedTable(["kind", "files", "MB", "what it is"], rows, [False, True, True, False])
    print_output(CommandOutput(lambda: [table, f"in {_cache_folder()}"], lambda: records), chosen_format(format))


@cache.command()
def size() -> None:
    """Print the total size of all cached files in bytes."""
    typer.echo(sum(_contents(folder)[1] for folder in _folders()))


@cache.command()
def clear(
    kind: Annotated[str | None, typer.Argument(help="A kind from memsim cache list. Default: all.")] = None,
) -> None:
    """Remove cached files; memsim recreates them on demand."""
    chosen = [folder for folder in _folders() if kind in (None, folder.name)]
    if not chosen and kind is not None:
        known = ", ".join(folder.name for folder in _folders()) or "nothing yet"
        raise InputError("cache", "kind", f"is {kind!r:.40}; there is {known}")
    removed = sum(_contents(folder)[1] for folder in chosen)
    for folder in chosen:
        shutil.rmtree(folder, ignore_errors=True)
    typer.echo(f"removed {removed / 1e6:,.1f} MB")


def _cache_folder() -> Path:
    from memsim.support.cache import cache_folder

    return cache_folder("trials").parent


def _folders() -> list[Path]:
    return sorted(path for path in _cache_folder().iterdir() if path.is_dir())


def _contents(folder: Path) -> tuple[int, int]:
    """Files, and the bytes that they take."""
    sizes = [path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return len(sizes), sum(sizes)
