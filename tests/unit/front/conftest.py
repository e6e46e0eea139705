"""What the tests of the front's counters share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from monitor.records import FinishedRecord, RecordState


@pytest.fixture
def finished() -> Callable[..., FinishedRecord]:
    """A scored record; a test names what it is about, all else is unknown."""

    def record(**known: object) -> FinishedRecord:
        values: dict[str, object] = dict.fromkeys(FinishedRecord.__slots__)
        values |= {
            "id": "r1",
            "service": "news",
            "model": "m1",
            "category": "law",
            "state": RecordState.SCORED,
            "probability": 1.0,
            "hss": 0.95,
            "stage_seconds": {},
        }
        return FinishedRecord(**{**values, **known})  # type: ignore[arg-type]

    return record
