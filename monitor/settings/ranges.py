"""Between which numbers the values of a signal lie, and so the mean of any records."""

from __future__ import annotations

import math

_LEAST = {"excess": -2.0, "summac": -1.0}
_MOST = {
    **dict.fromkeys(("raw_distance", "null_distance", "observed_distance", "excess"), 2.0),
    **dict.fromkeys(("document_words", "summary_words", "minutes_unscored"), math.inf),
}


def signal_range(signal: str) -> tuple[float, float]:
    """(Least, greatest); from 0 to 1 for all but a few.

    >>> signal_range("hss"), signal_range("excess"), signal_range("summary_words")
    ((0.0, 1.0), (-2.0, 2.0), (0.0, inf))
    """
    return _LEAST.get(signal, 0.0), _MOST.get(signal, 1.0)
