"""The evaluator's lease: one holder at a time, and another soon after that one is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.errors import DatabaseUnavailable, LeaseLost
from monitor.findings import EvaluatorLease
from monitor.storage.engine import Database, connect
from monitor.storage.finding_tables import evaluator_lease
from monitor.storage.lease import SqlEvaluatorLease, require_lease

Front = Callable[[], SqlEvaluatorLease]


@pytest.fixture
def front(database_url: str, clock: Any) -> Iterator[Front]:
    """The lease as another process sees it; each with a database of its own."""
    made: list[tuple[Database, SqlEvaluatorLease]] = []

    def make() -> SqlEvaluatorLease:
        database = connect(database_url)
        made.append((database, SqlEvaluatorLease(database, clock=clock)))
        return made[-1][1]

    yield make
    for database, lease in made:
        lease.close()
        leaked = database.engine.pool.checkedout()  # type: ignore[attr-defined]  # QueuePool's
        database.close()
        assert leaked == 0


def taken(lease: SqlEvaluatorLease, holder: str, *, seconds: float = 60) -> EvaluatorLease:
    held = lease.acquire(holder, seconds=seconds)
    assert held is not None
    return held


def end_session(database: Database) -> None:
    """What the server does when the process that holds the advisory lock is killed."""
    with database.read() as connection:
        connection.execute(
            sa.text(
                "SELECT pg_terminate_backend(session, 5000) FROM evaluator_lease "
                "WHERE session IS NOT NULL"
            )
        )


def advisory_locks(database: Database) -> int:
    with database.read() as connection:
        return connection.execute(
            sa.text(
                "SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database "
                "WHERE locktype = 'advisory' AND datname = current_database()"
            )
        ).scalar_one()


@pytest.fixture
def postgresql(database: Database) -> Database:
    if database.is_sqlite:
        pytest.skip("SQLite has no sessions that end by themselves: there the row counts alone")
    return database


def test_one_holds_the_lease_and_renews_it(front: Front, clock: Any) -> None:
    """A renewal is no change of holder: the token stays, writes under way stay good."""
    first, second = front(), front()
    assert first.current() is None
    held = taken(first, "a", seconds=60)
    assert second.acquire("b", seconds=60) is None
    clock.advance(30)
    renewed = taken(first, "a", seconds=60)
    assert (held.token, renewed.token) == (1, 1)
    assert (renewed.until - held.until).total_seconds() == 30
    assert second.current() == renewed


def test_of_several_at_once_one_wins(front: Front) -> None:
    """Replicas of a deployment start within the same second."""
    fronts = [front() for _ in range(4)]
    barrier = Barrier(4)

    def start(number: int) -> EvaluatorLease | None:
        barrier.wait()
        return fronts[number].acquire(f"front-{number}", seconds=60)

    with ThreadPoolExecutor(4) as pool:
        leases = [lease for lease in pool.map(start, range(4)) if lease is not None]
    [winner] = leases
    assert fronts[0].current() == winner


def test_a_lease_that_ran_out_goes_to_another(front: Front, clock: Any) -> None:
    """Also while the session of the former holder still stands, as that of a frozen process."""
    frozen, other = front(), front()
    old = taken(frozen, "a", seconds=60)
    clock.advance(60)
    assert other.current() is None
    new = taken(other, "b")
    assert new.token == old.token + 1
    with pytest.raises(LeaseLost, match=r"'a' no longer holds it \('b' does\)"):
        frozen.complete(old)
    assert frozen.acquire("a", seconds=60) is None
    frozen.release(old)
    assert other.current() == new


def test_a_clock_that_was_set_back_leaves_no_dead_holder(front: Front, clock: Any) -> None:
    """Without a session that tells of its death nothing would be judged for an hour; a living
    holder has renewed the lease by then."""
    first, second = front(), front()
    taken(first, "a")
    clock.advance(-3600)
    taken(first, "a")
    assert second.acquire("b", seconds=60) is None
    clock.advance(-3600)
    first.close()
    assert taken(second, "b").token == 2


def test_a_late_renewal_keeps_the_token_where_nobody_took_over(front: Front, clock: Any) -> None:
    """A slow turn of the only evaluator is no reason to start all over."""
    lease = front()
    held = taken(lease, "a", seconds=60)
    clock.advance(61)
    with pytest.raises(LeaseLost, match=r"ran out at 12:01:00; renew it"):
        lease.complete(held)
    renewed = taken(lease, "a")
    assert renewed.token == held.token
    lease.complete(renewed)


def test_a_released_lease_is_free_at_once(front: Front, clock: Any) -> None:
    """A rolling update does not wait for the lease of the pod that was stopped."""
    first, second = front(), front()
    held = taken(first, "a")
    first.release(held)
    assert second.current() is None
    with pytest.raises(LeaseLost):
        first.complete(held)
    other = taken(second, "b")
    assert other.token == held.token + 1


def test_a_process_of_the_same_name_is_somebody_else(front: Front, clock: Any) -> None:
    """Its predecessor may still be writing: two that renew by name would both be active."""
    old, new = front(), front()
    held = taken(old, "a", seconds=60)
    assert new.acquire("a", seconds=60) is None
    clock.advance(60)
    again = taken(new, "a")
    assert again.token == held.token + 1
    assert old.acquire("a", seconds=60) is None


def test_the_end_of_the_last_evaluation_outlives_its_evaluator(front: Front, clock: Any) -> None:
    """It tells for how long nobody has evaluated; a takeover is no evaluation."""
    first, second = front(), front()
    held = taken(first, "a")
    assert held.evaluated_at is None
    clock.advance(5)
    done = clock.now
    first.complete(held)
    first.release(held)
    clock.advance(5)
    other = taken(second, "b")
    assert other.evaluated_at == done


def test_a_dead_process_is_succeeded_at_once(postgresql: Database, front: Front) -> None:
    """Its row has not run out, but the server has freed its lock."""
    first, second = front(), front()
    held = taken(first, "a")
    end_session(postgresql)
    other = taken(second, "b")
    assert other.token == held.token + 1
    with pytest.raises(LeaseLost):
        first.complete(held)
    assert first.acquire("a", seconds=60) is None


def test_a_holder_that_lost_its_session_alone_gets_another(
    postgresql: Database, front: Front
) -> None:
    """The network drops idle connections; the lease need not change hands for it."""
    first, second = front(), front()
    held = taken(first, "a")
    end_session(postgresql)
    renewed = taken(first, "a")
    assert renewed.token == held.token
    assert second.acquire("b", seconds=60) is None
    assert advisory_locks(postgresql) == 1


def test_the_lock_of_a_frozen_process_does_not_speak_for_its_successor(
    postgresql: Database, front: Front, clock: Any
) -> None:
    """The successor took the row without the lock; whoever gets that lock later has no claim."""
    frozen, successor, third = front(), front(), front()
    taken(frozen, "a", seconds=60)
    clock.advance(60)
    held = taken(successor, "b", seconds=60)
    assert frozen.acquire("a", seconds=60) is None, "it wakes up, and lets its lock go"
    assert third.acquire("c", seconds=60) is None
    renewed = taken(successor, "b", seconds=60)
    assert renewed.token == held.token
    end_session(postgresql)
    assert taken(third, "c").token == held.token + 1, "now the successor has the lock"


def test_a_process_that_freezes_within_a_transaction_does_not_keep_the_row(
    postgresql: Database, front: Front, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends its session; otherwise all others would wait until it wakes up."""
    monkeypatch.setattr("monitor.storage.lease._IDLE_MS", 300)
    held = taken(front(), "a", seconds=60)
    clock.advance(60)
    with pytest.raises(DatabaseUnavailable, match="idle-in-transaction"):  # noqa: SIM117
        with postgresql.write() as frozen:
            require_lease(frozen, held, now=None)
            assert taken(front(), "b").token == held.token + 1


def test_who_does_not_hold_the_lease_holds_no_session(postgresql: Database, front: Front) -> None:
    """Connections of a server are few; waiting fronts keep none, and a release ends one."""
    first, second = front(), front()
    held = taken(first, "a")
    assert second.acquire("b", seconds=60) is None
    assert advisory_locks(postgresql) == 1
    first.release(held)
    assert advisory_locks(postgresql) == 0


def test_a_session_that_clients_share_proves_nothing(
    postgresql: Database, front: Front, clock: Any
) -> None:
    """A pooler may hand one session to two clients: both then have the lock."""
    shared = SqlEvaluatorLease(postgresql, clock=clock)
    held = taken(shared, "a", seconds=60)
    assert shared.acquire("b", seconds=60) is None
    assert taken(shared, "a", seconds=60).token == held.token
    shared.close()


def test_there_is_one_row(database: Database, front: Front) -> None:
    """A second one would be a second lease."""
    lease = front()
    held = taken(lease, "a")
    second = sa.insert(evaluator_lease).values(number=2, holder="b", token=1, until=held.until)
    with pytest.raises(sa.exc.IntegrityError), database.write() as connection:
        connection.execute(second)
