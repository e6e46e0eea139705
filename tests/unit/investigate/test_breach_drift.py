"""What drifted while a breach was open, from the changes that the evaluator stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.findings import DriftChange, Series
from monitor.investigate.breach_drift import EndedDrift, ended_drift

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SERIES = Series(service="news", model="m", category="")


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def change(minutes: int, before: str, after: str, since: int | None = None) -> DriftChange:
    return DriftChange(
        series=SERIES,
        signal="hss",
        before=before,
        after=after,
        at=at(minutes),
        since=None if since is None else at(since),
        direction=None,
    )


RAISED = change(10, "stable", "drifted", since=5)
OVER = change(40, "drifted", "stable")


def test_drift_that_is_over_stays_on_the_page_of_its_breach() -> None:
    """Who looks in the morning asks what had changed in the night."""
    [found] = ended_drift([OVER, RAISED], since=at(8), until=at(30))
    assert found == EndedDrift(signal="hss", since=at(5), raised_at=at(10), over_since=at(40))


@pytest.mark.parametrize(
    ("since", "until"), [(41, None), (41, 60), (-20, 4)], ids=["ended", "ended too", "began later"]
)
def test_drift_of_another_time_is_not_of_the_breach(since: int, until: int | None) -> None:
    """It was over before the limit was exceeded, or began after the end."""
    assert (
        ended_drift([OVER, RAISED], since=at(since), until=None if until is None else at(until))
        == []
    )


def test_drift_from_long_before_has_no_beginning() -> None:
    """Only changes around the breach are read."""
    [found] = ended_drift([OVER], since=at(8), until=None)
    assert (found.since, found.raised_at, found.over_since) == (None, None, at(40))


def test_present_drift_is_not_over() -> None:
    """It stands among the findings."""
    assert ended_drift([RAISED], since=at(8), until=None) == []


def test_of_several_the_last_is_told() -> None:
    """One line a signal."""
    again = [change(80, "drifted", "suspect"), change(60, "stable", "drifted", since=50)]
    [found] = ended_drift([*again, OVER, RAISED], since=at(8), until=None)
    assert (found.since, found.over_since) == (at(50), at(80))
