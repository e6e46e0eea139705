"""Many series, one error rate: Holm's step-down correction.

With p₍₁₎ ≤ … ≤ p₍ₘ₎, the adjusted p₍ᵢ₎ is max_{j ≤ i} min(1, (m − j + 1) p₍ⱼ₎). Rejecting where it
is below α keeps the probability of *any* false rejection ≤ α under every dependence, which
matters here: series share documents, models and hours. Benjamini and Hochberg's false
discovery rate was rejected: it promises a share of right pages, not a quiet night.

Source: Holm, A simple sequentially rejective multiple test procedure (1979).
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.errors import MalformedInput


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
