"""Sepia toning, one pixel a thread: three channels in, three out, interleaved as images are.

A media filter of the Merge benchmarks (Linderman et al., ASPLOS 2008), which Hong and Kim (ISCA 2009, table 5) run on
7000 x 7000 pixels with six accesses per thread that do not coalesce.
"""

import numpy as np

from memsim import Launch, Thread, workload

# Rows: red, green and blue of the result; the weights that picture editors share.
WEIGHTS = ((0.393, 0.769, 0.189), (0.349, 0.686, 0.168), (0.272, 0.534, 0.131))


def tone(t: Thread, image, out, pixels, extra):
    pixel = t.global_id
    with t.where(pixel < pixels):
        first = 3 * pixel
        red, green, blue = image[first], image[first + 1], image[first + 2]
        t.compute(extra)
        for channel, (r, g, b) in enumerate(WEIGHTS):
            out[first + channel] = np.minimum(r * red + g * green + b * blue, 255.0)


@workload
def sepia(pixels: int = 1 << 20, block: int = 256, extra: int = 0, data_seed: int = 1) -> Launch:
    """``pixels`` of three float32 channels. ``extra``: instructions of a thread that a compiler adds to these."""
    image = np.random.default_rng(data_seed).uniform(0, 255, 3 * pixels).astype(np.float32)

    def expected() -> dict[str, np.ndarray]:
        toned = image.reshape(-1, 3).astype(np.float64) @ np.array(WEIGHTS).T
        return {"out": np.minimum(toned, 255).ravel()}

    return Launch(
        tone,
        grid=-(-pixels // block),
        block=block,
        arguments=dict(image=image, out=np.zeros_like(image), pixels=pixels, extra=extra),
        registers=7,
        shared_bytes=52,
        expected=expected,
    )
