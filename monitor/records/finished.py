"""A record in a final state, as the front that took it in counts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from monitor.records.outcome import Reason, RecordState


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedRecord:
    """What the counters and histograms need of one final record."""

    id: str
    trace_id: str | None
    service: str
    model: str
    category: str
    """Empty where none was decided."""
    state: RecordState
    reason: Reason | None
    probability: float
    """π, with which it was to be sampled."""
    hss: float | None
    """This and the numbers below as in `ScoredRecord`."""
    raw_distance: float | None
    null_distance: float | None
    excess: float | None
    entity_support: float | None
    number_support: float | None
    content_word_precision: float | None
    observed_distance: float | None
    mean_share: float | None
    document_words: int | None
    summary_words: int | None
    summac: float | None
    factcc: float | None
    attribution_probability: float | None
    """With which the policy was to explain it; None where it did not."""
    shap_instability: float | None
    shap_reason: Reason | None
    """Why there is no instability; None beside None: the method is not configured."""
    lime_instability: float | None
    lime_reason: Reason | None
    smile_instability: float | None
    smile_reason: Reason | None
    attention_instability: float | None
    attention_reason: Reason | None
    stage_seconds: Mapping[str, float]
    """By stage, in the order in which they ran; empty where no scorer finished it."""
    core_seconds: float | None
