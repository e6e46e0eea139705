"""Which of several sidecars exports what the database tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from monitor.errors import DatabaseUnavailable
from monitor.exporter import Snapshot
from monitor.gauges.refresh import Gauges
from monitor.labels import LabelPolicy
from monitor.records import Calibration, Normalizer, SamplingEpoch
from monitor.settings import Settings
from monitor.stores import Stores, now, open_stores
from monitor.telemetry import Telemetry

EPOCH = SamplingEpoch(
    number=1,
    starts_at=datetime(2026, 3, 1, tzinfo=UTC),
    ends_at=datetime(2026, 3, 2, tzinfo=UTC),
    rates={},
    default_rate=1.0,
)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    settings = Settings(
        database={"url": f"sqlite:///{tmp_path / 'hss.db'}"},  # type: ignore[arg-type]
        storage={"hash_key_file": tmp_path / "key"},  # type: ignore[arg-type]
    )
    with open_stores(settings) as opened:
        yield opened


@pytest.fixture
def front(stores: Stores) -> Callable[..., Callable[..., float | None]]:
    """A front's gauges; calling it refreshes them and reads one."""

    def make(
        name: str, *, evaluates: bool = True, clock: Callable[[], datetime] = now
    ) -> Callable[..., float | None]:
        registry, snapshot = CollectorRegistry(), Snapshot()
        registry.register(snapshot)
        labels = LabelPolicy(services=[], models=[], categories=[])
        gauges = Gauges(
            snapshot,
            telemetry=Telemetry(registry, labels),
            stores=stores,
            settings=Settings(evaluation={"enabled": evaluates}),  # type: ignore[arg-type]
            front=name,
            epoch=lambda: EPOCH,
            clock=clock,
        )

        def read(metric: str, **labels: str) -> float | None:
            with suppress(DatabaseUnavailable):
                gauges.refresh()
            return registry.get_sample_value(metric, labels)

        return read

    return make


def test_only_the_front_whose_evaluator_holds_the_lease_exports(front, stores: Stores) -> None:
    """`sum()` over replicas would otherwise double every record."""
    stores.lease.acquire("one", seconds=60)
    one, two = front("one"), front("two")
    assert (one("hss_evaluator_active"), one("hss_queue_age_seconds")) == (1.0, 0.0)
    assert (two("hss_evaluator_active"), two("hss_queue_age_seconds")) == (0.0, None)


def test_everything_vanishes_with_the_lease(front, stores: Stores) -> None:
    """A former holder's last numbers would be scraped as if they were true."""
    lease = stores.lease.acquire("one", seconds=60)
    assert lease is not None
    one = front("one")
    assert one("hss_queue_age_seconds") == 0.0
    stores.lease.release(lease)
    assert (one("hss_evaluator_active"), one("hss_queue_age_seconds")) == (0.0, None)


@pytest.mark.parametrize("evaluates", [True, False])
def test_everything_vanishes_when_the_database_is_away_for_longer(
    front, stores: Stores, tmp_path: Path, evaluates: bool
) -> None:
    """Another replica may hold the lease by then: each would export the same series."""
    ahead = timedelta(0)
    if evaluates:
        stores.lease.acquire("one", seconds=60)
    one = front("one", evaluates=evaluates, clock=lambda: now() + ahead)
    active = float(evaluates)
    assert (one("hss_evaluator_active"), one("hss_queue_age_seconds")) == (active, 0.0)
    (tmp_path / "hss.db").unlink()
    ahead = timedelta(seconds=30)
    assert (one("hss_evaluator_active"), one("hss_queue_age_seconds")) == (active, 0.0)
    ahead = timedelta(seconds=90)
    assert (one("hss_evaluator_active"), one("hss_queue_age_seconds")) == (0.0, None)


def test_a_sidecar_that_never_evaluates_exports_while_nobody_does(front, stores: Stores) -> None:
    """Alone it would be blind for its own queue; it does not claim to evaluate, though."""
    alone = front("one", evaluates=False)
    assert (alone("hss_evaluator_active"), alone("hss_queue_age_seconds")) == (0.0, 0.0)
    stores.lease.acquire("two", seconds=60)
    assert alone("hss_queue_age_seconds") is None


def test_verdicts_are_exported_after_the_first_complete_turn(front, stores: Stores) -> None:
    """No open breach is not the same as nobody has looked."""
    lease = stores.lease.acquire("one", seconds=60)
    assert lease is not None
    one = front("one")
    assert one("hss_breaches_open") is None
    stores.lease.complete(lease)
    assert one("hss_breaches_open") == 0.0
    assert one("hss_evaluation_timestamp_seconds") == pytest.approx(now().timestamp(), abs=5)


@pytest.mark.parametrize("order", [("old", "new"), ("new", "old")])
def test_the_normalizer_is_that_of_the_newest_calibration(
    front, stores: Stores, order: tuple[str, str]
) -> None:
    """Settings that were left keep an active calibration, which normalizes nothing any more."""
    at = {"old": now() - timedelta(days=30), "new": now()}
    values = {"old": 0.4, "new": 0.6}
    for name in order:
        calibration = Calibration(
            id=name,
            fingerprint=f"settings {name}",
            settings={},
            created_at=at[name],
            window="reference",
            since=None,
            until=None,
            provisional=False,
            normalizers=(
                Normalizer(
                    category=None,
                    value=values[name],
                    low=None,
                    high=None,
                    documents=40,
                    distances=320,
                ),
            ),
        )
        stores.calibrations.add(calibration, activate=True)
    stores.lease.acquire("one", seconds=60)
    assert front("one")("hss_normalizer", category="", provisional="false") == 0.6
