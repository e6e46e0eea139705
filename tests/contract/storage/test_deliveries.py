"""Events of breaches: each queued once, in order, until it is taken."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.findings import BreachRow, Series
from monitor.storage.breach_rows import breach_columns
from monitor.storage.deliveries import Delivery, SqlDeliveries
from monitor.storage.engine import Database
from monitor.storage.finding_tables import breaches

Save = Callable[..., None]


@pytest.fixture
def deliveries(database: Database, clock: Any) -> SqlDeliveries:
    return SqlDeliveries(database, clock=clock)


@pytest.fixture
def save(database: Database, clock: Any) -> Save:
    """Stores a breach that opened `ago` seconds ago, resolved or not."""

    def save(breach_id: str = "b1", *, resolved: bool = False, ago: float = 0) -> None:
        opened = clock.now - timedelta(seconds=ago)
        breach = BreachRow(
            id=breach_id,
            threshold="hss_mean",
            series=Series(service="news", model="m", category=breach_id),
            number=1,
            signal="hss",
            statistic="mean",
            comparison="above",
            severity="page",
            state="resolved" if resolved else "open",
            exceeded_since=opened,
            opened_at=opened,
            resolved_at=clock.now if resolved else None,
            value=0.9,
            worst=0.95,
            limit=0.8,
            window_seconds=3600,
            records=40,
            acknowledged_at=None,
            acknowledged_by=None,
            note=None,
        )
        with database.write() as connection:
            known = connection.execute(
                sa.update(breaches)
                .where(breaches.c.id == breach_id)
                .values(state=breach.state, resolved_at=breach.resolved_at)
            )
            if known.rowcount == 0:
                connection.execute(sa.insert(breaches), [breach_columns(breach)])

    return save


def claimed(deliveries: SqlDeliveries) -> Delivery:
    found = deliveries.claim(seconds=30)
    assert found is not None
    return found


def test_an_opening_and_a_resolution_are_queued_once_each(
    deliveries: SqlDeliveries, save: Save, clock: Any
) -> None:
    """However often, and by however many fronts, it is looked."""
    save()
    assert [deliveries.queue(since=clock.now) for _ in range(3)] == [1, 0, 0]
    save(resolved=True)
    assert [deliveries.queue(since=clock.now) for _ in range(3)] == [1, 0, 0]


def test_what_was_over_before_the_webhook_is_not_told(
    deliveries: SqlDeliveries, save: Save, clock: Any
) -> None:
    """A webhook that is configured today must not page for last month; what is open counts."""
    save("old", resolved=True, ago=100)
    save("open", ago=100)
    save("fresh", resolved=True, ago=10)
    deliveries.queue(since=clock.now - timedelta(seconds=50))
    keys = set()
    while (delivery := deliveries.claim(seconds=30)) is not None:
        keys.add(delivery.key)
        deliveries.delivered(delivery)
    assert keys == {"open:open", "fresh:open", "fresh:resolved"}


def test_a_resolution_waits_for_its_opening(
    deliveries: SqlDeliveries, save: Save, clock: Any
) -> None:
    """A receiver that closes an incident must have opened it."""
    save(resolved=True)
    deliveries.queue(since=clock.now)
    opening = claimed(deliveries)
    assert (opening.key, opening.attempt) == ("b1:open", 1)
    assert deliveries.claim(seconds=30) is None
    deliveries.postpone(opening, seconds=5, problem="status 500")
    clock.advance(5)
    again = claimed(deliveries)
    assert (again.key, again.attempt) == ("b1:open", 2)
    deliveries.delivered(again)
    assert claimed(deliveries).key == "b1:resolved"


def test_a_claimed_event_is_nobody_elses_until_its_time_is_up(
    deliveries: SqlDeliveries, save: Save, clock: Any
) -> None:
    """A front that dies while it sends is succeeded; one that is slow is not doubled."""
    save()
    deliveries.queue(since=clock.now)
    first = claimed(deliveries)
    clock.advance(29)
    assert deliveries.claim(seconds=30) is None
    clock.advance(1)
    second = claimed(deliveries)
    assert (second.key, second.attempt) == (first.key, 2)
    deliveries.postpone(first, seconds=0, problem="late")
    assert deliveries.claim(seconds=30) is None, "the claim of the second stands"
    deliveries.delivered(first)
    clock.advance(3600)
    assert deliveries.claim(seconds=30) is None, "taken is taken, whoever says so"


def test_what_was_given_up_is_not_tried_again_nor_resolved(
    deliveries: SqlDeliveries, save: Save, clock: Any
) -> None:
    """The receiver never heard of it."""
    save()
    deliveries.queue(since=clock.now)
    deliveries.give_up(claimed(deliveries), problem="status 404")
    save(resolved=True)
    assert deliveries.queue(since=clock.now) == 0
    clock.advance(3600)
    assert deliveries.claim(seconds=30) is None


def test_fronts_that_look_at_once_share_the_events(
    deliveries: SqlDeliveries, save: Save, clock: Any
) -> None:
    """Two may believe that it is their turn, for as long as a lease takes."""
    for number in range(8):
        save(f"b{number}")
    with ThreadPoolExecutor(4) as pool:
        queued = list(pool.map(lambda _: deliveries.queue(since=clock.now), range(4)))
        claims = list(pool.map(lambda _: deliveries.claim(seconds=30), range(12)))
    assert sum(queued) >= 8
    keys = [claim.key for claim in claims if claim is not None]
    assert sorted(keys) == [f"b{number}:open" for number in range(8)]


def test_events_go_with_their_breach(
    deliveries: SqlDeliveries, save: Save, clock: Any, database: Database
) -> None:
    """A pruned breach leaves nothing behind that could be told again."""
    save()
    deliveries.queue(since=clock.now)
    with database.write() as connection:
        connection.execute(sa.delete(breaches))
    assert deliveries.claim(seconds=30) is None


def test_a_clock_that_was_set_back_delays_nobody(
    deliveries: SqlDeliveries, save: Save, clock: Any
) -> None:
    """A page that waits an hour for the clock to catch up is none."""
    save()
    deliveries.queue(since=clock.now)
    deliveries.postpone(claimed(deliveries), seconds=900, problem="status 500")
    clock.advance(-60)
    assert deliveries.claim(seconds=30) is None
    clock.advance(-3600)
    assert claimed(deliveries).attempt == 2
