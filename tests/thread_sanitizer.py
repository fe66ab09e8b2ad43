"""Bytes that a CUDA program's kernels access: as its capture says, and as a compiler's thread sanitizer says."""

import re
import subprocess
from collections import Counter
from functools import partial

import pytest
from places import DATA

import memsim
from memsim.sources.capture import build
from memsim.trace.bits import popcounts
from memsim.trace.schema import NO_OP, Kind, Space

FOLDER = DATA / "capture" / "tsan"
_LAUNCH = re.compile(r"(\w+)<<<(.*?)>>>\((.*)\);")


def as_cpp(text):
    """CUDA C++ as the oracle's header has it: launches are calls, dynamic shared memory is a pointer."""
    text = _LAUNCH.sub(r'oracle::launch("\1", oracle::shape(\2), [=] { \1(\3); });', text)
    text = re.sub(r"extern __shared__ (\w+) (\w+)\[\];", r"\1* \2 = (\1*)oracle::dynamic_shared;", text)
    placed = r'\1 __attribute__((section("oracle_global"))) \2'
    text = re.sub(r"^( *static)? *__device__ ([^()\n]*;)$", placed, text, flags=re.M)
    return '#include "oracle.h"\n' + text


def sanitized(source, folder):
    """Bytes by (kernel, kind, space), as the sanitizer's hooks counted them in a program that was made in a folder."""
    copy, parts = folder / "oracle.cpp", [folder / "oracle.o", folder / "hooks.o"]
    copy.write_text(as_cpp(source.read_text()))
    common = ["g++", "-std=c++17", "-w", "-fwrapv", f"-I{FOLDER}"]
    subprocess.run([*common, "-O0", "-fsanitize=thread", "-c", copy, "-o", parts[0]], check=True)
    subprocess.run([*common, "-O1", "-c", FOLDER / "hooks.cpp", "-o", parts[1]], check=True)
    subprocess.run(["g++", *parts, "-o", folder / "oracle"], check=True)
    told = subprocess.run([folder / "oracle"], check=True, capture_output=True, text=True).stdout
    return {tuple(words[:3]): int(words[3]) for words in map(str.split, told.splitlines())}


def captured(source, folder):
    """The same, from traces of every kernel, with the loads that a compiler would remove."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "instrument", partial(build.instrument, keep_redundant=True))
        traces = memsim.capture(source, out=folder, blocks="all", registers=32, by="source").traces
    totals = Counter()
    for trace in traces:
        for chunk in trace.chunks():
            for number, op in enumerate(trace.ops):
                if op.space is Space.local:
                    continue  # the sanitizer does not look at variables whose address nobody takes
                kind = Kind.atomic if op.kind is Kind.reduction else op.kind
                lanes = int(popcounts(chunk.mask[chunk.op == number]).sum())
                totals[trace.kernel, kind.name, op.space.name] += lanes * op.width
            assert (chunk.op != NO_OP).any()
    return dict(totals)
