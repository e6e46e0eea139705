"""Sampling epochs and the arrivals they are computed from, shared by all replicas."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from monitor.records import SamplingEpoch, Stratum
from monitor.storage.engine import Database
from monitor.storage.shared_tables import arrivals, epochs, meta


class SqlEpochStore:
    """`ports.EpochStore` on either database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def latest(self) -> SamplingEpoch | None:
        """See `ports.EpochStore.latest`."""
        statement = sa.select(epochs).order_by(epochs.c.number.desc()).limit(1)
        with self._database.read() as connection:
            row = connection.execute(statement).one_or_none()
        if row is None:
            return None
        return SamplingEpoch(
            number=row.number,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            rates={
                Stratum(service=service, model=model, category=category): rate
                for service, model, category, rate in row.rates
            },
            default_rate=row.default_rate,
        )

    def open(self, epoch: SamplingEpoch) -> bool:
        """See `ports.EpochStore.open`."""
        insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        row = {
            "number": epoch.number,
            "starts_at": epoch.starts_at,
            "ends_at": epoch.ends_at,
            "rates": [
                [stratum.service, stratum.model, stratum.category, rate]
                for stratum, rate in sorted(epoch.rates.items())
            ],
            "default_rate": epoch.default_rate,
        }
        statement = insert(epochs).values(row).on_conflict_do_nothing().returning(epochs.c.number)
        with self._database.write() as connection:
            return connection.execute(statement).one_or_none() is not None

    def add_arrivals(self, epoch: int, front: str, counts: Mapping[Stratum, int]) -> None:
        """See `ports.EpochStore.add_arrivals`."""
        if not counts:
            return
        insert = (
            sqlite.insert(arrivals) if self._database.is_sqlite else postgresql.insert(arrivals)
        )
        statement = insert.on_conflict_do_update(
            index_elements=list(arrivals.primary_key.columns),
            set_={"received": arrivals.c.received + insert.excluded.received},
        )
        rows = [
            {
                "epoch": epoch,
                "front": front,
                "service": stratum.service,
                "model": stratum.model,
                "category": stratum.category,
                "received": count,
            }
            for stratum, count in sorted(counts.items())
        ]
        with self._database.write() as connection:
            connection.execute(statement, rows)

    def arrivals(self, epoch: int) -> Mapping[Stratum, int]:
        """See `ports.EpochStore.arrivals`."""
        series = (arrivals.c.service, arrivals.c.model, arrivals.c.category)
        statement = (
            sa.select(*series, sa.func.sum(arrivals.c.received))
            .where(arrivals.c.epoch == epoch)
            .group_by(*series)
        )
        with self._database.read() as connection:
            return {
                Stratum(service=service, model=model, category=category): int(received)
                for service, model, category, received in connection.execute(statement)
            }


class SharedFacts:
    """Small values on which all replicas must agree, such as the sampling salt."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def settle(self, key: str, value: str) -> str:
        """The value of a key; `value` becomes it where there is none yet.

        Whoever comes first decides, for good; all callers get the same answer.
        """
        insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        with self._database.write() as connection:
            connection.execute(insert(meta).values(key=key, value=value).on_conflict_do_nothing())
            return connection.execute(sa.select(meta.c.value).where(meta.c.key == key)).scalar_one()

    def get(self, key: str) -> str | None:
        """The value that was settled for a key; None where there is none."""
        with self._database.read() as connection:
            return connection.execute(
                sa.select(meta.c.value).where(meta.c.key == key)
            ).scalar_one_or_none()
