"""The real front, and what its queue can be fed with in place of a scorer's results."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from monitor.records import (
    Attribution,
    AttributionMethod,
    Calibration,
    Explanation,
    FactualScore,
    MethodResult,
    Normalizer,
    RecordState,
    ScoredRecord,
    Severity,
    Support,
)

_shared = runpy.run_path(str(Path(__file__).parents[1] / "acceptance" / "sidecar.py"))
make_sidecar, sidecar = _shared["make_sidecar"], _shared["sidecar"]

NORMALIZER = Normalizer(category=None, value=0.8, low=0.7, high=0.9, documents=40, distances=320)


@pytest.fixture
def calibration() -> Calibration:
    return Calibration(
        id="cal-1",
        fingerprint="fp",
        settings={},
        created_at=datetime.now(UTC),
        window="reference",
        since=None,
        until=None,
        provisional=False,
        normalizers=(NORMALIZER,),
    )


def _explained(method: str) -> MethodResult:
    return MethodResult(
        method=method,
        words=("d",),
        original=Attribution(values=np.array([1.0]), evaluations=1),
        perturbed=(),
        instability=0.3,
        absolute=0.2,
        one_minus_spearman=0.1,
        one_minus_cosine=0.1,
        noise_floor=0.05,
        compared=1,
        evaluations=3,
        reason=None,
    )


@pytest.fixture
def scored() -> Callable[..., ScoredRecord]:
    """A result with a value of every kind; fields can be replaced."""

    def make(record_id: str, **fields: object) -> ScoredRecord:
        values: dict[str, object] = {
            "state": RecordState.SCORED,
            "reason": None,
            "detail": "",
            "category": "general",
            "scored_at": datetime.now(UTC),
            "fingerprint": "fp",
            "severity": Severity(
                hss=0.25,
                low=0.1,
                high=0.4,
                reason=None,
                interval_reason=None,
                normalizer=NORMALIZER,
            ),
            "calibration_id": "cal-1",
            "baseline": "own",
            "raw_distance": 0.2,
            "null_distance": 0.05,
            "excess": 0.15,
            "support": Support(
                entity_support=0.5,
                entity_reason=None,
                number_support=1.0,
                number_reason=None,
                unsupported=(),
                entities=2,
                numbers=1,
            ),
            "checks": {
                "content_word_precision": FactualScore(value=0.75, reason=None),
                "summac": FactualScore(value=0.5, reason=None),
                "factcc": FactualScore(value=0.9, reason=None),
            },
            "explanation": Explanation(
                methods=tuple(_explained(method) for method in AttributionMethod),
                probability=1.0,
                value="likelihood",
                versions=(),
                spans=((0, 1),),
            ),
            "stage_seconds": {"perturb": 0.25},
            "core_seconds": 2.5,
        } | fields
        return ScoredRecord(record_id=record_id, **values)  # type: ignore[arg-type]  # as above

    return make
