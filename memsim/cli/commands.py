"""The ``memsim`` command: its commands in their order, and how it ends."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from memsim import __version__
from memsim.support.errors import InputError
from memsim.support.interrupts import listening
from memsim.support.text import printable

BAD_INPUT, INTERRUPTED = 2, 130  # exit codes
_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
# Name -> module of memsim.cli, the function or group in it, and module and class of a command that reads its words in
# its own way.
_COMMANDS: dict[str, tuple[str, str, str | None]] = {
    "trace": ("trace", "trace", None),
    "profile": ("profile", "profile", "profile.ProfilesProgram"),
    "capture": ("capture", "capture", "capture.RunsProgram"),
    "nvcc": ("nvcc", "nvcc", None),
    "check": ("check", "check", "capture.WithArguments"),
    "judge": ("judge", "judge", None),
    "mcp": ("mcp", "mcp", None),
    "explore": ("explore", "explore", "capture.WithArguments"),
    "info": ("trace", "info", None),
    "run": ("run", "run", None),
    "sweep": ("sweep", "sweep", None),
    "show": ("results", "show", None),
    "plot": ("results", "plot", None),
    "report": ("report", "report", None),
    "compare": ("compare", "compare", None),
    "estimate": ("estimate", "estimate", None),
    "capacity": ("capacity", "capacity", None),
    "sensitivity": ("sensitivity", "sensitivity", None),
    "workloads": ("workloads", "workloads", None),
    "calibrate": ("calibrate", "calibrate", None),
    "import": ("exchange", "imports", None),
    "export": ("exchange", "exports", None),
    "gpus": ("gpus", "gpus", None),
    "cache": ("cache", "cache", None),
}


class _Conversion:
    """What typer does with an option's value. A value that is plainly of its type is taken as it is, without pydantic.

    Typer converts values by pydantic, whose import takes a sixth of ``memsim show``.
    """

    def __init__(self, of_typer: Callable[[Any], Any], descriptor: Any) -> None:
        self._of_typer, self._descriptor = of_typer, descriptor

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind = self._descriptor.annotation
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if kind is Path and isinstance(value, str):
            return Path(value)
        if kind == list[Path] and isinstance(value, tuple):
            return [Path(one) for one in value]
        return value if type(value) is kind else self._of_typer(self._descriptor).coerce(value, param, ctx)


class _Commands(TyperGroup):
    """Turns what a user can cause into one line and an exit code; anything else is a bug and keeps its traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            _fail(str(error))
        except BrokenPipeError:  # `memsim show ... | head`: the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            _fail(": ".join(str(part) for part in (error.filename, _system_problem(error)) if part))
        except MemoryError as error:
            _fail(f"memory ran out{f' ({error})' if str(error) else ''}; give a smaller input or a machine with more")
        except KeyboardInterrupt as interrupt:
            typer.echo(f"memsim: interrupted; {str(interrupt) or 'nothing was kept'}", err=True)
            raise typer.Exit(INTERRUPTED) from None
        return None


def _system_problem(error: OSError) -> object:
    if isinstance(error, FileNotFoundError):
        return "file does not exist; give the path of one that does"
    if isinstance(error, IsADirectoryError):
        return "is a folder; give a file"
    return error.strerror or error


def _fail(message: str) -> None:
    typer.echo(f"memsim: {printable(message)}", err=True)
    raise typer.Exit(BAD_INPUT) from None


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"memsim {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def application(words: list[str] | None = None) -> typer.Typer:
    """The command line; where its words begin with a command, with that alone, as the others take time to build.

    >>> [one.callback.__name__ for one in application(["show", "result.h5"]).registered_commands]
    ['show']
    """
    core: Any = typer.core
    of_typer = getattr(core, "build_runtime_param", None)  # older versions do not use pydantic
    if of_typer is not None and not isinstance(of_typer, partial):
        core.build_runtime_param = partial(_Conversion, of_typer)
    app = typer.Typer(
        cls=_Commands,
        name="memsim",
        help="GPU memory-hierarchy simulation with error bars.\n\n"
        "Record the memory trace of a kernel (Python description, CUDA C++, Triton, ...), replay it on a model of a\n"
        "GPU many times, and read hit ratios, latencies and times with confidence intervals.",
        epilog="First steps: memsim trace spmv -p rows=8192 -o spmv.h5 && memsim run spmv.h5 -o result.h5",
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help: rich takes longer to import than everything else here
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    first = words[0] if words else ""
    for name in [first] if first in _COMMANDS else _COMMANDS:
        module, attribute, kind = _COMMANDS[name]
        command = _found(module, attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            settings = _PASSED_ON if name == "nvcc" else None
            app.command(cls=_found(*kind.split(".")) if kind else None, context_settings=settings)(command)
    return app


def _without_interrupts(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Python's report of exceptions that it drops, without Ctrl-C: `raise_heard` raises it again."""
    return lambda dropped: None if dropped.exc_type is KeyboardInterrupt else hook(dropped)


def _found(module: str, attribute: str) -> Any:
    return getattr(import_module(f"memsim.cli.{module}"), attribute)


def main() -> None:
    """Entry point of the ``memsim`` command."""
    gc.set_threshold(100_000)  # imports make many objects and no garbage; looking for it took a tenth of the start
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        # NumPy starts a thread per core for products of large matrices, which no command has: a tenth of `memsim show`.
        os.putenv("OPENBLAS_NUM_THREADS", "1")  # not in os.environ, which captured programs get
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a batch system's way to say Ctrl-C
    sys.unraisablehook = _without_interrupts(sys.unraisablehook)
    try:
        with listening():
            application(sys.argv[1:])()
    except SystemExit as leaving:
        if "mpi4py" in sys.modules:
            raise  # MPI's other processes wait for the message
        _leave(leaving.code)
    except KeyboardInterrupt:  # before a command began
        _leave(INTERRUPTED)


def _leave(code: Any) -> NoReturn:
    """End the process at once: taking all of Numba apart, object by object, takes 0.1 s."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)
