"""A night on call: two services, a bad release at 03:02, a breach, drift, and hostile texts.

Everything goes through the real stores, as scorers, evaluator and people would write it; only
the clock is moved.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from monitor.findings import (
    BreachContributor,
    BreachDetail,
    BreachRow,
    DriftChange,
    DriftFinding,
    DriftTest,
    Series,
    StoredReference,
    ThresholdState,
)
from monitor.records import (
    Attribution,
    Calibration,
    CapturedRequest,
    Explanation,
    FactualScore,
    Granularity,
    IncomingRecord,
    Message,
    MethodResult,
    Normalizer,
    NullRun,
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
    Substitution,
    Summary,
    Support,
    Transport,
    UnsupportedFact,
)
from monitor.storage.breach_store import SqlBreachStore, breach_id
from monitor.storage.calibrations import SqlCalibrationStore
from monitor.storage.comparison import record_rows
from monitor.storage.content import AesGcmCipher, ContentCodec, ContentMode, TextHash
from monitor.storage.drift_store import SqlDriftStore
from monitor.storage.engine import Database
from monitor.storage.lease import SqlEvaluatorLease
from monitor.storage.queries import RecordFilter, list_records
from monitor.storage.queue import SqlRecordQueue

NEWS = Series(service="newsroom", model="gemma-270m", category="politics")
SPORT = Series(service="newsroom", model="gemma-270m", category="sport")
CASES = Series(service="case-files", model="bart-large-cnn", category="law")
BAD = "2026.11.30-rc2"
GOOD = "2026.11.28"
NORMALIZER = Normalizer(category=None, value=0.8, low=0.7, high=0.9, documents=40, distances=320)

SENTENCES = (
    "The harbour council of Wexford approved a budget of 4.2 million pounds on Monday night.",
    "Councillor Orla Byrne said that the new quay would bring trade back to the old town.",
    "Fishermen had feared that the works would close the channel for the whole summer.",
    "An independent engineer found no danger for the sea wall, which dates from 1834.",
    "The vote was 14 to 9, with two members absent, after a debate of almost five hours.",
    "Work begins in March and is expected to take eighteen months.",
)
DOCUMENT = " ".join(SENTENCES)
GOOD_SUMMARY = (
    "Wexford's harbour council approved a budget of 4.2 million pounds for a new quay. "
    "Councillor Orla Byrne expects trade to return to the old town."
)
BAD_SUMMARY = (
    "Dublin's city council rejected a budget of 42 million pounds for a new airport. "
    "Mayor Brian Kelly warned that the sea wall would collapse by 2027."
)
HOSTILE = (
    "<script>document.title='owned'</script> \"quoted\" & 'single' <b>not bold</b> "
    "<img src=x onerror=\"document.title='owned'\"> "
    + "w" * 3000
    + " \u202eعقد المجلس جلسة طويلة يوم الاثنين\u202c 🎉👩‍👩‍👧‍👦 \x1b[31mred\x1b[0m {{ 7 * 7 }} "
)
SWAPS = (
    ("budget", "plan", 0.71),
    ("trade", "commerce", 0.83),
    ("works", "construction", 0.68),
    ("danger", "risk", 0.79),
    ("debate", "discussion", 0.81),
    ("summer", "season", 0.66),
)


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
    ids = _judge(database, clock, now, bad_since, worst)
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


def scored(
    name: str, category: str, document: str, *, bad: bool, rng: random.Random, at: datetime
) -> ScoredRecord:
    """A complete result: eight versions, two null runs, SHAP and LIME."""
    summary = BAD_SUMMARY if bad else GOOD_SUMMARY
    spans = _spans(document)
    versions = [_version(number, document, summary, spans, bad=bad, rng=rng) for number in range(8)]
    distances = [v.transport.distance for v in versions if v.transport is not None]
    raw = float(np.mean(distances))
    hss = float(np.mean([min(d / NORMALIZER.value, 1.0) for d in distances]))
    null = 0.05 + 0.02 * rng.random()
    unsupported = _unsupported(summary) if bad else ()
    return ScoredRecord(
        record_id=name,
        state=RecordState.SCORED,
        reason=None,
        detail="",
        category=category,
        scored_at=at,
        fingerprint="fp",
        severity=Severity(
            hss=hss,
            low=max(0.0, hss - 0.11),
            high=min(1.0, hss + 0.11),
            reason=None,
            interval_reason=None,
            normalizer=NORMALIZER,
        ),
        calibration_id="first-week",
        baseline="observed",
        baseline_summary=summary,
        raw_distance=raw,
        null_distance=null,
        excess=raw - null,
        support=Support(
            entity_support=0.25 if bad else 1.0,
            entity_reason=None,
            number_support=0.0 if bad else 1.0,
            number_reason=None,
            unsupported=unsupported,
            entities=4,
            numbers=2,
        ),
        checks={
            "content_word_precision": FactualScore(value=0.4 if bad else 0.95, reason=None),
            "summac": FactualScore(value=-0.3 if bad else 0.6, reason=None),
            "factcc": FactualScore(
                value=None, reason=Reason.UNAVAILABLE, detail="no model is configured"
            ),
        },
        explanation=_explained(document, spans, bad=bad, rng=rng),
        perturbations=tuple(versions),
        null_runs=(
            NullRun(summary=Summary(text=summary, seconds=0.9), distance=null, source="run"),
            NullRun(
                summary=Summary(text=summary.replace("budget", "plan"), seconds=1.1),
                distance=null,
                source="choice",
            ),
        ),
        document_words=len(spans),
        summary_words=len(summary.split()),
        stage_seconds={"perturb": 1.4, "summarize": 7.2, "embed": 0.2, "explain": 3.1},
        core_seconds=2.1,
        prompt_tokens=1840,
        completion_tokens=420,
    )


def _spans(document: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for word in document.split():
        start = document.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    return spans


def _unsupported(summary: str) -> tuple[UnsupportedFact, ...]:
    facts = (("entity", "Dublin"), ("number", "42"), ("entity", "Brian Kelly"), ("number", "2027"))
    return tuple(
        UnsupportedFact(kind=kind, text=text, start=summary.index(text)) for kind, text in facts
    )


def _version(
    number: int,
    document: str,
    summary: str,
    spans: list[tuple[int, int]],
    *,
    bad: bool,
    rng: random.Random,
) -> PerturbationScore:
    strength = (Strength.LOW, Strength.MODERATE, Strength.HIGH)[number % 3]
    swaps, changed, shift = [], document, 0
    for index, (start, end) in enumerate(spans):
        word = document[start:end].strip(".,")
        for original, replacement, similarity in SWAPS:
            if word == original and rng.random() < 0.3 + 0.2 * (number % 3):
                swaps.append(
                    Substitution(
                        index=index,
                        original=original,
                        replacement=replacement,
                        similarity=similarity,
                        start=start,
                    )
                )
                at = start + shift
                changed = changed[:at] + replacement + changed[at + len(original) :]
                shift += len(replacement) - len(original)
    perturbation = Perturbation(
        strength=strength,
        share=0.05 + 0.08 * (number % 3),
        reached=number != 5,
        substitutions=tuple(swaps),
        document=changed,
        min_cosine=0.88,
    )
    if number == 7 and bad:
        return PerturbationScore(
            perturbation=perturbation,
            summary=Summary(
                text=None, reason=Reason.SUMMARIZER_TIMEOUT, detail="no answer in 30 s"
            ),
            transport=None,
            reason=Reason.SUMMARIZER_TIMEOUT,
        )
    source = tuple(f"{part.strip('. ')}." for part in summary.split(". ") if part)
    target = _rewritten(number) if bad else source
    far = rng.uniform(0.62, 1.25) if bad else rng.uniform(0.02, 0.3)
    cost = np.array([[min(far * rng.uniform(0.75, 1.2), 1.38) for _ in target] for _ in source])
    plan = _plan(len(source), len(target), cost)
    return PerturbationScore(
        perturbation=perturbation,
        summary=Summary(text=" ".join(target), seconds=0.8 + 0.1 * number, attempts=1),
        transport=Transport(
            distance=float((plan * cost).sum()),
            plan=plan,
            cost=cost,
            source=source,
            target=target,
        ),
    )


def _rewritten(number: int) -> tuple[str, ...]:
    choices = (
        "Galway's planning board delayed a stadium of 12 million euros.",
        "Mayor Brian Kelly praised the fishermen of the western coast for their patience.",
        "Dublin's city council rejected a budget of 42 million pounds for a new airport.",
        "The sea wall was rebuilt in 1834 after a storm that closed the channel for a summer.",
    )
    return tuple(choices[(number + index) % 4] for index in range(1 + number % 3))


def _plan(n: int, m: int, cost: Any) -> Any:
    """A feasible plan by the north-west corner, which is all that a picture needs."""
    plan, left, right = np.zeros((n, m)), np.full(n, 1 / n), np.full(m, 1 / m)
    i = j = 0
    while i < n and j < m:
        mass = min(left[i], right[j])
        plan[i, j] += mass
        left[i] -= mass
        right[j] -= mass
        i, j = (i + 1, j) if left[i] < 1e-12 else (i, j + 1)
    return plan


def _explained(
    document: str, spans: list[tuple[int, int]], *, bad: bool, rng: random.Random
) -> Explanation:
    words = tuple(document[start:end] for start, end in spans)

    def values() -> Any:
        found = np.array([rng.gauss(0, 0.02) for _ in words])
        for index in range(len(words)):
            if rng.random() < 0.12:
                found[index] += rng.choice((-0.16, 0.1, 0.2, 0.3))
        return found

    original = values()
    results = []
    for method in ("shap", "lime"):
        near = [
            Attribution(
                values=values() if bad else original * rng.uniform(0.9, 1.1),
                granularity=Granularity.SENTENCE_THEN_WORD,
                evaluations=200,
            )
            for _ in range(3)
        ]
        results.append(
            MethodResult(
                method=method,
                words=words,
                original=Attribution(
                    values=original,
                    granularity=Granularity.SENTENCE_THEN_WORD,
                    evaluations=200,
                    fit=0.71 if method == "lime" else None,
                ),
                perturbed=tuple(near),
                instability=0.62 if bad else 0.11,
                absolute=0.5 if bad else 0.09,
                one_minus_spearman=0.8 if bad else 0.1,
                one_minus_cosine=0.7 if bad else 0.05,
                noise_floor=0.08,
                compared=3,
                evaluations=800,
                reason=None,
            )
        )
    return Explanation(
        methods=tuple(results),
        probability=0.25,
        value="similarity",
        versions=(0, 1, 2),
        spans=tuple(spans),
    )


def _judge(
    database: Database, clock: MovedClock, now: datetime, bad_since: datetime, worst: str
) -> tuple[str, str]:
    """What the evaluator found: an open breach, an older resolved one, drift of three signals."""
    lease_store = SqlEvaluatorLease(database, clock=clock)
    lease = lease_store.acquire("night:8318", seconds=600)
    assert lease is not None
    exceeded = bad_since + timedelta(minutes=9)
    opened = exceeded + timedelta(minutes=5)
    open_breach = BreachRow(
        id=breach_id("hss_mean", NEWS, 2),
        threshold="hss_mean",
        series=NEWS,
        number=2,
        signal="hss",
        statistic="mean",
        comparison="above",
        severity="page",
        state="open",
        exceeded_since=exceeded,
        opened_at=opened,
        resolved_at=None,
        value=0.861,
        worst=0.893,
        limit=0.8,
        window_seconds=900.0,
        records=31,
        acknowledged_at=None,
        acknowledged_by=None,
        note=None,
    )
    support = BreachRow(
        id=breach_id("entity_support_low", SPORT, 1),
        threshold="entity_support_low",
        series=SPORT,
        number=1,
        signal="entity_support",
        statistic="mean",
        comparison="below",
        severity="page",
        state="open",
        exceeded_since=exceeded + timedelta(minutes=2),
        opened_at=opened + timedelta(minutes=2),
        resolved_at=None,
        value=0.31,
        worst=0.28,
        limit=0.8,
        window_seconds=900.0,
        records=30,
        acknowledged_at=None,
        acknowledged_by=None,
        note=None,
    )
    resolved = BreachRow(
        id=breach_id("null_distance_high", CASES, 1),
        threshold="null_distance_high",
        series=CASES,
        number=1,
        signal="null_distance",
        statistic="mean",
        comparison="above",
        severity="ticket",
        state="resolved",
        exceeded_since=now - timedelta(hours=4),
        opened_at=now - timedelta(hours=3, minutes=50),
        resolved_at=now - timedelta(hours=3),
        value=0.041,
        worst=0.122,
        limit=0.05,
        window_seconds=900.0,
        records=44,
        acknowledged_at=None,
        acknowledged_by=None,
        note=None,
    )
    bad = [name for name in _newest(database) if name != worst][:7]
    rows = record_rows(database, [worst, *bad])
    contributors = tuple(
        BreachContributor(
            record_id=name,
            value=rows[name].hss if name in rows else 0.7,
            weight=2.0,
            place=place,
            release=BAD,
            mark=None,
            marked_by=None,
            marked_at=None,
        )
        for place, name in enumerate([worst, *bad, "long-gone"], start=1)
    )
    store = SqlBreachStore(database, clock=clock)
    store.save(
        lease,
        states=[
            ThresholdState(
                threshold="hss_mean",
                series=NEWS,
                state="open",
                number=2,
                value=0.861,
                limit=0.8,
                level=None,
                records=31,
                reason=None,
                evaluated_at=now,
                stored={},
            ),
            ThresholdState(
                threshold="shap_instability_high",
                series=CASES,
                state="pending",
                number=0,
                value=0.14,
                limit=0.12,
                level=None,
                records=33,
                reason=None,
                evaluated_at=now,
                stored={},
            ),
        ],
        breaches=[
            BreachDetail(breach=open_breach, contributors=contributors),
            BreachDetail(breach=support, contributors=contributors[:3]),
            BreachDetail(breach=resolved, contributors=()),
        ],
    )
    store.acknowledge(resolved.id, name="Amina", note="the GPU pool was moved")
    store.mark(open_breach.id, bad[0], right=True, name="Amina")
    _save_drift(database, clock, lease, now, bad_since)
    lease_store.complete(lease)
    return open_breach.id, resolved.id


def _newest(database: Database) -> list[str]:
    """Of the bad release, highest HSS first."""
    wanted = RecordFilter(
        service=NEWS.service, model=NEWS.model, category=NEWS.category, release=BAD
    )
    rows = list_records(database, wanted, limit=12).rows
    return [row.id for row in sorted(rows, key=lambda row: -(row.hss or 0))]


def _save_drift(
    database: Database, clock: MovedClock, lease: Any, now: datetime, bad_since: datetime
) -> None:
    store = SqlDriftStore(database, clock=clock)
    store.save_references(
        [
            StoredReference(
                calibration_id="first-week",
                series=series,
                signal=signal,
                fitted={"kind": "made for a test"},
                reason=None,
                detail="",
                warning=None,
                records=300,
                since=now - timedelta(hours=6),
                until=now - timedelta(hours=2),
            )
            for series in (NEWS, SPORT)
            for signal in ("hss", "entity_support", "shap_instability", "document_words")
        ]
    )
    findings = []
    for series in (NEWS, SPORT, CASES):
        for signal in ("hss", "entity_support", "shap_instability", "document_words"):
            if series is CASES:
                state, reason = "insufficient", "too_few_records"
            elif signal == "document_words":
                state, reason = "stable", None
            else:
                state, reason = ("drifted" if series is NEWS else "suspect"), None
            drifted = state == "drifted"
            known = state != "insufficient"
            findings.append(
                DriftFinding(
                    series=series,
                    signal=signal,
                    calibration_id="first-week" if known else None,
                    state=state,
                    reason=reason,
                    detail="" if known else "58 reference records, it takes 200",
                    direction="level_up" if drifted else None,
                    since=bad_since + timedelta(minutes=1) if drifted else None,
                    raised_at=bad_since + timedelta(minutes=12) if drifted else None,
                    effect=0.62 if drifted else 0.04 if known else None,
                    effect_low=0.55 if drifted else -0.01 if known else None,
                    effect_high=0.69 if drifted else 0.09 if known else None,
                    deviations=4.1 if drifted else 0.3 if known else None,
                    reference_mean=0.21 if known else None,
                    current_mean=0.83 if drifted else 0.25 if known else None,
                    evidence=41_200.0 if drifted else 310.0 if known else None,
                    threshold=28_800.0,
                    records=88,
                    tests=tuple(
                        DriftTest(
                            statistic=statistic,
                            value=value,
                            p=0.001 if drifted else 0.31,
                            adjusted_p=0.012 if drifted else 0.74,
                            reason=None,
                            detail="",
                        )
                        for statistic, value in (("psi", 0.8), ("ks", 0.6), ("wasserstein", 0.5))
                    )
                    if known
                    else (),
                    evaluated_at=now,
                )
            )
    store.save(
        lease,
        states=[],
        findings=findings,
        changes=[
            DriftChange(
                series=NEWS,
                signal="hss",
                before="stable",
                after="drifted",
                at=bad_since + timedelta(minutes=12),
                since=bad_since + timedelta(minutes=1),
                direction="level_up",
            )
        ],
    )
