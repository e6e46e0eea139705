"""Stores on either database, with scored records whose distances a test chooses."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from monitor.records import Calibration, Normalizer
from monitor.settings import Settings
from monitor.stores import Stores, now, open_stores

# Test folders are no packages, so the records of storage's tests are run, not imported.
_shared = runpy.run_path(str(Path(__file__).parents[1] / "storage" / "conftest.py"))
make_sampled, make_result, START = (
    _shared["make_sampled"],
    _shared["make_result"],
    _shared["START"],
)


@pytest.fixture
def stores(database_url: str, tmp_path: Path) -> Iterator[Stores]:
    settings = Settings(
        database={"url": database_url},  # type: ignore[arg-type]
        storage={"hash_key_file": tmp_path / "key"},  # type: ignore[arg-type]
    )
    with open_stores(settings) as opened:
        yield opened


@pytest.fixture
def score(stores: Stores, make_sampled: Any, make_result: Any) -> Callable[..., None]:
    """Scored records an hour apart, one for each distance, the first `first` hours after START."""

    def run(
        distances: Sequence[float],
        *,
        first: int = 0,
        service: str = "news",
        release: str | None = None,
        **fields: Any,
    ):
        for hour, distance in enumerate(distances, start=first):
            name = f"{service}-{hour:03d}"
            stores.queue.accept(
                [make_sampled(name, seconds=3600 * hour, service=service, release=release)]
            )
            (item,) = stores.queue.lease("test", count=1, seconds=60)
            result = make_result(name, **{"calibration_id": None, **fields})
            measured = result.perturbations[0]
            assert measured.transport is not None
            moved = replace(measured, transport=replace(measured.transport, distance=distance))
            stores.queue.finish(
                item.lease,
                replace(
                    result,
                    raw_distance=distance,
                    perturbations=(moved, *result.perturbations[1:]),
                ),
            )

    return run


@pytest.fixture
def calibration() -> Callable[..., Calibration]:
    """A calibration of the first `hours`, with one normalizer."""

    def make(
        name: str, normalizer: float, *, hours: int, release: str | None = None
    ) -> Calibration:
        return Calibration(
            id=name,
            fingerprint="fp1",
            settings={},
            created_at=now(),
            window="reference",
            since=START,
            until=START + timedelta(hours=hours),
            provisional=False,
            release=release,
            normalizers=(
                Normalizer(
                    category=None, value=normalizer, low=None, high=None, documents=40, distances=40
                ),
            ),
        )

    return make
