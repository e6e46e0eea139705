"""A number as read from a text, and what two numbers of a range share."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

Reading = tuple[str | int | Decimal, ...]
"""A kind and its value: `("number", 5)`, `("percent", 20)`, `("day", 3, 14)`, …"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """A number, date or time as one text writes it."""

    text: str
    start: int
    """Code-point offset."""
    demands: frozenset[Reading]
    """What a document must offer at least one of; empty where a word such as `one` or
    `half` is too often no number for a summary to be held to it."""
    offers: frozenset[Reading]
    """What it supports in another text: also the bare number of a share or of a price."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_BETWEEN = re.compile(r"\s*(?:-|–|—|to|and|or)\s*", re.IGNORECASE)
_GAP = 5
"""Code points between the ends of a range: " and "."""
_SCALES = (1, 10**3, 10**6, 10**9, 10**12)
_UNSHARED = frozenset({"number", "day", "month", "weekday", "time", "decade"})


def with_ranges(found: list[Quantity], text: str) -> list[Quantity]:
    """Let "5–10 million" and "$5 to $10m" mean five million, and "$5–10m" ten of them in dollars.

    The end that states no kind (per cent, a currency) shares the other's, and the left end
    may be meant in the scale of the right one.
    """
    result = list(found)
    for index in range(len(found) - 1):
        left, right = found[index], found[index + 1]
        if right.start - left.end > _GAP or not _BETWEEN.fullmatch(text, left.end, right.start):
            continue
        kinds = sorted(_kinds(left) | _kinds(right)) or ["number"]
        more = {
            (kind, value * scale)
            for kind in kinds
            for value in _numbers(left)
            for scale in _SCALES
            if scale == 1 or any(value * scale <= top >= scale for top in _numbers(right))
        }
        result[index] = replace(
            result[index],
            demands=result[index].demands | more if left.demands else left.demands,
            offers=result[index].offers | more,
        )
        shared = {(kind, value) for kind in kinds for value in _numbers(right)}
        result[index + 1] = replace(right, offers=right.offers | shared)
    return result


def _kinds(quantity: Quantity) -> set[str]:
    return {str(kind) for kind, *_ in quantity.demands} - _UNSHARED


def _numbers(quantity: Quantity) -> list[Decimal]:
    return [
        reading[1]
        for reading in quantity.offers
        if reading[0] == "number" and isinstance(reading[1], Decimal)
    ]
