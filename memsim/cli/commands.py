"""The ``memsim`` command: its commands in their order, and how it ends."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from memsim import __version__
from memsim.cli.cache import cache
from memsim.cli.calibrate import calibrate
from memsim.cli.capacity import capacity
from memsim.cli.capture import RunsProgram, WithArguments, capture
from memsim.cli.check import check
from memsim.cli.compare import compare
from memsim.cli.estimate import estimate
from memsim.cli.exchange import exports, imports
from memsim.cli.explore import explore
from memsim.cli.gpus import gpus
from memsim.cli.judge import judge
from memsim.cli.mcp import mcp
from memsim.cli.nvcc import nvcc
from memsim.cli.profile import ProfilesProgram, profile
from memsim.cli.report import report
from memsim.cli.results import plot, show
from memsim.cli.run import run
from memsim.cli.sensitivity import sensitivity
from memsim.cli.sweep import sweep
from memsim.cli.trace import info, trace
from memsim.cli.workloads import workloads
from memsim.support.errors import InputError
from memsim.support.interrupts import listening
from memsim.support.text import printable

BAD_INPUT, INTERRUPTED = 2, 130  # exit codes


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
            _fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
        except MemoryError as error:
            _fail(f"memory ran out{f' ({error})' if str(error) else ''}; give a smaller input or a machine with more")
        except KeyboardInterrupt as interrupt:
            typer.echo(f"memsim: interrupted; {str(interrupt) or 'nothing was kept'}", err=True)
            raise typer.Exit(INTERRUPTED) from None
        return None


def _fail(message: str) -> None:
    typer.echo(f"memsim: {printable(message)}", err=True)
    raise typer.Exit(BAD_INPUT) from None


app = typer.Typer(
    cls=_Commands,
    name="memsim",
    help="GPU memory-hierarchy simulation with error bars.\n\n"
    "Record the memory trace of a kernel (Python description, CUDA C++, Triton, ...), replay it on a model of a GPU\n"
    "many times, and read hit ratios, latencies and times with confidence intervals.",
    epilog="First steps: memsim trace spmv -p rows=8192 -o spmv.h5 && memsim run spmv.h5 -o result.h5",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: rich takes longer to import than everything else here
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"memsim {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


app.command()(trace)
app.command(cls=ProfilesProgram)(profile)
app.command(cls=RunsProgram)(capture)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(nvcc)
app.command(cls=WithArguments)(check)
app.command()(judge)
app.command()(mcp)
app.command(cls=WithArguments)(explore)
app.add_typer(imports, name="import")
app.add_typer(exports, name="export")
for command in (
    info, run, sweep, show, plot, report, compare, estimate, capacity, sensitivity, workloads,
    calibrate,
):  # fmt: skip
    app.command()(command)
app.add_typer(gpus, name="gpus")
app.add_typer(cache, name="cache")


def main() -> None:
    """Entry point of the ``memsim`` command."""
    gc.set_threshold(100_000)  # imports make many objects and no garbage; looking for it took a tenth of the start
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a batch system's way to say Ctrl-C
    try:
        with listening():
            app()
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
