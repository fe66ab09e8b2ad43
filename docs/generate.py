"""The generated pages of the manual: commands, GPU fields, presets, opcodes, the Python API, and a page per room.

MkDocs calls this file as a hook, so that ``make docs`` never shows an old page. ``python docs/generate.py FOLDER``
writes the same pages as Markdown files.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"\]\((?!\w+://|#)([^)#]+)\)")


def pages() -> dict[str, str]:
    """Every generated page: path under docs/ -> Markdown."""
    return {
        "reference/commands.md": commands(),
        "reference/gpu_fields.md": gpu_fields(),
        "reference/presets.md": presets(),
        "reference/python.md": python_api(),
        "reference/machine_code.md": machine_code(),
        **rooms(),
    }


def commands() -> str:
    """Every command and its options, from typer."""
    import typer

    from memsim.cli import app

    text = [
        "# Commands",
        "This page lists every command with its arguments and options. `memsim COMMAND --help` prints the same.",
    ]
    for name, command in _leaves(typer.main.get_command(app), "memsim"):
        context = command.context_class(command, info_name=name)
        usage = command.get_usage(context).removeprefix("Usage: ")
        text += [f"## {name}", f"```text\n{usage}\n```", _help(command.help or "", name)]
        records = [record for one in command.params if (record := one.get_help_record(context))]
        rows = [f"| `{option}` | {_cell(meaning)} |" for option, meaning in records]
        text += ["\n".join(["| argument or option | meaning |", "|---|---|", *rows])] if rows else []
    return "\n\n".join(text) + "\n"


def _leaves(command: Any, name: str) -> list[tuple[str, Any]]:
    """A command's own sub-commands, or the command itself."""
    inner = getattr(command, "commands", None)
    if not inner:
        return [(name, command)]
    return [leaf for word, sub in sorted(inner.items()) for leaf in _leaves(sub, f"{name} {word}")]


def _help(text: str, name: str) -> str:
    """A help text as Markdown: the examples at its end become a block."""
    text = inspect.cleandoc(text).replace("\b\n", "\n").replace("\b", "").replace("\f", "")
    lines = [line.strip() for line in text.splitlines()]
    examples = [line for line in lines if re.match(r"memsim[ -]", line)]
    words = "\n".join(line for line in lines if line not in examples).strip().replace("<", "&lt;")
    words = re.sub(r"\n{3,}", "\n\n", words)
    return words + ("\n\n```sh\n" + "\n".join(examples) + "\n```" if examples else "")


def gpu_fields() -> str:
    """Every field of a GPU: unit, default, range or choices, meaning; by component."""
    from pydantic_core import PydanticUndefined

    from memsim.gpu import config
    from memsim.gpu.presets import unit

    text = [
        "# GPU fields",
        "A GPU is a table of numbers and choices. This page lists every field with its unit, its default, the values "
        "that it accepts and its meaning. `--set FIELD=VALUE` changes a field for one command, a TOML file can state "
        "all of them, and `memsim gpus NAME` shows the values of a preset with their sources.",
        "A dash as default means that a preset must state the field. *None* means that the mechanism is off or that "
        "the value follows from other fields. In a TOML file, fields that end in `_cycles` may be given in "
        "nanoseconds, as `_ns`.",
    ]
    section, choices = None, set()
    for field, info in config.fields().items():
        if (here := field.rpartition(".")[0]) != section:
            section = here
            text.append(f"## {f'`{section}`: ' if section else ''}{_component(section)}")
            text.append("| field | unit | default | values | meaning |\n|---|---|---|---|---|")
        default = info.get_default()
        default = "–" if default is PydanticUndefined or info.is_required() else _plain(default)
        enum = info.annotation if inspect.isclass(info.annotation) and issubclass(info.annotation, StrEnum) else None
        values = ", ".join(f"`{one.value}`" for one in enum) if enum else _range(info)
        choices |= {enum} if enum else set()
        row = f"| `{field}` | {unit(field)} | {default} | {values} | {_cell(info.description or '')} |"
        text[-1] += "\n" + row
    text.append("## Choices")
    text.append("The sources of the mechanisms are named where a paper or a measurement defines them.")
    for enum in sorted(choices, key=lambda one: one.__name__):
        text.append(f"### {enum.__name__}")
        rows = [f"| `{value}` | {_cell(note)} |" for value, note in _notes(enum).items()]
        text.append(
            "\n".join([*([_summary(enum), ""] if _summary(enum) else []), "| value | note |", "|---|---|", *rows])
        )
    return "\n\n".join(text) + "\n"


def machine_code() -> str:
    """Every opcode that memsim runs as machine code."""
    from memsim.sources.sass.opcodes import reference

    text = [
        "# Machine code",
        "This page lists the opcodes that memsim executes, of compute capability 7.0 to 12.0. A kernel with another "
        "opcode or modifier runs as PTX, and `memsim info` says why.",
    ]
    rows = [f"| `{name}` | {kind} | {modifiers} | {_cell(meaning)} |" for name, kind, modifiers, meaning in reference()]
    text += ["\n".join(["| opcode | unit | modifiers | meaning |", "|---|---|---|---|", *rows])]
    return "\n\n".join(text) + "\n"


