"""What if the GPU had another cache?

`settings` changes any field of a GPU. The same trace is replayed on an A100 with half, the same and twice its L2, and
with half of its SMs.
"""

import memsim

trace = memsim.trace("spmv", gpu="a100", rows=32768, nnz_per_row=16)
base = memsim.simulate(trace, trials=4)
variants = {
    "half the L2": {"l2.size_bytes": 20 << 20},
    "half the SMs": {"sm.count": 54},
    "L2 twice as slow": {"l2.hit_latency_cycles": 412},
}
print(f"A100: {1000 * base.kernel_time.mean:.1f} us, L2 read hits {100 * base.l2_read.mean:.1f} %")
for name, settings in variants.items():
    result = memsim.simulate(trace, trials=4, settings=settings)
    speedup = memsim.compare(base, result).speedup
    print(f"{name}: {1000 * result.kernel_time.mean:.1f} us, speed-up {speedup:.2f}")
