"""The mean of a pixel and its eight neighbours, one pixel a thread, three interleaved channels.

A media filter of the Merge benchmarks (Linderman et al., ASPLOS 2008), which Hong and Kim (ISCA 2009, table 5) run on
10000 x 10000 pixels with thirty accesses per thread that do not coalesce.
"""

import numpy as np

from memsim import Launch, Thread, workload

CHANNELS = 3


def average(t: Thread, image, out, width, pixels, extra):
    """The image has a border of one pixel, the result has none."""
    pixel = t.global_id
    with t.where(pixel < pixels):
        row, column = pixel // width, pixel % width
        first = CHANNELS * (row * (width + 2) + column)
        sums = [t.var(0.0) for _ in range(CHANNELS)]
        for down in range(3):
            for right in range(3):
                shift = CHANNELS * (down * (width + 2) + right)
                for channel in range(CHANNELS):
                    sums[channel] += image[first + (shift + channel)]
        t.compute(extra)
        for channel in range(CHANNELS):
            out[CHANNELS * pixel + channel] = sums[channel] / 9.0


@workload
def linear_filter(
    width: int = 1024, height: int = 1024, block: int = 256, extra: int = 0, data_seed: int = 1
) -> Launch:
    """A result of ``width`` x ``height`` pixels. ``extra``: instructions of a thread that a compiler adds to these."""
    image = np.random.default_rng(data_seed).random((height + 2, width + 2, CHANNELS), np.float32)

    def expected() -> dict[str, np.ndarray]:
        shifts = [(down, right) for down in range(3) for right in range(3)]
        total = sum(image[down : down + height, right : right + width].astype(np.float64) for down, right in shifts)
        return {"out": (total / 9).ravel()}

    pixels = width * height
    arguments = dict(image=image.ravel(), out=np.zeros(CHANNELS * pixels, np.float32), width=width, pixels=pixels)
    return Launch(
        average,
        grid=-(-pixels // block),
        block=block,
        arguments=arguments | dict(extra=extra),
        registers=15,
        shared_bytes=60,
        expected=expected,
    )
