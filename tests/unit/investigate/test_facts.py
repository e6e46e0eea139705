"""What the overview, a breach and drift are made of."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.breaches.thresholds import Bound, Threshold
from monitor.errors import UsageError
from monitor.findings import Series
from monitor.investigate.breach import BreachFacts, breach_facts
from monitor.investigate.drift import drift_list, series_drift
from monitor.investigate.filters import asked, breach_filter, record_filter, unfolded
from monitor.investigate.moments import moment, span
from monitor.investigate.overview import overview
from monitor.investigate.overview_parts import Standing
from monitor.investigate.sources import Sources
from monitor.records import Reason, RecordState
from monitor.storage.breach_store import SqlBreachStore
from monitor.storage.engine import connect
from monitor.storage.schema import upgrade
from monitor.storage.tables import records

story_file = runpy.run_path(str(Path(__file__).parents[2] / "browser" / "story.py"))
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


def threshold(name: str, signal: str, **fields: Any) -> Threshold:
    return Threshold(name=name, signal=signal, limit=Bound(value=0.8), window=900.0, **fields)


def facts_with(sources: Sources, breach_id: str, *configured: Threshold) -> BreachFacts:
    """The facts where these thresholds are configured."""
    named = replace(sources, thresholds={each.name: each for each in configured})
    facts = breach_facts(named, breach_id)
    assert facts is not None
    return facts


def test_a_breach_begins_where_its_limit_was_exceeded(sources: Sources, story: Any) -> None:
    """Before it: three windows of ordinary traffic, up to the window that first exceeded it.
    What lies between is a mixture of both, and belongs to neither."""
    facts = facts_with(sources, story.breach_id, threshold("hss_mean", "hss", min_records=1))
    window = timedelta(seconds=facts.breach.window_seconds)
    assert (facts.after.since, facts.widened) == (facts.breach.exceeded_since, False)
    assert facts.before.until == facts.breach.exceeded_since - window
    assert facts.before.until - facts.before.since == 3 * window
    assert facts.after.until > facts.breach.opened_at
    assert facts.spread is not None
    assert facts.spread[1].stretch == facts.after


@pytest.mark.parametrize("configured", [(), (threshold("hss_mean", "hss", min_records=10_000),)])
def test_a_breach_with_few_records_begins_one_window_earlier(
    sources: Sources, story: Any, configured: tuple[Threshold, ...]
) -> None:
    """Just opened, it would else be compared by two or three; a threshold that is not configured
    asks for 30."""
    facts = facts_with(sources, story.breach_id, *configured)
    assert facts.widened
    assert facts.before.until == facts.after.since
    assert facts.spread is not None
    assert facts.spread[1].stretch == facts.after


@pytest.mark.parametrize(
    ("configured", "earlier"),
    [
        ((), 0),
        ((threshold("null_distance_high", "null_distance", calm=600.0),), 600),
        ((threshold("null_distance_high", "hss", calm=600.0),), 0),
        ((threshold("null_distance_high", "null_distance", calm=3600.0),), 0),
    ],
)
def test_a_resolved_breach_ends_where_its_calm_began(
    sources: Sources, story: Any, configured: tuple[Threshold, ...], earlier: int
) -> None:
    """What came later is not its doing. Another threshold of the name, and a time of calm that
    would have begun before it opened, say nothing."""
    facts = facts_with(sources, story.resolved_id, *configured)
    resolved = facts.breach.resolved_at
    assert resolved is not None
    assert facts.after.until == resolved - timedelta(seconds=earlier)
    assert facts.course is not None
    assert facts.course.stretch.until == resolved
    assert facts.contributors == ()


def test_releases_that_came_or_went_are_news(sources: Sources, story: Any) -> None:
    """The bad release is new, and came before the limit was exceeded: its first record counts
    although it lies in neither stretch."""
    facts = facts_with(sources, story.breach_id, threshold("hss_mean", "hss", min_records=1))
    found = {change.release: change for change in facts.releases}
    bad = found["2026.11.30-rc2"]
    assert bad.news == "new"
    assert facts.before.until <= bad.first_at < facts.breach.exceeded_since


@pytest.fixture
def apart(tmp_path: Path, sources: Sources) -> Iterator[tuple[Sources, Any]]:
    """The story in a database of its own, for tests that change it."""
    database = connect(f"sqlite:///{tmp_path / 'night.db'}")
    upgrade(database)
    night = story_file["tell"](database, records=32)
    store = SqlBreachStore(database, clock=sources.clock)
    yield replace(sources, database=database, breaches=store), night
    database.close()


def test_releases_of_another_model_are_no_change(apart: tuple[Sources, Any]) -> None:
    """Two models of one service are judged apart: the other one's release explains nothing."""
    here, night = apart
    before = breach_facts(here, night.breach_id)
    with here.database.write() as connection:
        others = sa.update(records).where(records.c.id == night.worst)
        connection.execute(others.values(model="gemma-1b", release="9.9"))
    after = breach_facts(here, night.breach_id)
    assert before is not None
    assert after is not None
    counted = [sum(each.after for each in facts.releases) for facts in (before, after)]
    assert counted[1] == counted[0] - 1
    assert "9.9" not in {each.release for each in after.releases}


def test_a_model_that_took_the_place_of_another_is_the_change(apart: tuple[Sources, Any]) -> None:
    """Of its own series nothing is before the breach, and so nothing would have changed."""
    here, night = apart
    found = breach_facts(here, night.breach_id)
    assert found is not None
    with here.database.write() as connection:
        old = sa.update(records).where(records.c.received_at < found.before.until)
        connection.execute(old.values(model="gemma-1b"))
    facts = breach_facts(here, night.breach_id)
    assert facts is not None
    own = facts.breach.series.model
    news = {(each.model, each.news) for each in facts.releases}
    assert {("gemma-1b", "gone"), (own, "new")} <= news


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
