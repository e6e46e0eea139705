"""Many series, one error rate: Holm's step-down correction.

With p₍₁₎ ≤ … ≤ p₍ₘ₎, the adjusted p₍ᵢ₎ is max_{j ≤ i} min(1, (m − j + 1) p₍ⱼ₎). Rejecting where it
is below α keeps the probability of *any* false rejection ≤ α under every dependence, which
matters here: series share documents, models and hours. Benjamini and Hochberg's false
discovery rate was rejected: it promises a share of right pages, not a quiet night.

Source: Holm, A simple sequentially rejective multiple test procedure (1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from monitor.errors import MalformedInput

FEW = 5
"""p-values up to so many times the smallest possible one are worth another look."""


def permutations_needed(tests: int, *, level: float) -> int:
    """Permutations with which one of so many tests can be found at `level`.

    The smallest adjusted p is tests/(permutations + 1); twice as many leave room for a single
    chance exceedance.

    >>> permutations_needed(1200, level=0.05)
    48000
    """
    return ceil(2 * tests / level)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the given order.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise MalformedInput("p_values", f"{p!r} is not in [0, 1]", "hand in p-values")
    count = len(p_values)
    adjusted = [0.0] * count
    highest = 0.0
    for rank, index in enumerate(sorted(range(count), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted
