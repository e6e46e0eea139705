"""What templates are given to write with."""

from __future__ import annotations

from monitor.investigate.rendering import once
from monitor.records import UnsupportedFact


def test_an_invented_name_is_told_once_with_how_often() -> None:
    """A list of the same name hides the others; without texts there is nothing to join."""
    named = [
        UnsupportedFact(kind="entity", text=text, start=start)
        for start, text in ((3, "Zanzibar"), (20, "Cork"), (40, "Zanzibar"))
    ]
    assert [(fact.start, count) for fact, count in once(named)] == [(3, 2), (20, 1)]
    erased = [UnsupportedFact(kind="entity", text="", start=start) for start in (3, 20)]
    assert [(fact.start, count) for fact, count in once(erased)] == [(3, 1), (20, 1)]
