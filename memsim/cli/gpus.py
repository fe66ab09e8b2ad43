"""``memsim gpus``: the presets, and one GPU with the source of every value."""

from __future__ import annotations

from typing import Annotated

import typer

from memsim.support.errors import InputError


def gpus(
    name: Annotated[str | None, typer.Argument(help="A preset, or a path to a TOML file.")] = None,
    toml: Annotated[bool, typer.Option("--toml", help="Print a file for --gpu, whole, to change.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the GPUs, or one GPU: what each value is, its unit, status and source.

    \b
    memsim gpus
    memsim gpus tesla-c2050
    memsim gpus a100 --toml > mine.toml
    """
    from memsim.gpu import presets
    from memsim.report.inputs import gpu_document, gpu_text, gpu_toml, presets_text

    if toml + json > 1:
        raise InputError("memsim gpus", "--toml, --json", "exclude each other; give one of them")
    if name is None:
        if toml or json:
            raise InputError("memsim gpus", "NAME", "is missing; --toml and --json show one GPU")
        typer.echo(presets_text({preset: presets.load_gpu(preset) for preset in presets.names()}))
        return
    gpu, provenance = presets.load_gpu(name), presets.provenance(name)
    shown = gpu_toml(gpu, provenance) if toml else gpu_document(provenance) if json else gpu_text(gpu, provenance)
    typer.echo(shown)
