"""Thresholds and breaches: what evaluations write and what people say of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.errors import LeaseLost, UsageError
from monitor.findings import (
    BreachContributor,
    BreachDetail,
    BreachRow,
    EvaluatorLease,
    MarkCounts,
    Series,
    ThresholdState,
)
from monitor.storage.breach_list import BreachFilter
from monitor.storage.breach_store import SqlBreachStore, breach_id
from monitor.storage.engine import Database
from monitor.storage.lease import SqlEvaluatorLease

NEWS = Series(service="news", model="gemma", category="politics")
LEGAL = Series(service="legal", model="gemma", category="")
Save = Callable[..., None]


@pytest.fixture
def store(database: Database, clock: Any) -> SqlBreachStore:
    return SqlBreachStore(database, clock=clock)


@pytest.fixture
def lease(database: Database, clock: Any) -> Any:
    """A lease of a day."""
    leases = SqlEvaluatorLease(database, clock=clock)
    yield leases.acquire("a", seconds=86_400)
    leases.close()


@pytest.fixture
def save(store: SqlBreachStore, lease: EvaluatorLease) -> Save:
    """Save breaches, and nothing else."""

    def run(*breaches: BreachDetail) -> None:
        store.save(lease, states=[], breaches=breaches)

    return run


def contributor(record_id: str, place: int = 1, **fields: Any) -> BreachContributor:
    values: dict[str, Any] = {
        "value": 0.9,
        "weight": 4.0,
        "release": "v2",
        "mark": None,
        "marked_by": None,
        "marked_at": None,
    } | fields
    return BreachContributor(record_id=record_id, place=place, **values)


def opened(
    at: datetime,
    *records: str,
    threshold: str = "hss_mean",
    series: Series = NEWS,
    number: int = 1,
    **fields: Any,
) -> BreachDetail:
    values: dict[str, Any] = {
        "signal": "hss",
        "statistic": "mean",
        "comparison": "above",
        "severity": "page",
        "state": "open",
        "exceeded_since": at - timedelta(minutes=5),
        "opened_at": at,
        "resolved_at": None,
        "value": 0.85,
        "worst": 0.875,
        "limit": 0.8,
        "window_seconds": 3600.0,
        "records": 42,
        "acknowledged_at": None,
        "acknowledged_by": None,
        "note": None,
    } | fields
    row = BreachRow(
        id=breach_id(threshold, series, number),
        threshold=threshold,
        series=series,
        number=number,
        **values,
    )
    listed = tuple(contributor(name, place) for place, name in enumerate(records, start=1))
    return BreachDetail(breach=row, contributors=listed)


def resolved(detail: BreachDetail, at: datetime) -> BreachDetail:
    return replace(detail, breach=replace(detail.breach, state="resolved", resolved_at=at))


def threshold_state(clock: Any, series: Series = NEWS, **fields: Any) -> ThresholdState:
    values: dict[str, Any] = {
        "threshold": "hss_mean",
        "state": "pending",
        "number": 0,
        "value": 0.85,
        "limit": 0.8,
        "level": None,
        "records": 42,
        "reason": None,
        "evaluated_at": clock.now,
        "stored": {"state": "pending", "exceeded_since": 1772366400.125, "contributors": []},
    } | fields
    return ThresholdState(series=series, **values)


def ids(store: SqlBreachStore, **wanted: Any) -> list[str]:
    return [row.id for row in store.list_breaches(BreachFilter(**wanted)).rows]


def test_ids_tell_thresholds_series_and_numbers_apart() -> None:
    """A link in an alert leads to this breach on every replica, and to no other."""
    made = {
        breach_id(threshold, series, number)
        for threshold in ("hss_mean", "stale")
        for series in (NEWS, LEGAL, Series(service="news", model="gemma", category=""))
        for number in (1, 2)
    }
    assert len(made) == 12
    assert breach_id("hss_mean", NEWS, 2).startswith("hss_mean-2-")
    odd = Series(service="a/b c", model="ü?", category="#")
    assert set(breach_id("t", odd, 1)) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")


def test_threshold_states_are_read_back_and_replaced(
    store: SqlBreachStore, lease: EvaluatorLease, clock: Any
) -> None:
    """The next evaluator goes on with the clocks of the last one."""
    pending = threshold_state(clock)
    other = threshold_state(clock, LEGAL, threshold="stale", value=None, reason="too_few_records")
    store.save(lease, states=[pending, other], breaches=[])
    clock.advance(30)
    newer = threshold_state(clock, state="open", number=1)
    store.save(lease, states=[newer], breaches=[])
    assert store.threshold_states() == [other, newer]
    assert store.threshold_states(threshold="hss_mean") == [newer]
    assert store.threshold_states(service="legal", model="gemma", category="") == [other]
    assert store.threshold_states(category="sport") == []


def test_a_breach_is_read_back_as_it_was_opened(
    store: SqlBreachStore, save: Save, clock: Any
) -> None:
    """With its contributors, the greatest first."""
    breach = opened(clock.now, "r2", "r1")
    save(breach)
    assert store.breach(breach.breach.id) == breach
    assert store.list_breaches().rows == (breach.breach,)
    assert store.breach("hss_mean-9-000000000000") is None


def test_a_breach_goes_on_and_ends_under_its_id(
    store: SqlBreachStore, save: Save, clock: Any
) -> None:
    """Values follow the traffic; when it opened is history."""
    first = opened(clock.now, "r1")
    save(first)
    clock.advance(60)
    worse = opened(clock.now, "r1", value=0.9, worst=0.95, records=50)
    save(worse)
    kept = replace(
        worse.breach,
        opened_at=first.breach.opened_at,
        exceeded_since=first.breach.exceeded_since,
    )
    assert store.list_breaches().rows == (kept,)
    save(resolved(worse, clock.now))
    assert store.list_breaches().rows == (replace(kept, state="resolved", resolved_at=clock.now),)


def test_a_breach_that_was_resolved_never_opens_again(
    store: SqlBreachStore, save: Save, clock: Any
) -> None:
    """The next one has the next number, its own page and its own acknowledgement."""
    first = opened(clock.now)
    ended = resolved(first, clock.now)
    save(ended)
    save(first)
    assert store.list_breaches().rows == (ended.breach,)
    clock.advance(1)
    second = opened(clock.now, number=2)
    save(second)
    assert store.list_breaches().rows == (second.breach, ended.breach)


def test_one_number_of_a_threshold_and_series_is_one_breach(
    database: Database, save: Save, clock: Any
) -> None:
    """The database refuses a second one, whatever its id."""
    breach = opened(clock.now)
    save(breach)
    twin = replace(breach, breach=replace(breach.breach, id="another"))
    with pytest.raises(sa.exc.IntegrityError):
        save(twin)


def test_breaches_without_the_lease_leave_no_trace(
    store: SqlBreachStore, lease: EvaluatorLease, clock: Any
) -> None:
    """A late write of a former holder would page a second time."""
    everything = {"states": [threshold_state(clock)], "breaches": [opened(clock.now, "r1")]}
    with pytest.raises(LeaseLost):
        store.save(replace(lease, token=lease.token + 1), **everything)
    clock.advance(86_400)
    with pytest.raises(LeaseLost, match="ran out"):
        store.save(lease, **everything)
    assert store.threshold_states() == []
    assert store.list_breaches().rows == ()


def test_what_people_said_outlives_every_evaluation(
    store: SqlBreachStore, save: Save, clock: Any
) -> None:
    """The evaluator never heard of it, and must not wipe it out."""
    breach = opened(clock.now, "r1", "r2")
    key = breach.breach.id
    save(breach)
    clock.advance(60)
    said_at = clock.now
    seen = store.acknowledge(key, name=" Ada ", note="  rolled back ")
    assert (seen.acknowledged_by, seen.note, seen.acknowledged_at) == (
        "Ada",
        "rolled back",
        said_at,
    )
    marked = store.mark(key, "r2", right=False, name="Ada")
    assert marked == contributor("r2", 2, mark=False, marked_by="Ada", marked_at=said_at)
    clock.advance(60)
    save(resolved(breach, clock.now))
    found = store.breach(key)
    assert found is not None
    assert found.breach == replace(seen, state="resolved", resolved_at=clock.now)
    assert found.contributors == (contributor("r1", 1), marked)


def test_the_last_word_counts_and_no_word_is_lost(
    store: SqlBreachStore, save: Save, clock: Any
) -> None:
    """Somebody takes over the incident, or was wrong about a record."""
    breach = opened(clock.now, "r1")
    key = breach.breach.id
    save(breach)
    assert store.acknowledge(key, name="Ada", note=" ").note is None
    at = f"{clock.now:%Y-%m-%d %H:%M} UTC"
    assert (
        store.acknowledge(key, name="Grace", note="looking").note == f"looking\nbefore, {at}, Ada"
    )
    seen = store.acknowledge(key, name="Linus", note="")
    assert (seen.acknowledged_by, seen.note) == (
        "Linus",
        f"before, {at}, Grace: looking\nbefore, {at}, Ada",
    )
    store.mark(key, "r1", right=True, name="Ada")
    assert store.mark(key, "r1", right=False, name="Grace").mark is False
    assert store.mark_counts() == [MarkCounts(threshold="hss_mean", true=0, false=1)]


def test_contributors_are_those_of_the_worst_moment_and_the_marked_ones(
    store: SqlBreachStore, save: Save, clock: Any
) -> None:
    """A mark is work that somebody did; it stays visible, behind the present list."""
    breach = opened(clock.now, "r1", "r2", "r3")
    key = breach.breach.id
    save(breach)
    for name in ("r1", "r3"):
        store.mark(key, name, right=True, name="Ada")
    save(opened(clock.now, "r9", "r3"))
    found = store.breach(key)
    assert found is not None
    assert [(each.record_id, each.place, each.mark) for each in found.contributors] == [
        ("r9", 1, None),
        ("r3", 2, True),
        ("r1", 3, True),
    ]
    save(opened(clock.now))
    assert store.breach(key) == found


def test_what_is_not_stored_cannot_be_judged(store: SqlBreachStore, save: Save, clock: Any) -> None:
    """The message says what is wrong and what to do."""
    breach = opened(clock.now, "r1")
    key = breach.breach.id
    save(breach)
    with pytest.raises(UsageError, match=r"breach: 'x' is not stored; `hss-monitor breaches list`"):
        store.acknowledge("x", name="Ada", note="")
    with pytest.raises(UsageError, match="breach: 'x' is not stored"):
        store.mark("x", "r1", right=True, name="Ada")
    with pytest.raises(UsageError, match=f"record: 'r2' is not among the contributors of.*{key}"):
        store.mark(key, "r2", right=True, name="Ada")
    with pytest.raises(UsageError, match="name: empty"):
        store.acknowledge(key, name=" ", note="")
    with pytest.raises(UsageError, match="name: empty"):
        store.mark(key, "r1", right=True, name="")
    assert store.breach(key) == breach


def test_breaches_are_found_by_each_field_of_a_filter(
    store: SqlBreachStore, save: Save, clock: Any
) -> None:
    """A window shows what was open in it, also what had opened before."""
    start = clock.now
    hour = timedelta(hours=1)
    ended = resolved(opened(start), start + hour)
    going = opened(start + hour, number=2)
    legal = opened(start + 2 * hour, threshold="stale", series=LEGAL)
    save(ended, going, legal)
    names = [detail.breach.id for detail in (legal, going, ended)]
    assert ids(store) == names
    assert ids(store, service="news", model="gemma", category="politics") == names[1:]
    assert ids(store, category="") == names[:1]
    assert ids(store, threshold="hss_mean") == names[1:]
    assert ids(store, state="resolved") == names[2:]
    assert ids(store, since=start + hour + timedelta(seconds=1)) == names[:2]
    assert ids(store, until=start + 2 * hour) == names[1:]
    assert store.open_series() == {NEWS, LEGAL}


def test_pages_show_every_breach_once_newest_first(
    store: SqlBreachStore, save: Save, clock: Any
) -> None:
    """Several open in one evaluation, at the same instant."""
    save(*(opened(clock.now, number=number) for number in (1, 2, 3)))
    clock.advance(1)
    save(opened(clock.now, number=4), opened(clock.now, number=5))
    every = ids(store)
    seen: list[str] = []
    after = None
    while True:
        page = store.list_breaches(limit=2, after=after)
        seen += [row.id for row in page.rows]
        after = page.next
        if after is None:
            break
    assert seen == every
    assert len(set(seen)) == 5
    assert set(seen[:2]) == {breach_id("hss_mean", NEWS, number) for number in (4, 5)}


@pytest.mark.parametrize(("limit", "after"), [(0, None), (201, None), (50, "made-up")])
def test_a_page_that_is_none_is_refused(
    store: SqlBreachStore, limit: int, after: str | None
) -> None:
    """No reader can ask for all of them at once, or for a place that is none."""
    with pytest.raises(UsageError):
        store.list_breaches(limit=limit, after=after)


def test_marks_are_counted_by_threshold(store: SqlBreachStore, save: Save, clock: Any) -> None:
    """Precision of a threshold: over all of its breaches, marked records only."""
    first, second = opened(clock.now, "r1", "r2"), opened(clock.now, "r1", number=2)
    other = opened(clock.now, "r5", threshold="stale")
    save(first, second, other)
    assert store.mark_counts() == []
    store.mark(first.breach.id, "r1", right=True, name="Ada")
    store.mark(first.breach.id, "r2", right=False, name="Ada")
    store.mark(second.breach.id, "r1", right=True, name="Ada")
    assert store.mark_counts() == [MarkCounts(threshold="hss_mean", true=2, false=1)]


def test_a_record_knows_its_breaches(store: SqlBreachStore, save: Save, clock: Any) -> None:
    """Its page links to them, also when the record itself was pruned since."""
    old, new = opened(clock.now, "r1", "r2"), opened(clock.now + timedelta(hours=1), "r1", number=2)
    save(old, new)
    assert store.breaches_of("r1") == [new.breach, old.breach]
    assert store.breaches_of("r2") == [old.breach]
    assert store.breaches_of("r3") == []


def test_the_view_shows_one_row_a_breach(
    database: Database, store: SqlBreachStore, save: Save, clock: Any
) -> None:
    """Grafana's SQL panels and people at a prompt read it; times also as seconds."""
    breach = opened(clock.now, "r1", "r2", "r3")
    save(breach, opened(clock.now, series=LEGAL))
    for name, right in (("r1", True), ("r2", True), ("r3", False)):
        store.mark(breach.breach.id, name, right=right, name="Ada")
    query = sa.text("SELECT * FROM oncall_breaches WHERE category = 'politics'")
    with database.read() as connection:
        [row] = connection.execute(query).mappings()
    start = int(clock.now.timestamp())
    assert (row["breach_id"], row["threshold"], row["state"]) == (
        breach.breach.id,
        "hss_mean",
        "open",
    )
    assert (row["opened_unix"], row["exceeded_unix"]) == (start, start - 300)
    assert (row["resolved_unix"], row["acknowledged_unix"]) == (None, None)
    assert (row["contributors"], row["rightly"], row["wrongly"]) == (3, 2, 1)
    assert (row["value"], row["worst"], row["limit_value"]) == (0.85, 0.875, 0.8)


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        ({}, "ix_breaches_opened"),
        ({"state": "open"}, "ix_breaches_"),
        ({"service": "news", "model": "gemma", "category": "politics"}, "ix_breaches_series"),
    ],
)
def test_lists_of_breaches_are_backed_by_an_index(
    database: Database, store: SqlBreachStore, wanted: dict[str, str], index: str
) -> None:
    """The page at 3 a.m. is the one that must not be slow."""
    if not database.is_sqlite:
        pytest.skip("PostgreSQL plans by statistics, which an empty table does not have")
    plans: list[str] = []

    def note(
        connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        plans.extend(
            row[-1] for row in cursor.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
        )

    sa.event.listen(database.engine, "before_cursor_execute", note)
    store.list_breaches(BreachFilter(**wanted))
    sa.event.remove(database.engine, "before_cursor_execute", note)
    steps = " / ".join(plans)
    assert index in steps
    assert "TEMP B-TREE" not in steps