def _component(section: str) -> str:
    from memsim.gpu.config import GPU

    names = {
        "": "The GPU as a whole", "sm": "streaming multiprocessors", "sm.pipes": "execution pipes of an SM",
        "launch": "the cost of a launch", "l1": "the L1 cache of an SM", "l2": "the shared L2 cache",
        "translation": "address translation", "dram": "main memory", "dram.timing": "DRAM timing constraints",
        "stochastic": "what is random", "mwp_cwp": "inputs of the MWP/CWP model", "host": "the link to the host",
    }  # fmt: skip
    model = GPU
    for name in filter(None, section.split(".")):
        model = model.model_fields[name].annotation
    return names.get(section) or _summary(model) or section


def _summary(model: type) -> str:
    return (model.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")


def _plain(value: Any) -> str:
    value = getattr(value, "value", value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`" if value is not None else "none"


def _range(info: Any) -> str:
    """The bounds that pydantic checks."""
    bounds = {type(one).__name__: one for one in info.metadata}
    low, high = getattr(bounds.get("Ge"), "ge", None), getattr(bounds.get("Le"), "le", None)
    if low is None and high is None:
        return "true, false" if info.annotation is bool else "text" if info.annotation is str else ""
    return f"{_number(low)} to {_number(high)}" if None not in (low, high) else f"at least {_number(low)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _notes(enum: type[StrEnum]) -> dict[str, str]:
    """The comments behind an enumeration's values in the source, which name where each choice comes from."""
    notes, above = {}, ""
    for line in inspect.getsource(enum).splitlines():
        if match := re.match(r'\s+\w+ = "(\w+)"(?:\s*# (.*))?$', line):
            notes[match[1]] = " ".join(filter(None, [above, match[2]]))
            above = ""
        elif comment := re.match(r"\s+# (.*)", line):
            above = f"{above} {comment[1]}".strip()
    return {one.value: notes.get(one.value, "") for one in enum}


def presets() -> str:
    """Every preset, and how many of its numbers are measured, documented, fitted or assumed."""
    from memsim.gpu.presets import load_gpu, names, provenance

    statuses = ("measured", "documented", "fitted", "assumed")
    text = [
        "# Presets",
        "This page lists the GPUs that memsim ships, with the status of their numbers. `memsim gpus NAME` shows each "
        "number with its source. *Assumed* includes defaults and numbers that come from another chip.",
        "| preset | compute capability | SMs | L1 | L2 | memory | " + " | ".join(statuses) + " |",
    ]
    text[-1] += "\n|---|---|--:|--:|--:|---|" + "--:|" * len(statuses)
    for name in names():
        if not name.startswith("_"):
            gpu = load_gpu(name)
            counts = Counter(entry.status for entry in provenance(name).values())
            row = [f"`{name}`", gpu.compute_capability, gpu.sm.count, _size(gpu.l1), _size(gpu.l2), gpu.dram.kind]
            row += [counts[one] for one in statuses]
            text[-1] += "\n| " + " | ".join(map(str, row)) + " |"
    return "\n\n".join(text) + "\n"


def _size(cache: Any) -> str:
    return f"{cache.size_bytes >> 10:,} KB" if cache.enabled else "none"


def python_api() -> str:
    """Every public name of the package, which mkdocstrings fills in."""
    import memsim

    text = [
        "# Python",
        "This page lists every public name of the package `memsim`. `help()` prints the same texts. How to use them: "
        "[From Python](../how_to/from_python.md).",
    ]
    public = {name: getattr(memsim, name) for name in memsim.__all__ if not name.startswith("__")}
    for heading, kind in (("Functions", inspect.isfunction), ("Types", inspect.isclass)):
        text.append(f"## {heading}")
        text += [f"::: {one.__module__}.{one.__qualname__}" for _, one in sorted(public.items()) if kind(one)]
    return "\n\n".join(text) + "\n"


def rooms() -> dict[str, str]:
    """The README of each room of memsim/, as a page of the site."""
    found = {}
    for readme in sorted(ROOT.glob("memsim/*/README.md")):
        in_site = partial(_from_site, readme.parent)
        found[f"internals/rooms/{readme.parent.name}.md"] = _LINK.sub(in_site, readme.read_text())
    return found


def _from_site(folder: Path, link: re.Match[str]) -> str:
    """A link of a room's README as the site has it: to another room, to a page, or to the checkout."""
    target = (folder / link[1]).resolve().relative_to(ROOT)
    if target.name == "README.md" and target.parts[0] == "memsim":
        return f"]({target.parent.name}.md)"
    return f"](../../{target.relative_to('docs')})" if target.parts[0] == "docs" else f"](../../../{target})"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def on_files(files: Any, config: Any) -> Any:
    """MkDocs' hook: add the generated pages to the site."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for path, text in pages().items():
        file = Path(sys.argv[1]) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        print(file)
