"""How a scoring budget is divided among strata."""

from __future__ import annotations

import math
from collections.abc import Mapping

from monitor.records import Stratum

HALVINGS = 100
"""Bisection steps: more than a double has bits."""


def rates(
    hourly: Mapping[Stratum, float],
    *,
    budget: float,
    ceiling: float,
    minimum_share: float,
) -> dict[Stratum, float]:
    """Sampling rates π_s that spend at most `budget` records an hour, by power allocation.

    Stratum s with N_s arrivals an hour is granted
    n_s = min(ceiling·N_s, max(floor, c·√N_s)), floor = minimum_share·budget/S, where the
    constant c spends the whole budget (or every stratum is at the ceiling); π_s = n_s/N_s.

    Why the square root (Bankier 1988, exponent ½): proportional allocation (equal rates)
    serves the mean over all traffic best and starves small strata, equal allocation serves
    each stratum's own mean best and weights the overall mean badly. Breaches and drift are
    judged by stratum *and* overall, so neither may be bad; and the floor keeps a rare
    stratum in sight of a huge one. What a stratum at its ceiling cannot use goes to the
    others, because c rises.

    Assumes that all arguments are positive. Monotone: a larger budget lowers no rate.

    >>> a, b = (Stratum(service=name, model="m", category="") for name in "ab")
    >>> shared = rates({a: 900.0, b: 100.0}, budget=100, ceiling=1.0, minimum_share=0.0)
    >>> round(shared[a] * 900, 3), round(shared[b] * 100, 3)  # √900 : √100 = 3 : 1
    (75.0, 25.0)
    """
    strata = {stratum: arrivals for stratum, arrivals in hourly.items() if arrivals > 0}
    if not strata:
        return {}
    caps = {stratum: ceiling * arrivals for stratum, arrivals in strata.items()}
    floor = minimum_share * budget / len(strata)

    def granted(stratum: Stratum, constant: float) -> float:
        return min(caps[stratum], max(floor, constant * math.sqrt(strata[stratum])))

    # At this constant every stratum is at its ceiling.
    low, high = 0.0, max(caps[stratum] / math.sqrt(strata[stratum]) for stratum in strata)
    if sum(caps.values()) > budget:
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if math.fsum(granted(stratum, middle) for stratum in strata) <= budget:
                low = middle
            else:
                high = middle
        high = low
    return {stratum: granted(stratum, high) / strata[stratum] for stratum in strata}
