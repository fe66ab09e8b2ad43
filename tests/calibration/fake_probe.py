"""Speaks as cuda/probe.cu does, of a simulated GPU with an L2 of 384 KB: ``python fake_probe.py PRESET``."""

import sys
from dataclasses import replace

import numpy as np

from memsim.calibration.probed_gpu import EDGES
from memsim.calibration.simulated import SimulatedDevice
from memsim.calibration.walks import AccessStream
from memsim.gpu.carve_out import carved
from memsim.gpu.occupancy import occupancy
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.counters import latency_bin_edges
from memsim.trace.schema import OpKind

WALK_SHARED_BYTES = 33028


def properties(gpu):
    sm = gpu.sm
    print(f"name NVIDIA Fake {gpu.name}\ncapability {gpu.compute_capability}\nsms {sm.count}\nthreads {sm.max_threads}")
    print(f"warp {sm.warp_size}\nblocks {sm.max_blocks}\nregisters {sm.registers}\nshared_bytes {sm.shared_bytes}")
    print(f"l2_bytes {gpu.l2.size_bytes}\nclock_khz {round(gpu.sm.clock_mhz * 1000)}\nmemory_khz 877000\nbus_bits 4096")
    print(f"walk_shared_bytes {WALK_SHARED_BYTES}\nend", flush=True)


def walk(device, use_l1, groups, n_segments, _):
    order = [tuple(map(int, input().split())) for _ in range(n_segments)]
    addresses = np.concatenate([start + stride * np.arange(count) for start, stride, count, _ in order])
    group = np.concatenate([np.full(count, group) for _, _, count, group in order]) + 1  # 0: not counted
    walked = device if use_l1 else device.without_l1()
    for found in walked.walk(addresses, group)[1 : groups + 1]:
        counts = np.zeros(len(EDGES), int)
        for edge, count in zip(latency_bin_edges(), found.counts, strict=False):
            counts[min(int(edge) // 8, len(EDGES) - 1)] += count
        print(round(found.mean * found.counts.sum()), *counts, flush=True)


def stream(device, kind, blocks, _, accesses, units, stride, width):
    one = AccessStream(OpKind[kind], int(units), int(stride), int(width), int(blocks))
    print(round(device.stream(one, int(accesses))), flush=True)


def main():
    gpu = override(load_gpu(sys.argv[1]), {"translation.enabled": False, "l2.size_bytes": 393216})
    block = replace(occupancy(gpu, 1, 0, WALK_SHARED_BYTES), limits={"asked for": 1})
    device = SimulatedDevice(carved(gpu, block))
    while True:
        command, *numbers = input().split()
        if command == "properties":
            properties(gpu)
        elif command == "walk":
            walk(device, *map(int, numbers))
        elif command == "stream":
            stream(device, *numbers)
        else:
            print(2500.0, flush=True)


if __name__ == "__main__":
    main()
