"""The evaluator's lease: of all fronts on one database, one evaluates at a time.

The lease is one row with a holder, a token and an end. Every write of an evaluator checks that
row in its own transaction (`require_lease`), so whatever a former holder believes, it cannot
write any more once another one has taken over: that alone keeps the findings right.

On PostgreSQL the holder also keeps a session open that holds an advisory lock. The server frees
the lock when the session ends, so a dead process is succeeded at once, not only when its row has
run out. The lock alone would not do: a frozen process or a machine without power keeps its
session for hours. Hence

    the lease may be taken   when the row has run out,
                             or when its holder's session had the lock and ours has it now,
                             or when it seems to last for ten times as long as a lease does: its
                             holder would have renewed it since the clock was set back.

Behind a pooler that shares sessions between clients both sides may be given the *same* session,
which then proves nothing; the process id of the session, kept in the row, tells.

Times come from the clock that is handed in; see `queue` about clocks that disagree.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy import Connection, Row
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from monitor.errors import LeaseLost
from monitor.findings import EvaluatorLease
from monitor.ports import Clock
from monitor.storage.engine import Database
from monitor.storage.finding_tables import evaluator_lease

_log = structlog.get_logger(__name__)

# Any fixed number will do; it must only be the same in all processes.
_EVALUATOR_LOCK: Final = 0x68_73_73_02
_IDLE_MS: Final = 10_000
_LONGEST_LEASES: Final = 10
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


class SqlEvaluatorLease:
    """One process's access to the lease; may be used from many threads.

    Every method raises `DatabaseUnavailable` where the database does not answer.
    """

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._session = _LockSession(database)
        self._tokens: dict[str, int] = {}
        """By holder; one process has one name, but nothing here depends on that."""

    def acquire(self, holder: str, *, seconds: float) -> EvaluatorLease | None:
        """Take the lease or renew it until now + `seconds`; None while somebody else holds it.

        A renewal keeps the token, even one that comes late, as long as nobody took over. A
        process that was started again under its old name is somebody else.
        """
        with self._lock:
            # An error leaves token and session as they are: the next try may renew with them.
            lease = self._take(holder, seconds, self._session.hold())
            if lease is None:
                self._forget(holder)
            else:
                self._tokens[holder] = lease.token
            return lease

    def complete(self, lease: EvaluatorLease) -> None:
        """Note that an evaluation is complete now; raises `LeaseLost`."""
        now = self._clock()
        with self._database.write() as connection:
            require_lease(connection, lease, now=now)
            connection.execute(sa.update(evaluator_lease).values(evaluated_at=now))

    def release(self, lease: EvaluatorLease) -> None:
        """Let somebody else take over at once; does nothing where the lease was lost."""
        with self._lock:
            try:
                with self._database.write() as connection:
                    connection.execute(
                        sa.update(evaluator_lease)
                        .where(
                            evaluator_lease.c.holder == lease.holder,
                            evaluator_lease.c.token == lease.token,
                        )
                        .values(until=self._clock(), session=None)
                    )
            finally:
                self._forget(lease.holder)

    def close(self) -> None:
        """End the session that holds the lock, if any, without giving the lease back."""
        with self._lock:
            self._session.close()

    def current(self) -> EvaluatorLease | None:
        """The lease that has not run out; None where nobody evaluates."""
        with self._database.read() as connection:
            row = connection.execute(sa.select(evaluator_lease)).one_or_none()
        return None if row is None or row.until <= self._clock() else _lease(row)

    def _forget(self, holder: str) -> None:
        self._tokens.pop(holder, None)
        if not self._tokens:
            self._session.close()

    def _take(self, holder: str, seconds: float, session: int | None) -> EvaluatorLease | None:
        now = self._clock()
        with self._database.write() as connection:
            row = _locked(connection)
            ours = row.holder == holder and row.token == self._tokens.get(holder)
            orphaned = session is not None and row.session not in {None, session}
            # More than any lease gives: the clock was set back since, and its holder is silent.
            left_over = row.until > now + _LONGEST_LEASES * timedelta(seconds=seconds)
            if not (ours or orphaned or left_over or row.until <= now):
                return None
            taken = connection.execute(
                sa.update(evaluator_lease)
                .values(
                    holder=holder,
                    token=evaluator_lease.c.token + (0 if ours else 1),
                    until=now + timedelta(seconds=seconds),
                    session=session,
                )
                .returning(evaluator_lease)
            ).one()
        if not ours:
            _log.info("evaluator_lease_taken", holder=holder, before=row.holder, token=taken.token)
        return _lease(taken)


def require_lease(connection: Connection, lease: EvaluatorLease, *, now: datetime | None) -> None:
    """Inside a transaction: the lease holds, and goes on holding until the transaction ends.

    The row stays locked until then. Without `now` a lease that ran out but was not taken over
    holds. Raises `LeaseLost`; then the transaction must be rolled back.
    """
    _hurry(connection)
    row = connection.execute(sa.select(evaluator_lease).with_for_update()).one_or_none()
    if row is None or (row.holder, row.token) != (lease.holder, lease.token):
        holder = "nobody" if row is None else repr(row.holder)
        raise LeaseLost(
            f"evaluator lease: {lease.holder!r} no longer holds it ({holder} does); "
            "drop the findings of this evaluation"
        )
    if now is not None and row.until <= now:
        raise LeaseLost(
            f"evaluator lease: the one of {lease.holder!r} ran out at {row.until:%H:%M:%S}; "
            "renew it during a long evaluation, or set evaluation.lease_seconds higher"
        )


class _LockSession:
    """PostgreSQL: a connection outside the pool that holds the advisory lock."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stack = ExitStack()
        self._connection: Connection | None = None

    def hold(self) -> int | None:
        """The process id of our session, where it has the lock; None where another has it."""
        if self._database.is_sqlite:
            return None
        if self._connection is not None:
            try:
                return self._pid(self._connection)
            except DBAPIError:
                # The server or the network ended the session, and the lock with it.
                self._leave()
        with ExitStack() as stack:
            connection = stack.enter_context(self._database.autocommit())
            # Its own from here on: the pool does not wait for it, and closing really closes it.
            connection.detach()
            locked = sa.select(sa.func.pg_try_advisory_lock(_EVALUATOR_LOCK))
            if not connection.execute(locked).scalar_one():
                return None
            pid = self._pid(connection)
            self._connection, self._stack = connection, stack.pop_all()
        return pid

    def close(self) -> None:
        """Free the lock, and end the session."""
        if self._connection is not None:
            # The end alone would free it, too, but a moment after this returns.
            with suppress(DBAPIError):
                self._connection.execute(sa.select(sa.func.pg_advisory_unlock(_EVALUATOR_LOCK)))
        self._leave()

    def _leave(self) -> None:
        self._connection = None
        self._stack.close()

    def _pid(self, connection: Connection) -> int:
        return int(connection.execute(sa.select(sa.func.pg_backend_pid())).scalar_one())


def _hurry(connection: Connection) -> None:
    """A process that freezes in the middle of this transaction does not keep the row for long."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text(f"SET LOCAL idle_in_transaction_session_timeout = {_IDLE_MS}"))


def _locked(connection: Connection) -> Row[*tuple[Any, ...]]:
    """The one row, made where there is none yet, locked until the transaction ends."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    _hurry(connection)
    first = {"number": 1, "holder": "", "token": 0, "until": _NEVER}
    connection.execute(insert(evaluator_lease).values(first).on_conflict_do_nothing())
    return connection.execute(sa.select(evaluator_lease).with_for_update()).one()


def _lease(row: Row[*tuple[Any, ...]]) -> EvaluatorLease:
    return EvaluatorLease(
        holder=row.holder, token=row.token, until=row.until, evaluated_at=row.evaluated_at
    )
