"""A capture's memory: neither the program nor its reader holds a block whole."""

import subprocess
import sys

import pytest
from compilers import needs_gxx

pytestmark = [needs_gxx, pytest.mark.slow]

LONG = """
#include <cstdlib>
__global__ void walk(const int* next, int* out, int n) {
    int i = threadIdx.x, at = i;
    for (int k = 0; k < n; ++k) {
        at = next[at & 1023] + k;
        if (at & 1) out[i] += at;
    }
}
int main(int, char** arguments) {
    int *next, *out;
    cudaMalloc(&next, 4096);
    cudaMalloc(&out, 4096);
    for (int i = 0; i < 1024; ++i) next[i] = i * 7919;
    walk<<<2, 256>>>(next, out, atoi(arguments[1]));
}
"""
MEASURE = """
import resource, sys, memsim
memsim.capture(sys.argv[1], arguments=[sys.argv[2]], out=sys.argv[3], blocks="all", registers=32, by="source")
print(*(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


def most_memory(tmp_path, n):
    """Of the reader, and of the compiler or the program, in MiB."""
    source = tmp_path / "long.cu"
    source.write_text(LONG)
    command = [sys.executable, "-c", MEASURE, source, str(n), tmp_path / f"{n}.h5"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [int(kib) / 1024 for kib in told.split()[-2:]]


def test_long_blocks_take_no_more_than_short_ones(tmp_path):
    """Blocks of 50 M accesses and marks, 400 MB of log, against such as fit one message."""
    most_memory(tmp_path, 10)  # compiles the loops, if that was not done
    few, many = most_memory(tmp_path, 10), most_memory(tmp_path, 65_000)
    assert many[0] < few[0] + 128
    assert many[1] < few[1] + 16
