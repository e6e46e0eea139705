"""How far records resemble the ones before them.

Integrated correlation time τ = 1 + 2 Σ_k ρ_k, in records, summed up to the first lag W with
W ≥ 5 τ(W) (Sokal's window). n records are worth n/τ independent ones. An AR(1) process has
(1 + ρ)/(1 − ρ): 3 for ρ = 0.5. Estimates are low where τ is not small against n.

Source: Sokal, Monte Carlo Methods in Statistical Mechanics (1997), section 3.
"""

from __future__ import annotations

import numpy as np

from monitor.drift.hajek import check_finite
from monitor.records import FloatArray

_WINDOW = 5
_CHANCE_Z = 1.645


def correlation_time(values: FloatArray) -> float:
    """τ ≥ 1 of values (n,) in their order; n where no window closes.

    >>> correlation_time(np.array([1.0, 1.0, 1.0]))
    1.0
    """
    check_finite("values", values)
    count = len(values)
    centred = values - values.mean()
    if np.abs(centred).max() <= 1e-12:
        return 1.0
    # Zeros behind the values, so that the end does not correlate with the beginning.
    spectrum = np.fft.rfft(centred, 2 * count)
    covariance = np.fft.irfft(spectrum * spectrum.conj(), 2 * count)[:count]
    taus = 1 + 2 * np.cumsum(covariance[1:] / covariance[0])
    closed = np.flatnonzero(np.arange(1, count) >= _WINDOW * taus)
    return max(float(taus[closed[0]]), 1.0) if len(closed) else float(count)


def significant_correlation_time(values: FloatArray) -> float:
    """τ where it is more than chance (one-sided 5 %: under independence its standard error is
    about 2 √(W/n)), else exactly 1: noise in τ must not slow every detector down."""
    tau = correlation_time(values)
    chance = 1 + _CHANCE_Z * 2 * np.sqrt(_WINDOW / len(values))
    return tau if tau > chance else 1.0
