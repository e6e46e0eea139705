"""A fresh result on the terminal."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from monitor.cli.scored import print_scored
from monitor.records import (
    IncomingRecord,
    Perturbation,
    PerturbationScore,
    Reason,
    RecordState,
    ScoredRecord,
    Severity,
    Strength,
    Substitution,
    Summary,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = IncomingRecord(
    id="r", document="d", summary="s", service="command line", model="m", received_at=NOW
)
KNOWN = Severity(hss=0.5, low=0.25, high=0.75, reason=None, interval_reason=None, normalizer=None)
RESULT = ScoredRecord(
    record_id="r",
    state=RecordState.SCORED,
    reason=None,
    detail="",
    category="",
    scored_at=NOW,
    fingerprint="f",
    severity=KNOWN,
)


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (RESULT, "HSS 0.500  95 % [0.250, 0.750]  r · no category"),
        (
            replace(RESULT, severity=replace(KNOWN, low=None, high=None), category="news"),
            "HSS 0.500  r · news",
        ),
        (
            replace(
                RESULT, severity=replace(KNOWN, hss=None), reason=Reason.UNCALIBRATED, category="x"
            ),
            "HSS unknown: uncalibrated  r · x",
        ),
        (
            replace(RESULT, severity=None, reason=Reason.TOO_LONG, state=RecordState.SKIPPED),
            "HSS unknown: too_long  r · no category",
        ),
    ],
)
def test_the_headline_says_the_severity_or_why_there_is_none(
    capsys: pytest.CaptureFixture[str], result: ScoredRecord, told: str
) -> None:
    """Unknown is never 0."""
    print_scored(result, RECORD)
    assert capsys.readouterr().out.splitlines()[0] == told


def test_a_rewording_outside_its_band_and_a_cut_list_say_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Seven words were replaced, six are named; fewer than the strength stands for."""
    swap = Substitution(index=0, original="rain", replacement="snow", similarity=0.75, start=0)
    made = Perturbation(
        strength=Strength.HIGH,
        share=0.3,
        reached=False,
        substitutions=(swap,) * 7,
        document="d",
        min_cosine=0.75,
    )
    score = PerturbationScore(
        perturbation=made, summary=Summary(text="s", seconds=1.0), transport=None
    )
    print_scored(replace(RESULT, perturbations=(score,)), RECORD)
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("high, band not reached")
    assert line.rstrip().endswith("rain→snow, " * 6 + "…")
