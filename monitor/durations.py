"""Lengths of time, for people."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A length of time in its two greatest units.

    >>> duration(45), duration(600), duration(7260), duration(2678400)
    ('45 s', '10 min', '2 h 1 min', '31 d')
    """
    rest = round(seconds)
    parts: list[tuple[int, str]] = []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append((count, unit))
    return " ".join(f"{count} {unit}" for count, unit in parts[:2] if count) or "0 s"
