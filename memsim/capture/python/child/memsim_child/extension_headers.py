"""Lets nvcc compile torch's extensions with fewer of torch's headers, as most of its time goes into reading them.

``torch/extension.h`` brings neural networks, optimizers, data sets, serialization and TorchScript, which kernels hardly
ever use. The compiler gets copies of two of torch's headers without them. If an extension does not compile with these,
it is compiled again with torch's own, so nothing is missing.
"""

import os
import re
import shlex

_LEFT_OUT = re.compile(r"#include <torch/(data|jit|mps|nested|nn|optim|print|serialize|sparse|xpu)\.h>")
_PYTHON = re.compile(r"#include <torch/(csrc/|types\.h)")  # of torch/python.h: all but bindings of torch::nn::Module
_SCRIPT = """#!/bin/sh
# nvcc with the short headers of this folder; with torch's own, whose errors are shown, if they do not suffice.
log=$(mktemp) || exec {nvcc} "$@"
trap 'rm -f "$log"' EXIT
if {nvcc} -I{folder} "$@" 2>"$log"; then cat "$log" >&2; exit 0; fi
{nvcc} "$@"
"""


def short_header(text, pattern, keep):
    """A header's text without the ``#include`` lines that match a pattern, or with these lines alone (``keep``)."""
    lines = text.splitlines(keepends=True)
    if keep:
        return "#pragma once\n" + "".join(line for line in lines if pattern.match(line))
    return "".join(line for line in lines if not pattern.match(line))


def write(torch, nvcc, folder):
    """Write the headers and a program that calls ``nvcc`` with them; its path.

    Args:
        torch: the folder of the installed package.
        folder: for both; it belongs to this torch.

    Raises:
        OSError: torch has no such headers, or the folder cannot be written.
    """
    api = os.path.join(torch, "include", "torch", "csrc", "api", "include", "torch")
    os.makedirs(os.path.join(folder, "torch"), exist_ok=True)
    for name, pattern, keep in (("all.h", _LEFT_OUT, False), ("python.h", _PYTHON, True)):
        with open(os.path.join(api, name)) as file:
            text = short_header(file.read(), pattern, keep)
        _put(os.path.join(folder, "torch", name), text)
    program = os.path.join(folder, "nvcc")
    _put(program, _SCRIPT.format(nvcc=shlex.quote(nvcc), folder=shlex.quote(folder)), executable=True)
    return program


def _put(path, text, executable=False):
    """Write a file whole, as other programs may read it; one that has the text stays, as builds look at its time."""
    try:
        with open(path) as file:
            if file.read() == text:
                return
    except OSError:
        pass
    temporary = "%s.%d" % (path, os.getpid())
    with open(temporary, "w") as file:
        file.write(text)
    os.chmod(temporary, 0o755 if executable else 0o644)
    os.replace(temporary, path)
