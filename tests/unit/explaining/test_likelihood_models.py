"""Models that are loaded here are explained by the likelihood of the summary."""

from __future__ import annotations

import runpy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monitor.attributing import attributing_of
from monitor.records import IncomingRecord, Reason, RecordState, ScoredRecord
from monitor.settings import Attribution as AttributionSettings
from monitor.summarization.causal import CausalSummarizer
from monitor.summarization.seq2seq import Seq2SeqSummarizer
from monitor.value_functions import likelihood

_shared = runpy.run_path(str(Path(__file__).parents[1] / "summarization" / "conftest.py"))
tiny_bart, tiny_llama = _shared["tiny_bart"], _shared["tiny_llama"]

GENERATION: Any = {
    "num_beams": 1,
    "max_new_tokens": 8,
    "batch_size": 16,
    "too_long": "truncate",
    "time_limit": 60,
}
DOCUMENT = "The bank raised its rate. Shares fell."
SUMMARY = "The bank raised its rate."
NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = IncomingRecord(
    id="r", document=DOCUMENT, summary=SUMMARY, service="s", model="m", received_at=NOW
)


def test_a_seq2seq_model_gives_likelihoods_and_attention(tiny_bart: Path, encoder: Any) -> None:
    """`auto` takes the likelihood, and attention is available there alone."""
    stage = attributing_of(
        AttributionSettings(methods=("shap", "attention"), share=1.0, max_evaluations=130),
        summarizer=Seq2SeqSummarizer(model=str(tiny_bart), **GENERATION),
        encoder=encoder,
        seed=0,
    )
    result = ScoredRecord(
        record_id="r",
        state=RecordState.SCORED,
        reason=None,
        detail="",
        category="",
        scored_at=NOW,
        fingerprint="f",
        baseline_summary=SUMMARY,
    )
    found = stage(RECORD, result)
    assert found.value == "likelihood"
    shap, attention = found.methods
    assert [each.reason for each in (shap, attention)] == [Reason.TOO_FEW_RUNS] * 2
    assert shap.original.values is not None
    assert attention.original.values is not None
    (evaluator,) = likelihood(Seq2SeqSummarizer(model=str(tiny_bart), **GENERATION))(
        RECORD, [(DOCUMENT, SUMMARY)]
    )
    words = len(shap.words)
    none, whole = evaluator.evaluate(np.array([[False] * words, [True] * words]))
    assert shap.original.values.sum() == pytest.approx(whole.value - none.value, abs=1e-6)


def test_a_causal_model_is_asked_by_its_own_prompt(tiny_llama: Path) -> None:
    """Other words before the document, or behind it, give the same summary another likelihood."""
    values = []
    for prompt in (
        "{document}\n\nSummary:",
        "Shorten: {document}\n\nSummary:",
        "{document}\n\nIn short:",
    ):
        summarizer = CausalSummarizer(model=str(tiny_llama), prompt=prompt, **GENERATION)
        (evaluator,) = likelihood(summarizer)(RECORD, [(DOCUMENT, SUMMARY)])
        (whole,) = evaluator.evaluate(np.ones((1, len(evaluator.segmentation.words)), dtype=bool))
        values.append(whole.value)
    assert len(set(values)) == 3
    assert all(np.isfinite(values))
    assert max(values) < 0


def test_a_document_is_read_as_far_as_the_model_reads(tiny_bart: Path) -> None:
    """64 tokens: a word behind them was not summarized, and carries nothing."""
    (evaluator,) = likelihood(Seq2SeqSummarizer(model=str(tiny_bart), **GENERATION))(
        RECORD, [(" ".join([DOCUMENT] * 30), SUMMARY)]
    )
    words = len(evaluator.segmentation.words)
    masks = np.ones((3, words), dtype=bool)
    masks[1, 64:] = False
    masks[2, :8] = False
    whole, without_the_end, without_the_begin = evaluator.evaluate(masks)
    assert without_the_end.value == pytest.approx(whole.value, abs=1e-5)
    assert without_the_begin.value != pytest.approx(whole.value, abs=1e-5)
