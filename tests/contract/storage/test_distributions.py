"""Distributions, courses and releases against values computed by hand, over both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from monitor.errors import UsageError
from monitor.findings import Series
from monitor.records import Reason, RecordState
from monitor.storage.distributions import Stretch, distributions
from monitor.storage.engine import Database
from monitor.storage.overview import courses, window_start
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.releases import release_counts
from monitor.storage.trends import trend

NEWS = Series(service="news", model="gemma", category="politics")


@pytest.fixture
def finish(queue: SqlRecordQueue, make_sampled: Any, make_result: Any, clock: Any) -> Any:
    """Take a record in, `seconds` after the start, and finish it with an HSS."""

    def run(record_id: str, seconds: float, hss: float | None, **more: Any) -> None:
        result = more.pop("result", {})
        queue.accept([make_sampled(record_id, seconds=seconds, **more)])
        clock.advance(10)
        [leased] = queue.lease("w", count=1, seconds=60)
        queue.finish(leased.lease, make_result(record_id, hss=hss, **result))

    return run


def span(clock: Any, since: float, until: float) -> Stretch:
    start = clock.now.replace(hour=12, minute=0, second=0, microsecond=0)
    return Stretch(since=start + timedelta(seconds=since), until=start + timedelta(seconds=until))


def test_a_distribution_weighs_each_record_by_what_it_stands_for(
    database: Database, finish: Any, clock: Any
) -> None:
    """One record kept with π = 0.25 stands for four, three with π = 1 for three."""
    finish("a", 0, 0.1, probability=0.25)
    for index, hss in enumerate((0.5, 0.55, 1.0)):
        finish(f"b{index}", 1 + index, hss, probability=1.0)
    finish("outside", 50, 0.3)
    finish("other", 2, 0.3, model="bart")
    before, after = distributions(
        database, NEWS, "hss", (span(clock, 0, 10), span(clock, 10, 20)), bins=4
    )
    assert (before.low, before.high, before.records, before.complete) == (0.0, 1.0, 4, True)
    assert before.shares == pytest.approx((4 / 7, 0, 2 / 7, 1 / 7))
    assert before.mean == pytest.approx((0.4 + 0.5 + 0.55 + 1.0) / 7)
    assert (after.records, after.shares, after.mean) == (0, (), None)


def test_both_distributions_share_their_bins(database: Database, finish: Any, clock: Any) -> None:
    """Lengths have no natural range: the bins span what both stretches hold."""
    finish("a", 0, 0.1, result={"document_words": 10})
    finish("b", 11, 0.1, result={"document_words": 100})
    before, after = distributions(
        database, NEWS, "document_words", (span(clock, 0, 10), span(clock, 10, 20)), bins=10
    )
    assert [(each.low, each.high) for each in (before, after)] == [(0.0, 100.0)] * 2
    assert before.shares.index(1.0) == 1
    assert after.shares.index(1.0) == 9


def test_the_first_stretch_may_be_of_one_release(
    database: Database, finish: Any, clock: Any
) -> None:
    """A reference of a release is not pictured with the canary that ran beside it."""
    for index, release in enumerate(("good", "canary", "good")):
        finish(f"a{index}", index, 0.1 if release == "good" else 0.9, release=release)
    finish("b", 12, 0.9, release="canary")
    before, after = distributions(
        database, NEWS, "hss", (span(clock, 0, 10), span(clock, 10, 20)), first_release="good"
    )
    assert (before.records, before.mean) == (2, pytest.approx(0.1))
    assert (after.records, after.mean) == (1, pytest.approx(0.9))


def test_only_the_newest_records_are_taken_and_that_is_said(
    database: Database, finish: Any, clock: Any
) -> None:
    """A busy week costs no more than a quiet one."""
    for index in range(6):
        finish(f"r{index}", index, 0.1 if index < 3 else 0.9)
    [newest] = distributions(database, NEWS, "hss", (span(clock, 0, 10),), limit=3)
    assert (newest.records, newest.complete) == (3, False)
    assert newest.mean == pytest.approx(0.9)
    assert not trend(database, NEWS, "hss", span(clock, 0, 10), limit=3).complete


def test_the_share_that_was_not_scored_is_a_signal(
    database: Database, finish: Any, clock: Any
) -> None:
    """Skipped records have no row of scores where their lease ended otherwise."""
    finish("a", 0, 0.1, probability=1.0)
    skipped = {"state": RecordState.SKIPPED, "reason": Reason.TOO_LONG, "severity": None}
    finish("b", 1, None, probability=0.25, result=skipped)
    [spread] = distributions(database, NEWS, "skipped", (span(clock, 0, 10),), bins=2)
    assert spread.shares == pytest.approx((0.2, 0.8))


def test_a_course_has_the_mean_of_each_bucket_with_its_interval(
    database: Database, finish: Any, clock: Any
) -> None:
    """Five records of equal weight, 0.1 to 0.5: s = √0.025, margin t(0.975; 4) · s / √5."""
    for index in range(5):
        finish(f"a{index}", 1 + index, 0.1 + index / 10)
    for index in range(4):  # of which none is drawn
        finish(f"b{index}", 15, 0.65 + index / 10)
    course = trend(database, NEWS, "hss", span(clock, 0, 20), buckets=2)
    first, second = course.points
    assert (first.records, second.records) == (5, 4)
    assert first.mean == pytest.approx(0.3)
    margin = 2.776445 * 0.025**0.5 / 5**0.5
    assert (first.low, first.high) == (pytest.approx(0.3 - margin), pytest.approx(0.3 + margin))
    assert (second.mean, second.low, second.high) == (pytest.approx(0.8), None, None)
    assert first.at - course.stretch.since == timedelta(seconds=5)


def test_the_interval_of_a_course_counts_traces_not_records(
    database: Database, finish: Any, clock: Any
) -> None:
    """Four equal records of one trace are one draw: the same interval as one of fourfold weight."""
    for index in range(5):
        for copy in range(4):
            finish(f"a{index}{copy}", 1 + index, 0.1 + index / 10, trace_id=f"{index:032x}")
    for copy in range(4):
        finish(f"b{copy}", 15, 0.8, trace_id=f"{9:032x}")
    first, second = trend(database, NEWS, "hss", span(clock, 0, 20), buckets=2).points
    assert (first.records, second.records) == (20, 4)
    margin = 2.776445 * 0.025**0.5 / 5**0.5
    assert (first.low, first.high) == (pytest.approx(0.3 - margin), pytest.approx(0.3 + margin))
    assert (second.low, second.high) == (None, None)


def test_a_signal_of_no_single_record_has_no_distribution(database: Database, clock: Any) -> None:
    """Minutes without a score belong to the queue."""
    with pytest.raises(UsageError, match="minutes_unscored"):
        distributions(database, NEWS, "minutes_unscored", (span(clock, 0, 1),))
    with pytest.raises(UsageError, match="minutes_unscored"):
        trend(database, NEWS, "minutes_unscored", span(clock, 0, 1))


def test_releases_are_counted_by_model(database: Database, finish: Any, clock: Any) -> None:
    """What came and what went is the first question at night."""
    finish("a", 0, 0.1, release="1")
    finish("b", 3, 0.1, release="2")
    finish("c", 5, 0.1, release="2")
    finish("d", 1, 0.1, release=None, model="bart")
    finish("e", 30, 0.1, release="3")
    bart = Series(service="news", model="bart", category="politics")
    found = release_counts(database, [NEWS, bart], span(clock, 0, 10))
    assert [(each.model, each.release, each.records) for each in found] == [
        ("bart", None, 1),
        ("gemma", "1", 1),
        ("gemma", "2", 2),
    ]
    assert found[2].last_at - found[2].first_at == timedelta(seconds=2)
    assert release_counts(database, [], span(clock, 0, 10)) == []


def test_the_overview_counts_states_and_averages_by_part(
    database: Database, queue: SqlRecordQueue, make_sampled: Any, finish: Any, clock: Any
) -> None:
    """A part without a score stays unknown; what waits is counted."""
    finish("a", 1, 0.2, probability=0.25)
    finish("b", 2, 0.8, probability=1.0)
    finish("c", 25, None, result={"state": RecordState.SKIPPED, "severity": None})
    queue.accept([make_sampled("d", seconds=28, category=None)])
    window = span(clock, 0, 30)
    got = courses(database, since=window.since, until=window.until, buckets=3)
    assert got.complete
    unknown, politics = got.series
    assert (unknown.series.category, dict(unknown.states)) == ("", {RecordState.QUEUED: 1})
    assert dict(politics.states) == {RecordState.SCORED: 2, RecordState.SKIPPED: 1}
    assert politics.means == (pytest.approx((4 * 0.2 + 0.8) / 5), None, None)
    assert politics.last_received_at - window.since == timedelta(seconds=25)


def test_a_young_installation_fills_its_sparkline(
    database: Database, finish: Any, clock: Any
) -> None:
    """The window begins with the first record, not six hours before it."""
    finish("a", -600, 0.2)
    finish("b", 0, 0.8)
    window = span(clock, -20_000, 1)
    [series] = courses(database, since=window.since, until=window.until, buckets=2).series
    assert series.means == (0.2, 0.8)


def test_a_window_is_not_cut_to_moments(database: Database, finish: Any, clock: Any) -> None:
    """The first record came in just now: parts of a second would be a picture of nothing."""
    finish("a", 0, 0.2)
    window = span(clock, -20_000, 1)
    got = courses(database, since=window.since, until=window.until)
    assert got.until - got.since == timedelta(minutes=5)


def test_the_overview_reads_a_bounded_number_of_records(
    database: Database, finish: Any, clock: Any
) -> None:
    """It begins later where there are more, and says so."""
    for index in range(6):
        finish(f"r{index}", index, 0.1)
    window = span(clock, 0, 30)
    start = window_start(database, since=window.since, until=window.until, limit=3)
    assert start - window.since == timedelta(seconds=3)
    got = courses(database, since=window.since, until=window.until, limit=3)
    assert (got.complete, got.since) == (False, start)
    assert sum(got.series[0].states.values()) == 3
