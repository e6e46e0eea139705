"""What the overview, a breach and drift are made of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from monitor.errors import UsageError
from monitor.findings import Series
from monitor.investigate.breach import breach_facts
from monitor.investigate.drift import drift_list, series_drift
from monitor.investigate.filters import asked, breach_filter, record_filter, unfolded
from monitor.investigate.moments import moment, span
from monitor.investigate.overview import overview
from monitor.investigate.overview_parts import Standing
from monitor.investigate.sources import Sources
from monitor.records import Reason, RecordState

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEWS = Series(service="newsroom", model="gemma-270m", category="politics")


def test_the_overview_shows_the_worst_first(sources: Sources) -> None:
    """What is open stands above what may open."""
    facts = overview(sources)
    assert [row.standing for row in facts.rows] == [
        Standing.BREACH,
        Standing.BREACH,
        Standing.PENDING,
    ]
    politics, sport, law = facts.rows
    assert [breach.threshold for breach in politics.breaches] == ["hss_mean"]
    assert set(politics.drifted) == {"entity_support", "hss", "shap_instability"}
    assert set(sport.suspect) == {"entity_support", "hss", "shap_instability"}
    assert law.pending == ("shap_instability_high",)
    assert (sport.waiting, law.ended) == (1, 1)
    assert facts.evaluated_at is not None


def test_the_overview_lists_the_worst_where_there_are_too_many(sources: Sources) -> None:
    """Senders choose names: ten thousand of them must not hide a breach, nor fill the page."""
    every, few = overview(sources), overview(sources, limit=2)
    assert (few.rows, few.unlisted) == (every.rows[:2], 1)
    assert every.unlisted == 0


def test_a_mean_stands_beside_its_interval_and_the_support(sources: Sources) -> None:
    """HSS alone says nothing about a model that invents the same thing each time."""
    for row in overview(sources).rows:
        assert row.hss is not None
        assert row.entity_support is not None
        assert (row.hss.low is not None) == (row.hss.records > 1), "of one record, no interval"
        if row.hss.low is not None and row.hss.high is not None:
            assert 0 <= row.hss.low <= row.hss.mean <= row.hss.high <= 1
        assert len(row.course) == 36


def test_the_window_that_opened_a_breach_belongs_to_it(sources: Sources, story: Any) -> None:
    """Before it: three windows of ordinary traffic, that end where its first record may be."""
    facts = breach_facts(sources, story.breach_id)
    assert facts is not None
    window = timedelta(seconds=facts.breach.window_seconds)
    assert facts.before.until == facts.after.since == facts.breach.exceeded_since - window
    assert facts.before.until - facts.before.since == 3 * window
    assert facts.after.until > facts.breach.opened_at


def test_a_resolved_breach_ends_where_it_was_resolved(sources: Sources, story: Any) -> None:
    """What came later is not its doing."""
    facts = breach_facts(sources, story.resolved_id)
    assert facts is not None
    assert facts.after.until == facts.breach.resolved_at
    assert facts.contributors == ()


def test_releases_that_came_or_went_are_news(sources: Sources, story: Any) -> None:
    """The bad release is new, and nothing else is."""
    facts = breach_facts(sources, story.breach_id)
    assert facts is not None
    news = {change.release: change.news for change in facts.releases}
    assert news["2026.11.30-rc2"] == "new"


def test_a_contributor_that_retention_took_is_still_named(sources: Sources, story: Any) -> None:
    """Its number stays true."""
    facts = breach_facts(sources, story.breach_id)
    assert facts is not None
    gone = [each for each in facts.contributors if each.record is None]
    assert [each.contributor.record_id for each in gone] == ["long-gone"]


def test_drift_is_listed_worst_first(sources: Sources) -> None:
    """Three signals have drifted, three are suspect."""
    states = [finding.state for finding in drift_list(sources).findings]
    assert states == ["drifted"] * 3 + ["suspect"] * 3 + ["stable"] * 2 + ["insufficient"] * 4
    assert {f.state for f in drift_list(sources, state="stable").findings} == {"stable"}


def test_a_change_is_shown_with_as_much_before_it_as_after(sources: Sources) -> None:
    """So that it is seen in the middle."""
    facts = series_drift(sources, NEWS)
    assert facts is not None
    signal = facts.signals[0]
    assert signal.finding.since is not None
    assert signal.course is not None
    stretch = signal.course.stretch
    before, after = signal.finding.since - stretch.since, stretch.until - signal.finding.since
    assert abs(before - after) < timedelta(seconds=1)
    assert signal.spread is not None
    assert series_drift(sources, Series(service="x", model="y", category="")) is None


def test_an_address_becomes_a_filter() -> None:
    """Fields that were left empty do not restrict."""
    query = {
        "service": "news",
        "model": "",
        "state": "skipped",
        "reason": "too_long",
        "since": " 2h ",
        "until": "2026-03-01T11:00",
        "min_hss": "0,5",
    }
    wanted = record_filter(query, now=NOW)
    assert (wanted.service, wanted.model) == ("news", None)
    assert (wanted.state, wanted.reason) == (RecordState.SKIPPED, Reason.TOO_LONG)
    assert (wanted.since, wanted.until) == (NOW - timedelta(hours=2), NOW - timedelta(hours=1))
    assert wanted.min_hss == 0.5
    assert breach_filter({"state": "open"}, now=NOW).state == "open"
    assert asked({"service": " x "}, ("service", "model")) == {"service": "x", "model": ""}


@pytest.mark.parametrize(
    "query",
    [{"state": "x"}, {"reason": "x"}, {"since": "x"}, {"min_hss": "1.5"}, {"min_hss": "nan"}],
)
def test_a_value_that_cannot_be_is_named(query: dict[str, str]) -> None:
    """With the remedy, as everywhere."""
    [field] = query
    with pytest.raises(UsageError, match=field):
        record_filter(query, now=NOW)


@pytest.mark.parametrize("value", ["999999999w", "", "2h ago", "2026-13-01", "-2h"])
def test_a_time_that_is_none_is_refused(value: str) -> None:
    """It comes from an address or a command line."""
    with pytest.raises(UsageError, match="is no time"):
        moment("since", value, now=NOW)
    assert span(value) is None


def test_a_service_that_is_really_called_other_can_be_asked_for() -> None:
    """Only names that no series has are taken for those of metrics."""
    query = {"service": "other", "model": "other", "category": "law"}
    really = Series(service="other", model="m", category="law")
    found = unfolded(query, lambda: [NEWS, really])
    assert (found.query, found.folded) == ({"service": "other", "category": "law"}, ("model",))


def test_series_are_looked_up_only_where_it_takes_them() -> None:
    """They cost a query."""
    found = unfolded({"service": "newsroom"}, lambda: pytest.fail("looked up"))
    assert (found.query, found.folded) == ({"service": "newsroom"}, ())
