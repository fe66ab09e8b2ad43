"""Prices of European call and put options (Black and Scholes, 1973), by a grid-stride loop.

Three streams in, two out, much arithmetic between, as in Podlozhnyuk, "Black-Scholes Option Pricing" (NVIDIA, 2007).
The normal distribution is Abramowitz and Stegun's formula 26.2.17, within 7.5e-8.
"""

import numpy as np
from scipy.special import ndtr

from memsim import Launch, Thread, workload

FIFTH_DEGREE = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)
SCALE, ROOT = 0.2316419, 0.3989422804


def normal(t, d):
    k = 1.0 / (1.0 + SCALE * abs(d))
    series = FIFTH_DEGREE[0] * k
    for coefficient in FIFTH_DEGREE[1:]:
        series = (series + coefficient) * k
    tail = ROOT * np.exp(-0.5 * d * d) * series
    return t.select(d > 0, 1.0 - tail, tail)


def price(t: Thread, stock, strike, years, call, put, rate, volatility, n):
    for i in t.range(t.global_id, n, t.block_dim.x * t.grid_dim.x):
        s, x, time = stock[i], strike[i], years[i]
        deviation = volatility * np.sqrt(time)
        d1 = (np.log(s / x) + (rate + 0.5 * volatility * volatility) * time) / deviation
        up1, up2 = normal(t, d1), normal(t, d1 - deviation)
        discounted = x * np.exp(-rate * time)
        call[i] = s * up1 - discounted * up2
        put[i] = discounted * (1.0 - up2) - s * (1.0 - up1)


@workload
def black_scholes(
    n: int = 1 << 20,
    rate: float = 0.02,
    volatility: float = 0.3,
    grid: int = 480,
    block: int = 128,
    data_seed: int = 1,
) -> Launch:
    """``n`` options: stock at 5 to 30, strike at 1 to 100, 0.25 to 10 years."""
    rng = np.random.default_rng(data_seed)
    stock, strike, years = (
        rng.uniform(low, high, n).astype(np.float32) for low, high in ((5, 30), (1, 100), (0.25, 10))
    )

    def expected() -> dict[str, np.ndarray]:
        s, x, time = (values.astype(np.float64) for values in (stock, strike, years))
        deviation = volatility * np.sqrt(time)
        d1 = (np.log(s / x) + (rate + volatility**2 / 2) * time) / deviation
        call = s * ndtr(d1) - x * np.exp(-rate * time) * ndtr(d1 - deviation)
        return {"call": call, "put": call - s + x * np.exp(-rate * time)}  # by put-call parity

    results = {name: np.zeros(n, np.float32) for name in ("call", "put")}
    return Launch(
        price,
        grid=grid,
        block=block,
        arguments=dict(stock=stock, strike=strike, years=years, **results, rate=rate, volatility=volatility, n=n),
        registers=20,
        fast_math=True,  # the sample has intrinsics
        expected=expected,
    )
