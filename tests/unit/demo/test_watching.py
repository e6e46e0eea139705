"""What the demo's audience is told of the evaluator's findings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from monitor.demo.watching import nothing_yet

AT = datetime(2026, 1, 1, tzinfo=UTC)


def _finding(effect: float, since: datetime | None = None) -> Any:
    return SimpleNamespace(signal="hss", effect=effect, since=since)


def _breach(name: str, minute: int, *, severity: str = "page", state: str = "open") -> Any:
    return SimpleNamespace(
        id=name,
        threshold=name,
        severity=severity,
        state=state,
        opened_at=AT + timedelta(minutes=minute),
    )


def _stores(findings: list[Any], breaches: list[Any]) -> Any:
    return SimpleNamespace(
        lease=SimpleNamespace(current=lambda: None),
        drift=SimpleNamespace(findings=lambda *, state: findings),
        breaches=SimpleNamespace(
            list_breaches=lambda: SimpleNamespace(rows=breaches), breach=lambda name: name
        ),
    )


def test_the_first_page_is_the_breach_of_the_play() -> None:
    """Not a ticket that came before it, nor the page that is listed first, the newest."""
    seen = nothing_yet()
    rows = [_breach("second", 3), _breach("first", 2), _breach("early", 1, severity="ticket")]
    seen.look(_stores([_finding(0.3)], rows))
    assert (seen.breach, seen.found) == ("first", True)
    assert seen.open_breaches == ("second", "first", "early")
    assert [each.id for each in seen.breaches] == ["early", "first", "second"]


def test_an_alarm_that_ended_stays_known_at_its_greatest() -> None:
    """The result names what drifted, although the good release is back by then."""
    seen = nothing_yet()
    for effect in (0.2, -0.5, 0.3):
        seen.look(_stores([_finding(effect, AT)], []))
    seen.look(_stores([], [_breach("over", 1, state="resolved")]))
    assert seen.drifted["hss"].effect == -0.5
    assert (seen.drifted_now, seen.calm, seen.since()) == ((), True, AT)
