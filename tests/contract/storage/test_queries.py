"""What readers get, over both databases."""

from __future__ import annotations

import base64
import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from monitor.errors import UsageError
from monitor.records import (
    Attribution,
    Explanation,
    Granularity,
    MethodResult,
    Normalizer,
    Reason,
    RecordState,
    Severity,
)
from monitor.storage.detail import record_detail
from monitor.storage.engine import Database
from monitor.storage.queries import RecordFilter, list_records
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.windows import Signal, WindowClock, window_means


def listed(database: Database, **wanted: Any) -> list[str]:
    return [row.id for row in list_records(database, RecordFilter(**wanted)).rows]


def test_pages_show_every_record_once_newest_first(
    database: Database, queue: SqlRecordQueue, make_sampled: Any
) -> None:
    """Also where many came in at the same instant, and while others come in."""
    for index in range(9):
        queue.accept([make_sampled(f"r{index}", seconds=index // 3)])
    page = list_records(database, limit=4)
    queue.accept([make_sampled("later", seconds=99)])
    found = [row.id for row in page.rows]
    while page.next is not None:
        page = list_records(database, limit=4, after=page.next)
        found += [row.id for row in page.rows]
    assert found == [f"r{index}" for index in range(8, -1, -1)]


def test_a_filter_restricts_by_each_of_its_fields(
    database: Database, queue: SqlRecordQueue, make_sampled: Any, finish: Any, clock: Any
) -> None:
    """The list is what the engineer on call narrows down."""
    start = clock.now
    finish("high", result={"hss": 0.9})
    finish("low", record={"service": "law", "release": "2"}, result={"hss": 0.1})
    skipped = {"state": RecordState.SKIPPED, "reason": Reason.TOO_LONG, "severity": None}
    finish("long", record={"model": "bart", "seconds": 5}, result=skipped)
    queue.accept([make_sampled("waiting", seconds=60, category="sport", trace_id="a" * 32)])
    assert listed(database) == ["waiting", "long", "low", "high"]
    assert listed(database, service="law") == listed(database, release="2") == ["low"]
    assert listed(database, model="bart") == listed(database, reason=Reason.TOO_LONG) == ["long"]
    assert listed(database, category="politics", state=RecordState.SCORED) == ["low", "high"]
    assert listed(database, category="sport") == listed(database, trace_id="a" * 32) == ["waiting"]
    assert listed(database, min_hss=0.5) == ["high"]
    assert listed(database, since=start + timedelta(seconds=5)) == ["waiting", "long"]
    assert listed(database, until=start + timedelta(seconds=5)) == ["low", "high"]


@pytest.mark.parametrize("limit", [0, 201])
def test_a_page_has_at_most_200_rows(database: Database, limit: int) -> None:
    """No reader can make the database work without bound."""
    with pytest.raises(UsageError, match=f"{limit} rows; ask for 1 to 200"):
        list_records(database, limit=limit)


def _position(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "after",
    [
        *("x", "", "bnVsbA", "WzEsMl0", "é"),
        _position("[" * 3000),
        _position('["2026-11-30T00:00:00", "no zone"]'),
        _position('["0001-01-01T00:00:00+14:00", "before year 1 in UTC"]'),
        _position('["9999-12-31T23:59:59-14:00", "after year 9999 in UTC"]'),
    ],
)
def test_a_made_up_position_is_refused(database: Database, after: str) -> None:
    """It comes from a URL."""
    with pytest.raises(UsageError, match="after"):
        list_records(database, after=after)


def test_a_record_is_read_back_as_it_was_finished(
    database: Database, finish: Any, make_sampled: Any, make_result: Any, clock: Any
) -> None:
    """Everything that explains a score is there, the transport plan above all."""
    finish("r1", record={"release": "1.2"})
    detail = record_detail(database, "r1")
    result, record = make_result(), make_sampled().record
    assert detail is not None
    assert detail.score is not None
    assert (detail.document, detail.summary) == (record.document, record.summary)
    assert (detail.row.received_at, detail.row.finished_at) == (record.received_at, clock.now)
    assert (detail.row.hss, detail.row.hss_low, detail.row.hss_high) == (0.25, 0.1, 0.4)
    assert (detail.row.release, detail.epoch, detail.front) == ("1.2", 3, "front-a")
    assert (detail.score.normalizer, detail.score.normalizer_category) == (0.8, None)
    assert detail.score.scored_at == result.scored_at
    assert detail.score.unsupported == result.support.unsupported
    assert detail.score.mean_share == 0.125
    assert list(detail.score.stage_seconds) == ["perturb", "summarize"]
    [measured, unanswered] = detail.perturbations
    transport = result.perturbations[0].transport
    assert measured.plan is not None
    assert measured.cost is not None
    np.testing.assert_allclose(measured.plan, transport.plan, rtol=1e-6)
    np.testing.assert_allclose(measured.cost, transport.cost, rtol=1e-6)
    assert (detail.score.baseline_sentences, measured.sentences) == (
        transport.source,
        transport.target,
    )
    [word] = measured.substitutions
    assert (word.index, word.original, word.replacement, word.similarity, word.start) == (
        1,
        "harbour",
        "seaport",
        0.75,
        4,
    )
    assert (unanswered.distance, unanswered.reason) == (None, Reason.SUMMARIZER_TIMEOUT)
    assert (unanswered.plan, unanswered.summary) == (None, None)
    [null_run] = detail.null_runs
    assert (null_run.distance, null_run.source) == (0.05, "run")


def test_detail_has_the_attributions_of_the_document_and_its_versions(
    database: Database, finish: Any
) -> None:
    """Word by word, with what could not be explained in its place."""
    finish("a")
    detail = record_detail(database, "a")
    assert detail is not None
    assert detail.score is not None
    assert detail.words == (
        "The", "harbour", "council", "approved", "the", "budget", "on", "Monday"
    )  # fmt: skip
    assert (detail.score.attribution_probability, detail.score.attribution_value) == (
        0.25,
        "similarity",
    )
    shap, lime = detail.attributions
    assert (shap.method, shap.instability, shap.noise_floor) == ("shap", 0.3, 0.05)
    assert (shap.absolute, shap.one_minus_spearman, shap.one_minus_cosine) == (0.2, 0.4, 0.1)
    assert (shap.compared, shap.evaluations) == (1, 123)
    original, failed, version = shap.explanations
    assert original.values == (0.5, -0.25, 0.125, 0, 0, 0, 0, 1)
    assert (original.number, original.granularity) == (0, Granularity.SENTENCE_THEN_WORD)
    assert original.distinct_values == 5
    assert (failed.number, failed.values, failed.reason) == (1, None, Reason.SUMMARIZER_TIMEOUT)
    assert (version.number, version.values, version.fit) == (2, tuple(np.arange(8) / 8), 0.5)
    assert (lime.reason, lime.instability) == (Reason.OVER_BUDGET, None)
    assert [each.values for each in lime.explanations] == [None]
    assert (detail.row.shap_instability, detail.row.shap_noise_floor) == (0.3, 0.05)
    assert detail.score.lime_reason is Reason.OVER_BUDGET
    assert detail.score.smile_reason is None


def test_a_record_that_was_not_selected_says_so_and_stores_no_words(
    database: Database, finish: Any
) -> None:
    """Nine of ten records by default: they must cost nothing, and not look like failures."""
    unselected = Explanation(
        methods=(
            MethodResult(
                method="shap",
                words=(),
                original=Attribution(values=None, reason=Reason.NOT_SELECTED),
                perturbed=(),
                instability=None,
                absolute=None,
                one_minus_spearman=None,
                one_minus_cosine=None,
                noise_floor=None,
                compared=0,
                evaluations=0,
                reason=Reason.NOT_SELECTED,
            ),
        ),
        probability=None,
        value=None,
        versions=(),
        spans=(),
    )
    finish("a", result={"explanation": unselected})
    detail = record_detail(database, "a")
    assert detail is not None
    assert detail.score is not None
    assert detail.score.shap_reason is Reason.NOT_SELECTED
    assert (detail.attributions, detail.score.attribution_spans) == ((), ())


def test_detail_has_every_factual_check(database: Database, finish: Any) -> None:
    """An absent model is `unavailable`, never 0."""
    finish("a")
    detail = record_detail(database, "a")
    assert detail is not None
    assert detail.score is not None
    checks = detail.score.checks
    assert {name: check.value for name, check in checks.items()} == {
        "content_word_precision": 0.75,
        "summac": -0.25,
        "factcc": None,
    }
    assert (checks["factcc"].reason, checks["factcc"].detail) == (
        Reason.UNAVAILABLE,
        "no model is configured",
    )


def test_instability_is_weighted_by_the_chance_to_be_explained(
    database: Database, finish: Any, make_result: Any, clock: Any
) -> None:
    """A policy that prefers high HSS would else raise the mean: weights 1/(π q), by hand."""
    start = clock.now
    for name, q, value in (("a", 1.0, 0.8), ("b", 0.25, 0.2)):
        made = make_result().explanation
        shap = replace(made.methods[0], instability=value)
        explanation = replace(made, methods=(shap,), probability=q)
        finish(name, record={"probability": 0.5}, result={"explanation": explanation})
    [mean] = window_means(
        database,
        since=start,
        until=start + timedelta(hours=1),
        signals=(Signal.SHAP_INSTABILITY,),
    )
    # Weights 2 and 8.
    assert math.isclose(mean.mean, (2 * 0.8 + 8 * 0.2) / 10, rel_tol=1e-12)
    assert mean.weight == 10.0


def test_an_unknown_record_has_no_detail(database: Database) -> None:
    """A link may outlive its record."""
    assert record_detail(database, "none") is None


def severity(hss: float | None) -> Severity:
    normalizer = Normalizer(category=None, value=1.0, low=None, high=None, documents=1, distances=1)
    reason = Reason.UNCALIBRATED if hss is None else None
    return Severity(
        hss=hss, low=None, high=None, reason=reason, interval_reason=None, normalizer=normalizer
    )


def test_window_means_are_weighted_and_their_variance_is_clustered(
    database: Database, finish: Any, clock: Any
) -> None:
    """Against the sums written out: two records of one trace, two without, π from ¼ to 1."""
    start = clock.now
    sample = [
        ("a", 0.1, 0.25, "t" * 32),
        ("b", 0.4, 0.5, "t" * 32),
        ("c", 0.9, 1.0, None),
        ("d", 0.2, 0.5, "u" * 32),
    ]
    for name, hss, probability, trace in sample:
        record = {"probability": probability, "trace_id": trace}
        finish(name, record=record, result={"severity": severity(hss)})
    finish("unscored", result={"severity": severity(None), "reason": Reason.UNCALIBRATED})
    finish("other", record={"service": "law"}, result={"severity": severity(0.7)})
    found = window_means(
        database, since=start, until=start + timedelta(hours=1), signals=(Signal.HSS,)
    )
    [law, news] = found
    weights = np.array([4.0, 2.0, 1.0, 2.0])
    values = np.array([0.1, 0.4, 0.9, 0.2])
    mean = (weights * values).sum() / weights.sum()
    residuals = weights * (values - mean)
    clusters = np.array([residuals[0] + residuals[1], residuals[2], residuals[3]])
    variance = 3 / 2 * (clusters**2).sum() / weights.sum() ** 2
    assert (news.service, news.model, news.category) == ("news", "gemma", "politics")
    assert math.isclose(news.mean, mean, rel_tol=1e-12)
    assert news.variance is not None
    assert math.isclose(news.variance, variance, rel_tol=1e-9)
    assert (news.records, news.clusters, news.weight) == (4, 3, 9.0)
    assert (law.service, law.mean, law.variance, law.records) == ("law", 0.7, None, 1)


def test_signals_without_a_value_have_no_mean(database: Database, finish: Any, clock: Any) -> None:
    """Missing is missing: no zero takes its place."""
    start = clock.now
    finish("a")
    means = window_means(database, since=start, until=start + timedelta(hours=1))
    assert {mean.signal for mean in means} == set(Signal) - {
        Signal.NUMBER_SUPPORT,
        Signal.OBSERVED_DISTANCE,
        Signal.FACTCC,
        Signal.LIME_INSTABILITY,
        Signal.LIME_NOISE_FLOOR,
        Signal.SMILE_INSTABILITY,
        Signal.SMILE_NOISE_FLOOR,
        Signal.ATTENTION_INSTABILITY,
    }
    [shares] = [mean for mean in means if mean.signal is Signal.MEAN_SHARE]
    assert (shares.mean, shares.last_scored_at) == (0.125, start + timedelta(minutes=1))


def test_a_noise_floor_stands_beside_its_instability(
    database: Database, finish: Any, clock: Any
) -> None:
    """An instability at its noise floor says nothing: one cannot be read without the other."""
    start = clock.now
    finish("a", record={"probability": 0.5})
    wanted = (Signal.SHAP_INSTABILITY, Signal.SHAP_NOISE_FLOOR)
    found = window_means(database, since=start, until=start + timedelta(hours=1), signals=wanted)
    assert [(each.signal, each.mean, each.weight) for each in found] == [
        (Signal.SHAP_INSTABILITY, 0.3, 8.0),
        (Signal.SHAP_NOISE_FLOOR, 0.05, 8.0),
    ]


def test_a_window_is_over_arrival_or_over_scoring(
    database: Database, finish: Any, clock: Any
) -> None:
    """A backlog scored now came in long ago."""
    start = clock.now
    finish("a", record={"seconds": -7200})
    window = {"since": start, "until": start + timedelta(hours=1), "signals": (Signal.HSS,)}
    assert window_means(database, **window) == []
    [mean] = window_means(database, **window, by=WindowClock.SCORED)
    assert mean.records == 1


def test_the_views_show_scores_with_their_weights(
    database: Database, finish: Any, queue: SqlRecordQueue, make_sampled: Any, clock: Any
) -> None:
    """Grafana's SQL panels and people at a prompt read these."""
    start = clock.now
    finish("a")
    queue.accept([make_sampled("waiting", probability=0.25)])
    with database.read() as connection:
        [score] = connection.execute(sa.text("SELECT * FROM oncall_scores")).mappings()
        rows = connection.execute(sa.text("SELECT * FROM oncall_records ORDER BY id")).mappings()
        weights = {row["id"]: (row["state"], row["weight"]) for row in rows}
    assert (score["record_id"], score["hss"], score["weight"]) == ("a", 0.25, 2.0)
    assert score["received_unix"] == int(start.timestamp())
    assert weights == {"a": ("scored", 2.0), "waiting": ("queued", 4.0)}


def test_the_views_of_scores_and_records_hold_no_text(
    database: Database, finish: Any, queue: SqlRecordQueue, make_sampled: Any
) -> None:
    """Whoever may look at a dashboard need not be one who may read documents."""
    finish("a")
    queue.accept([make_sampled("waiting")])
    words = {"budget", "harbour", "council", "Zanzibar"}
    with database.read() as connection:
        for view, rows in (("oncall_scores", 1), ("oncall_records", 2)):
            found = connection.execute(sa.text(f"SELECT * FROM {view}")).all()  # noqa: S608
            assert len(found) == rows
            assert {word for word in words if word in str(found)} == set()
