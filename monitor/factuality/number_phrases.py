"""Numbers spelled out: from words to values."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from monitor.factuality.number_words import ORDINAL_SCALES, ORDINALS, SCALES, TENS, UNITS

_ANY = Decimal(10**15)
"""More than any number word: at the beginning every word may follow."""
_ADDENDS = {**UNITS, **TENS, **ORDINALS}


def grouped(words: Sequence[str]) -> list[tuple[Decimal, int, int]]:
    """The numbers that number words spell: (value, index of first word, index of last word).

    `total` holds finished thousands, `group` the part below the next scale. A word that
    cannot continue the number begins another one: "two three" is a list.

    >>> [int(value) for value, _, _ in grouped("two hundred and five three".split())]
    [205, 3]
    """
    numbers: list[tuple[Decimal, int, int]] = []
    total, group = Decimal(0), Decimal(0)
    first: int | None = None
    last = 0
    room = _ANY
    """What the next addend must stay below: 10 after tens, 100 after hundred, …"""
    scaled = _ANY

    def close() -> None:
        nonlocal total, group, first, room, scaled
        if first is not None:
            numbers.append((total + group, first, last))
        total, group, first = Decimal(0), Decimal(0), None
        room, scaled = _ANY, _ANY

    for index, word in enumerate(words):
        lower = word.lower()
        if lower == "half":
            close()
            group, first, last, room = Decimal("0.5"), index, index, Decimal(1)
        elif lower in {"a", "an"}:
            if first is None:
                group, first, last, room = Decimal(1), index, index, Decimal(1)
        elif lower in SCALES or lower in ORDINAL_SCALES:
            scale = Decimal(SCALES.get(lower) or ORDINAL_SCALES[lower])
            if first is None or scale >= scaled or (scale <= 100 and group >= 100):
                close()
                first, group = index, Decimal(1)
            group, last = max(group, Decimal("0.5")) * scale, index
            room = scale
            if scale >= 1000:
                total, group, scaled = total + group, Decimal(0), scale
            if lower in ORDINAL_SCALES:
                close()
        elif lower != "and":
            value = Decimal(_ADDENDS[lower])
            if first is not None and not 0 < value < room:
                close()
            if first is None:
                first = index
            group, last = group + value, index
            room = Decimal(10) if value >= 20 else Decimal(1)
            if lower in ORDINALS:
                close()
    close()
    return numbers
