"""How two signals move together over records, with its error bar."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.records import FloatArray

RESAMPLES = 2000
"""Of the records, for the interval."""
LEAST_RECORDS = 10
"""With fewer an interval says nothing, and many resamples have no spread."""


def correlation(
    pairs: Sequence[tuple[float | None, float | None]], *, seed: int = 0
) -> tuple[float | None, tuple[float, float] | None]:
    """Pearson's r over the pairs that are known on both sides, and its 95 % interval.

    The interval is the percentile bootstrap over records: 2,000 resamples, seeded. r is `None`
    where a side does not vary or fewer than two pairs are known, the interval below 10.

    >>> r, interval = correlation([(0.1, 0.2), (0.2, 0.4), (0.3, 0.6), (None, 0.5)])
    >>> round(r, 6), interval
    (1.0, None)
    """
    known = np.array([pair for pair in pairs if None not in pair], dtype=np.float64)
    if len(known) < 2:
        return None, None
    r = _pearson(known[None])[0]
    if np.isnan(r):
        return None, None
    if len(known) < LEAST_RECORDS:
        return float(r), None
    chosen = np.random.default_rng(seed).integers(len(known), size=(RESAMPLES, len(known)))
    # A resample of one value only has no correlation, and is left out.
    low, high = np.nanquantile(_pearson(known[chosen]), [0.025, 0.975])
    return float(r), (float(low), float(high))


def _pearson(samples: FloatArray) -> FloatArray:
    """r of each sample, (samples, pairs, 2) → (samples,), NaN where a side is constant."""
    centred = samples - samples.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).sum(axis=1).prod(axis=1))
    product = centred.prod(axis=2).sum(axis=1)
    r: FloatArray = np.divide(
        product, spread, out=np.full(len(samples), np.nan), where=spread > 1e-12
    )
    return r
