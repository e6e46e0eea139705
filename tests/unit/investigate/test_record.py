"""What a record's page is made of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from monitor.investigate.explain_html import explain_html
from monitor.investigate.missing import missing_parts
from monitor.investigate.record import facts_of, record_facts
from monitor.investigate.sources import Sources
from monitor.records import Reason
from monitor.storage.content import ContentMode
from monitor.storage.detail import RecordDetail, record_detail
from monitor.storage.replayed import captured_request


@pytest.fixture
def detail(sources: Sources, story: Any) -> RecordDetail:
    found = record_detail(sources.database, story.worst)
    assert found is not None
    return found


def test_replacements_are_found_in_the_reworded_document(detail: RecordDetail) -> None:
    """Each is shifted by the lengths of those before it."""
    facts = facts_of(detail)
    version = max(facts.versions, key=lambda version: len(version.swaps))
    assert len(version.swaps) > 1
    assert version.document is not None
    for swap in version.swaps:
        assert swap.replacement is not None
        assert swap.start_in_version is not None
        end = swap.start_in_version + len(swap.replacement)
        assert version.document[swap.start_in_version : end] == swap.replacement


def test_a_replacement_that_is_not_there_has_no_place(detail: RecordDetail) -> None:
    """A guessed one would mark a wrong word."""
    [run] = [run for run in detail.perturbations if run.number == 6]
    changed = replace(detail, perturbations=(replace(run, document="short"),))
    [version] = facts_of(changed).versions
    assert [swap.start_in_version for swap in version.swaps] == [None] * len(run.substitutions)


def test_moves_are_the_transport_plan(detail: RecordDetail) -> None:
    """Their mass is 1 and their cost the distance."""
    for version in facts_of(detail).versions:
        if version.distance is not None:
            assert sum(move.mass for move in version.moves) == pytest.approx(1, abs=1e-6)
            paid = sum(move.mass * move.cost for move in version.moves)
            assert paid == pytest.approx(version.distance, abs=1e-6)


def test_the_words_that_tremble_most_are_marked(detail: RecordDetail) -> None:
    """All within reach of the greatest, and the greatest among them."""
    [shap, _] = facts_of(detail).methods
    trembling = [word.instability or 0.0 for word in shap.words]
    marked = [word.instability or 0.0 for word in shap.words if word.unstable]
    assert 0 < len(marked) < len(trembling)
    assert max(marked) == max(trembling)
    assert min(marked) >= 0.35 * max(trembling)


def test_without_texts_no_word_is_left(sources: Sources, story: Any) -> None:
    """Not in any part of the facts."""
    facts = record_facts(sources, story.worst, texts=False)
    assert facts is not None
    told = repr(facts)
    for word in ("Wexford", "Dublin", "commerce", "careful editor", "Brian Kelly"):
        assert word not in told
    assert not facts.holds_texts
    assert len(facts.versions[0].moves) > 0


@pytest.mark.parametrize(
    ("fields", "texts", "expected"),
    [
        ({}, True, []),
        ({}, False, ["investigators only"]),
        ({"content_mode": ContentMode.REDACTED}, True, ["replaced before anything was stored"]),
        (
            {"content_mode": ContentMode.HASH_ONLY, "erased_at": datetime(2026, 3, 1, tzinfo=UTC)},
            True,
            ["only hashes are kept"],
        ),
        (
            {"document": None, "erased_at": datetime(2026, 3, 1, 4, tzinfo=UTC)},
            True,
            ["erased at 2026-03-01 04:00 UTC"],
        ),
        ({"attributions": ()}, True, ["no attribution method is configured"]),
        ({"score": None}, True, ["ended without a result"]),
    ],
)
def test_what_is_missing_is_said_with_its_reason(
    sources: Sources,
    detail: RecordDetail,
    fields: dict[str, Any],
    texts: bool,
    expected: list[str],
) -> None:
    """An empty place without a reason would be read as zero."""
    request = captured_request(sources.database, detail.row.id)
    missing = missing_parts(replace(detail, **fields), request, texts=texts)
    assert len(missing) == len(expected)
    for part, words in zip(missing, expected, strict=True):
        assert words in part.why


@pytest.mark.parametrize("reason", [Reason.REQUEST_MISSING, None])
def test_a_record_without_its_request_says_so(detail: RecordDetail, reason: Reason | None) -> None:
    """It was posted without one; a fault only where it was to be replayed."""
    posted = replace(detail, row=replace(detail.row, reason=reason))
    [part] = missing_parts(posted, None, texts=True)
    assert (part.what, part.usual) == ("the request", reason is None)


@pytest.mark.parametrize(
    ("reason", "usual"), [(None, True), (Reason.NOT_SELECTED, True), (Reason.TOO_FEW_RUNS, False)]
)
def test_what_was_not_asked_for_is_not_told_as_a_fault(
    sources: Sources, detail: RecordDetail, reason: Reason | None, usual: bool
) -> None:
    """An amber box on every record says nothing."""
    assert detail.score is not None
    score = replace(detail.score, shap_reason=reason)
    request = captured_request(sources.database, detail.row.id)
    plain = replace(detail, score=score, attributions=())
    [part] = missing_parts(plain, request, texts=True)
    assert (part.what, part.usual) == ("attributions", usual)
    page = explain_html(plain, now=datetime.now(UTC), request=request)
    assert ("What is missing" in page) != usual
    assert ("Without attributions" in page) == usual


def test_an_explained_page_stands_alone(sources: Sources, story: Any) -> None:
    """It goes into a report: no server, no script, nothing that is loaded."""
    detail = record_detail(sources.database, story.hostile)
    assert detail is not None
    page = explain_html(
        detail,
        now=datetime.now(UTC),
        request=captured_request(sources.database, story.hostile),
        breaches=sources.breaches.breaches_of(story.hostile),
    )
    assert "<script" not in page
    assert "&lt;script&gt;document.title" in page
    assert 'href="' not in page
    assert 'src="' not in page
    assert "url(" not in page
    assert "default-src 'none'" in page
    assert "Summarise the following article." in page
    assert "hss_mean" in page
