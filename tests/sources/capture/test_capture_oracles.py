"""What a capture says was accessed, against what a compiler's thread sanitizer says: two programs from one source."""

import re
import subprocess
from collections import Counter
from functools import partial

import pytest
from compilers import needs_gxx
from places import DATA

import memsim
from memsim.sources.capture import build
from memsim.trace.bits import popcounts
from memsim.trace.schema import NO_OP, Kind, Space

pytestmark = needs_gxx

SOURCE = DATA / "capture" / "tsan"
LAUNCH = re.compile(r"(\w+)<<<(.*?)>>>\((.*)\);")
KERNELS = ["assignments", "loops", "structures", "shared_memory", "atomics", "operators", "objects"]


def as_cpp(text):
    """CUDA C++ as the oracle's header has it: launches are calls, dynamic shared memory is a pointer."""
    text = LAUNCH.sub(r'oracle::launch("\1", oracle::shape(\2), [=] { \1(\3); });', text)
    text = re.sub(r"extern __shared__ (\w+) (\w+)\[\];", r"\1* \2 = (\1*)oracle::dynamic_shared;", text)
    placed = r'\1 __attribute__((section("oracle_global"))) \2'
    text = re.sub(r"^( *static)? *__device__ ([^()\n]*;)$", placed, text, flags=re.M)
    return '#include "oracle.h"\n' + text


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    """Bytes by (kernel, kind, space), as the sanitizer's hooks counted them."""
    folder = tmp_path_factory.mktemp("tsan")
    (folder / "accesses.cpp").write_text(as_cpp((SOURCE / "accesses.cu").read_text()))
    common = ["g++", "-std=c++17", "-w", "-fwrapv", f"-I{SOURCE}"]
    program = [*common, "-O0", "-fsanitize=thread", "-c", folder / "accesses.cpp", "-o", folder / "accesses.o"]
    subprocess.run(program, check=True)
    hooks = [*common, "-O1", SOURCE / "hooks.cpp", folder / "accesses.o", "-o", folder / "oracle"]
    subprocess.run(hooks, check=True)
    told = subprocess.run([folder / "oracle"], check=True, capture_output=True, text=True).stdout
    return {tuple(words[:3]): int(words[3]) for words in map(str.split, told.splitlines())}


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """The same, from traces of every kernel, with the loads that a compiler would remove."""
    folder = tmp_path_factory.mktemp("traces")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "instrument", partial(build.instrument, keep_redundant=True))
        traces = memsim.capture(SOURCE / "accesses.cu", out=folder, blocks="all").traces
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
    return totals


@pytest.mark.parametrize("kernel", KERNELS)
def test_bytes_agree_with_the_thread_sanitizer(sanitized, captured, kernel):
    def of(totals):
        return {key[1:]: count for key, count in totals.items() if key[0] == kernel}

    assert of(sanitized)
    assert of(captured) == of(sanitized)
