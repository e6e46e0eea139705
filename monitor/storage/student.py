"""Student's t without SciPy, which the front does without."""

from __future__ import annotations

from typing import Final

_FEW: Final = (12.706205, 4.302653, 3.182446, 2.776445)
_Z: Final = 1.959964


def t_quantile(degrees: int) -> float:
    """t(0.975; degrees), for a 95 % interval; within 0.003 for every number of degrees ≥ 1.

    Exact for up to four degrees, then the expansion in 1/degrees around the normal quantile z

        t = z + (z³ + z)/4ν + (5z⁵ + 16z³ + 3z)/96ν² + (3z⁷ + 19z⁵ + 17z³ − 15z)/384ν³.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.

    >>> round(t_quantile(1), 3), round(t_quantile(10), 3), round(t_quantile(1_000_000), 3)
    (12.706, 2.228, 1.96)
    """
    if degrees <= len(_FEW):
        return _FEW[degrees - 1]
    z, n = _Z, degrees
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )
