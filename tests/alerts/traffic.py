"""Scored records for a running sidecar, put into its stores as a scorer would."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from monitor.calibrating import Window
from monitor.drift_references import fit_references
from monitor.front import front_name
from monitor.records import (
    Attribution,
    AttributionMethod,
    Calibration,
    Explanation,
    FactualScore,
    IncomingRecord,
    MethodResult,
    Normalizer,
    Perturbation,
    PerturbationScore,
    Reason,
    RecordState,
    SampledRecord,
    SamplingDecision,
    ScoredRecord,
    Severity,
    Stratum,
    Strength,
    Summary,
    Support,
    Transport,
)
from monitor.stores import Stores

FINGERPRINT = "fp"
NORMALIZER = Normalizer(category=None, value=0.8, low=0.7, high=0.9, documents=40, distances=320)


class Traffic:
    """One service's records, in the order in which they come."""

    GOOD: Mapping[str, float] = {"distance": 0.2, "support": 0.92}
    BAD: Mapping[str, float] = {"distance": 0.78, "support": 0.15}
    """A release that hallucinates: unstable, and not supported by the document."""

    def __init__(self, sidecar: Any) -> None:
        self._sidecar = sidecar
        self._numbers = itertools.count()

    def score(
        self,
        count: int,
        release: Mapping[str, float],
        *,
        since: timedelta,
        until: timedelta = timedelta(0),
        state: RecordState = RecordState.SCORED,
    ) -> None:
        """`count` records, evenly received from `since` ago until `until` ago."""
        began, step = datetime.now(UTC) - since, (since - until) / count
        with self._sidecar.stores() as stores:
            for place in range(count):
                self._one(stores, release, began + place * step, state)

    def _one(
        self,
        stores: Stores,
        release: Mapping[str, float],
        received_at: datetime,
        state: RecordState,
    ) -> None:
        number = next(self._numbers)
        record = IncomingRecord(
            id=f"record-{number:05d}",
            document="A document.",
            summary="A summary.",
            service="news",
            model="m1",
            received_at=received_at,
            category="general",
        )
        decision = SamplingDecision(
            sampled=True,
            stratum=Stratum(service="news", model="m1", category="general"),
            probability=0.5,
            epoch=1,
        )
        front = front_name(self._sidecar.settings)
        stores.queue.accept([SampledRecord(record=record, decision=decision, front=front)])
        for item in stores.queue.lease("traffic", count=2, seconds=60):
            if item.lease.record_id == record.id:
                stores.queue.finish(item.lease, _result(record.id, release, state, number))
            else:
                # A record that a test leaves waiting.
                stores.queue.put_back(item.lease, delay=0, counts=False)

    def calibrate(self) -> None:
        """Freeze everything that was scored so far as the reference."""
        made_at = datetime.now(UTC)
        calibration = Calibration(
            id="reference",
            fingerprint=FINGERPRINT,
            settings={},
            created_at=made_at,
            window="reference",
            since=None,
            until=made_at,
            provisional=False,
            normalizers=(NORMALIZER,),
        )
        window = Window(name="reference", until=made_at)
        with self._sidecar.stores() as stores:
            stores.calibrations.add(calibration, activate=False)
            references = fit_references(stores, calibration, window, self._sidecar.settings.drift)
            stores.drift.save_references(references)
            stores.calibrations.activate(calibration.id)


def _result(
    record_id: str, release: Mapping[str, float], state: RecordState, number: int
) -> ScoredRecord:
    """Values of the release, give or take a little that repeats every seven records."""
    if state is not RecordState.SCORED:
        return ScoredRecord(
            record_id=record_id,
            state=state,
            reason=Reason.TOO_LONG if state is RecordState.SKIPPED else Reason.SUMMARIZER_ERROR,
            detail="",
            category="general",
            scored_at=datetime.now(UTC),
            fingerprint=FINGERPRINT,
        )
    jitter = (number % 7 - 3) / 100
    distance = release["distance"] + jitter
    hss = min(1.0, distance / NORMALIZER.value)
    return ScoredRecord(
        record_id=record_id,
        state=state,
        reason=None,
        detail="",
        category="general",
        scored_at=datetime.now(UTC),
        fingerprint=FINGERPRINT,
        severity=Severity(
            hss=hss,
            low=hss - 0.1,
            high=min(1.0, hss + 0.1),
            reason=None,
            interval_reason=None,
            normalizer=NORMALIZER,
        ),
        calibration_id="reference",
        baseline="own",
        raw_distance=distance,
        null_distance=0.05,
        excess=distance - 0.05,
        support=Support(
            entity_support=release["support"] + jitter,
            entity_reason=None,
            number_support=1.0,
            number_reason=None,
            unsupported=(),
            entities=3,
            numbers=1,
        ),
        checks={
            "summac": FactualScore(value=0.5, reason=None),
            "factcc": FactualScore(value=0.9, reason=None),
        },
        explanation=Explanation(
            methods=(_shap(),), probability=1.0, value="likelihood", versions=(), spans=((0, 1),)
        ),
        perturbations=(_reworded(distance), _reworded(distance)),
        stage_seconds={"perturb": 0.25, "summarize": 1.5},
        core_seconds=2.5,
    )


def _reworded(distance: float) -> PerturbationScore:
    return PerturbationScore(
        perturbation=Perturbation(
            strength=Strength.MODERATE,
            share=0.125,
            reached=True,
            substitutions=(),
            document="A text.",
            min_cosine=0.9,
        ),
        summary=Summary(text="An abstract."),
        transport=Transport(
            distance=distance,
            plan=np.array([[1.0]]),
            cost=np.array([[distance]]),
            source=("A summary.",),
            target=("An abstract.",),
        ),
    )


def _shap() -> MethodResult:
    return MethodResult(
        method=AttributionMethod.SHAP.value,
        words=("d",),
        original=Attribution(values=np.array([1.0]), evaluations=1),
        perturbed=(),
        instability=0.05,
        absolute=0.04,
        one_minus_spearman=0.1,
        one_minus_cosine=0.1,
        noise_floor=0.02,
        compared=1,
        evaluations=3,
        reason=None,
    )
