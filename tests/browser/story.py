"""A night on call: two services, a bad release at 03:02, a breach, drift, and hostile texts.

Everything goes through the real stores, as scorers, evaluator and people would write it; only
the clock is moved.
"""

from __future__ import annotations

import random
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from monitor.findings import Series
from monitor.records import (
    Calibration,
    CapturedRequest,
    IncomingRecord,
    Message,
    Reason,
    RecordState,
    SampledRecord,
    SamplingDecision,
    ScoredRecord,
    Stratum,
)
from monitor.storage.calibrations import SqlCalibrationStore
from monitor.storage.content import AesGcmCipher, ContentCodec, ContentMode, TextHash
from monitor.storage.engine import Database
from monitor.storage.queue import SqlRecordQueue

_results = runpy.run_path(str(Path(__file__).with_name("results.py")))
_findings = runpy.run_path(str(Path(__file__).with_name("night_findings.py")))
scored, judge = _results["scored"], _findings["judge"]
NORMALIZER, DOCUMENT, HOSTILE = (_results[name] for name in ("NORMALIZER", "DOCUMENT", "HOSTILE"))
GOOD_SUMMARY, BAD_SUMMARY = _results["GOOD_SUMMARY"], _results["BAD_SUMMARY"]
NEWS, SPORT, CASES = (_findings[name] for name in ("NEWS", "SPORT", "CASES"))
GOOD, BAD = _findings["GOOD"], _findings["BAD"]


class MovedClock:
    """A clock that is set."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, kw_only=True)
class Story:
    """What a test wants to find again."""

    now: datetime
    breach_id: str
    resolved_id: str
    worst: str
    """Id of the record that contributed most."""
    hostile: str
    waiting: str
    skipped: str


def tell(
    database: Database,
    *,
    now: datetime | None = None,
    mode: ContentMode = ContentMode.FULL,
    records: int = 240,
    seed: int = 7,
) -> Story:
    """Fill the stores; the story ends at `now`."""
    now = now or datetime.now(UTC)
    clock, rng = MovedClock(now), random.Random(seed)
    queue = SqlRecordQueue(
        database,
        clock=clock,
        codec=ContentCodec(mode, AesGcmCipher(AesGcmCipher.new_key())),
        text_hash=TextHash(b"a key for tests only"),
    )
    SqlCalibrationStore(database).add(_calibration(now), activate=True)
    span = timedelta(hours=5, minutes=50)
    # The last few, however few there are in all.
    bad_since = now - max(timedelta(minutes=26), 4.5 * span / records)
    finish = _finisher(queue, clock, rng)
    worst = ""
    for index in range(records):
        at = now - span + span * index / records
        series = (NEWS, NEWS, SPORT, CASES)[index % 4]
        bad = series.service == "newsroom" and at >= bad_since
        name = f"{series.category}-{index:04d}"
        release = (BAD if bad else GOOD) if series.service == "newsroom" else "14.2"
        finish(name, series, at, release=release, bad=bad)
        if bad and series is NEWS:
            worst = name
    hostile = "odd/one ?&#%"
    finish(hostile, NEWS, now - timedelta(minutes=3), release=BAD, bad=True, document=HOSTILE * 14)
    clock.now = now - timedelta(minutes=2)
    finish("too-long", CASES, clock.now, release="14.2", skipped=Reason.TOO_LONG)
    queue.accept([_sampled("waiting-1", SPORT, now - timedelta(seconds=20), BAD, DOCUMENT)])
    clock.now = now
    ids = judge(database, clock, now, bad_since, worst)
    return Story(
        now=now,
        breach_id=ids[0],
        resolved_id=ids[1],
        worst=worst,
        hostile=hostile,
        waiting="waiting-1",
        skipped="too-long",
    )


def _calibration(now: datetime) -> Calibration:
    return Calibration(
        id="first-week",
        fingerprint="fp",
        settings={},
        created_at=now - timedelta(days=2),
        window="first-week",
        since=now - timedelta(hours=6),
        until=now - timedelta(hours=2),
        provisional=False,
        normalizers=(NORMALIZER,),
    )


def _sampled(
    name: str, series: Series, at: datetime, release: str, document: str, *, bad: bool = False
) -> SampledRecord:
    stratum = Stratum(service=series.service, model=series.model, category=series.category)
    prompt = f"Summarise the following article.\n\n{document}"
    return SampledRecord(
        record=IncomingRecord(
            id=name,
            document=document,
            summary=BAD_SUMMARY if bad else GOOD_SUMMARY,
            service=series.service,
            model=series.model,
            category=series.category,
            release=release,
            received_at=at,
            started_at=at - timedelta(seconds=2),
            trace_id=f"{abs(hash(name)):032x}"[-32:],
            span_id=f"{abs(hash(name)):016x}"[-16:],
            request=CapturedRequest(
                messages=(
                    Message(role="system", content="You are a careful editor."),
                    Message(role="user", content=prompt),
                ),
                model=series.model,
                parameters={"temperature": 0.2, "max_tokens": 160, "stop": ["\n\n"]},
            ),
        ),
        decision=SamplingDecision(sampled=True, stratum=stratum, probability=0.5, epoch=3),
        front="night:8318",
    )


def _finisher(queue: SqlRecordQueue, clock: MovedClock, rng: random.Random) -> Callable[..., None]:
    def finish(
        name: str,
        series: Series,
        at: datetime,
        *,
        release: str,
        bad: bool = False,
        document: str = DOCUMENT,
        skipped: Reason | None = None,
    ) -> None:
        clock.now = at
        queue.accept([_sampled(name, series, at, release, document, bad=bad)])
        [leased] = queue.lease("w", count=1, seconds=60)
        clock.now = at + timedelta(seconds=8)
        result = (
            ScoredRecord(
                record_id=name,
                state=RecordState.SKIPPED,
                reason=skipped,
                detail="12,345 words, scoring.max_words is 2,000",
                category=series.category,
                scored_at=clock.now,
                fingerprint="fp",
            )
            if skipped
            else scored(name, series.category, document, bad=bad, rng=rng, at=clock.now)
        )
        queue.finish(leased.lease, result)

    return finish
