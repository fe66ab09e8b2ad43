"""Rewrite nvcc's options so that what it builds can be captured: shared runtime, PTX, line numbers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

# Options of nvcc 13.0 whose value may stand in an argument of its own. Only their names matter: the value after one of
# them must not be taken for an option.
_WITH_VALUE = frozenset(
    "-o --output-file -include --pre-include -D --define-macro -U --undefine-macro -I --include-path -isystem "
    "--system-include -L --library-path -odir --output-directory -MF --dependency-output -MT --dependency-target-name "
    "-ccbin --compiler-bindir -arbin --archiver-binary -cudadevrt --cudadevrt -ldir --libdevice-directory "
    "-target-dir --target-directory -opt-info --optimization-info -O --optimize -dopt --dopt -x --x -std --std "
    "-m --machine -Xcompiler --compiler-options -Xlinker --linker-options -Xarchive --archive-options -Xptxas "
    "--ptxas-options -Xnvlink --nvlink-options -t --threads -split-compile --split-compile -keep-dir --keep-dir "
    "-time --time -run-args --run-args -rdc --relocatable-device-code -e --entries -maxrregcount --maxrregcount -ftz "
    "--ftz -prec-div --prec-div -prec-sqrt --prec-sqrt -fmad --fmad -default-stream --default-stream -Werror --Werror "
    "-diag-error --diag-error -diag-suppress --diag-suppress -diag-warn --diag-warn -compress-mode --compress-mode "
    "-ftemplate-depth --ftemplate-depth -frandom-seed --frandom-seed -jtd --jump-table-density -Xcudafe "
    "-Xfatbin -hls --host-linker-script -sanitize --sanitize -idp -ddp -dp -Ofc --Ofast-compile".split()
)
_ARCHITECTURE = frozenset(("-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code"))
_RUNTIME = frozenset(("-cudart", "--cudart"))
_LIBRARY = frozenset(("-l", "--library"))
_OPTION_FILES = frozenset(("-optf", "--options-file"))
_DROPPED = frozenset(("-dlto", "--dlink-time-opt", "-lto", "--lto", "-gen-opt-lto", "--gen-opt-lto"))
_LINE_NUMBERS = frozenset(("-lineinfo", "--generate-line-info"))
_DEVICE_DEBUG = frozenset(("-G", "--device-debug"))
_QUESTIONS = frozenset(
    "-V --version -h --help -code-ls --list-gpu-code -arch-ls --list-gpu-arch -cubin --cubin -ltoir --ltoir "
    "-optix-ir --optix-ir".split()
)
_NO_LINK = frozenset(
    "-c --compile -dc --device-c -dw --device-w -E --preprocess -M --generate-dependencies -MM "
    "--generate-nonsystem-dependencies -ptx --ptx -fatbin --fatbin -cuda --cuda -lib --lib -dlink --device-link".split()
)
_STATIC_RUNTIME = "cudart_static"
_NUMBER = re.compile(r"(?:compute|sm|lto)_(\d+[af]?)")


@dataclass(frozen=True)
class Rewritten:
    """A command line for nvcc.

    Attributes:
        options: for nvcc.
        links: whether nvcc links a program or a library, so that it needs memsim's libraries.
    """

    options: list[str]
    links: bool


def rewrite(given: Sequence[str], choose: Callable[[Sequence[str]], str], library_folder: str | None) -> Rewritten:
    """nvcc's options for a program that memsim can capture.

    Args:
        given: the options of the user's build.
        choose: the virtual architecture (``"89"``, ``"90a"``) to compile for, from those that the build names.
        library_folder: where memsim's ``libcudart.so`` is; None: nvcc's own is linked.

    Returns:
        The same options, but with the shared runtime, PTX for one architecture, and line numbers. Questions such as
        ``--version``, and ``-cubin``, stay as they are.

    >>> rewrite(["-arch=sm_80", "-cudart", "static", "-c", "a.cu"], lambda given: given[0], None).options
    ['-cudart', 'shared', '-lineinfo', '-gencode', 'arch=compute_80,code=compute_80', '-c', 'a.cu']
    """
    arguments = list(_expanded(given))
    if not _QUESTIONS.isdisjoint(arguments):
        return Rewritten(arguments, links=False)
    passed_on: list[str] = []
    architectures: list[str] = []
    pairs = iter(arguments)
    for one in pairs:
        name, has_value, value = one.partition("=")
        if name in _ARCHITECTURE:
            architectures += _NUMBER.findall(value if has_value else next(pairs, ""))
        elif name in _RUNTIME:
            if not has_value:
                next(pairs, None)
        elif one in _LIBRARY:
            passed_on += [one, _shared(next(pairs, ""))]
        elif one in _WITH_VALUE:
            passed_on += [one, *islice(pairs, 1)]
        elif one not in _DROPPED and one not in _LINE_NUMBERS:
            passed_on.append(_shared(one))
    chosen = choose(architectures)
    ours = ["-cudart", "shared"]
    ours += [] if not _DEVICE_DEBUG.isdisjoint(passed_on) else ["-lineinfo"]
    ours += ["-gencode", f"arch=compute_{chosen},code=compute_{chosen}"]
    links = _NO_LINK.isdisjoint(passed_on)
    if links and library_folder is not None:
        ours += ["-L", library_folder]
    return Rewritten([*ours, *passed_on], links)


def highest(limit: int) -> Callable[[Sequence[str]], str]:
    """A choice among the architectures that a build names: the newest that a GPU runs, else the oldest of them.

    Args:
        limit: the GPU's architecture.

    >>> highest(89)(["70", "80", "90a"]), highest(90)(["90", "90a"]), highest(80)(["90"]), highest(89)([])
    ('80', '90a', '90', '89')
    """

    def choose(named: Sequence[str]) -> str:
        fitting = [one for one in named if number(one) <= limit and (one.isdigit() or number(one) == limit)]
        if fitting:
            return max(fitting, key=lambda one: (number(one), one))
        return min(named, key=number, default=str(limit))

    return choose


def number(architecture: str) -> int:
    """89 for ``"89"``, 90 for ``"90a"``."""
    return int(architecture.rstrip("af"))


def _shared(one: str) -> str:
    """A library, the shared runtime in the place of the static one.

    >>> _shared("-lcudart_static"), _shared("/cuda/lib64/libcudart_static.a")
    ('-lcudart', '-lcudart')
    >>> _shared("cudart_static,m"), _shared("-lm")
    ('cudart,m', '-lm')
    """
    if one.endswith(f"lib{_STATIC_RUNTIME}.a"):
        return "-lcudart"
    return re.sub(rf"(^|-l|,|=){_STATIC_RUNTIME}(?=,|$)", r"\1cudart", one)


def _expanded(given: Sequence[str]) -> Iterator[str]:
    """Options, with those of option files in the place of the files' names; a file that cannot be read stays."""
    pairs = iter(given)
    for one in pairs:
        name, has_value, value = one.partition("=")
        if name not in _OPTION_FILES:
            yield one
            continue
        for path in (value if has_value else next(pairs, "")).split(","):
            try:
                yield from _expanded(shlex.split(Path(path).read_text(errors="surrogateescape")))
            except (OSError, ValueError):
                yield from (name, path)
