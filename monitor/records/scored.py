"""The result: everything that the pipeline found out about one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitor.records.attribution import Explanation
from monitor.records.distances import NullRun, PerturbationScore
from monitor.records.factuality import FactualScore, Support
from monitor.records.outcome import Reason, RecordState
from monitor.records.severity import Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredRecord:
    """Everything that the pipeline found out about one record."""

    record_id: str
    state: RecordState
    """`SCORED`, `SKIPPED` or `FAILED`."""
    reason: Reason | None
    """Why it was skipped or failed, or why a scored one has no HSS."""
    detail: str
    """For people; never a text of the record."""
    category: str
    scored_at: datetime
    fingerprint: str
    severity: Severity | None = None
    calibration_id: str | None = None
    baseline: str | None = None
    """`observed` (y₀ = y, same model replayed) or `own` (the re-summarizer's own summary)."""
    baseline_summary: str | None = None
    """y₀."""
    observed_distance: float | None = None
    """W₁(y, y₀) where the baseline is `own`."""
    raw_distance: float | None = None
    """Mean D_k."""
    null_distance: float | None = None
    """D_null = mean W₁(μ_{y₀}, μ_{y₀'}); NULL where no null run succeeded."""
    excess: float | None = None
    """Mean D_k − D_null."""
    support: Support | None = None
    checks: Mapping[str, FactualScore] = field(default_factory=dict)
    """The paper's factual comparators of y, by name."""
    explanation: Explanation | None = None
    """`None` where the pipeline ended before, or no method is configured."""
    perturbations: tuple[PerturbationScore, ...] = ()
    null_runs: tuple[NullRun, ...] = ()
    document_words: int | None = None
    summary_words: int | None = None
    stage_seconds: Mapping[str, float] = field(default_factory=dict)
    core_seconds: float | None = None
    """CPU time of the scorer for this record."""
    prompt_tokens: int | None = None
    """Of all re-summaries together, where the summarizer tells."""
    completion_tokens: int | None = None
    truncated: bool = False
    """At least one re-summary saw a cut document."""
