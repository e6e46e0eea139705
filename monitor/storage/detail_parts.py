"""The parts of a stored record, as `detail` gives them back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from monitor.records import (
    AttributionMethod,
    FloatArray,
    Granularity,
    Reason,
    Strength,
    UnsupportedFact,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredSubstitution:
    """One replaced word; the words are None where texts are not kept."""

    index: int
    original: str | None
    replacement: str | None
    similarity: float
    start: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRun:
    """One re-summary; its text is None where it failed, was erased or is not kept."""

    number: int
    distance: float | None
    reason: Reason | None
    detail: str
    summary: str | None
    summary_hash: str | None
    seconds: float
    prompt_tokens: int | None
    completion_tokens: int | None
    attempts: int
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredPerturbation(StoredRun):
    """One reworded document and how its summary moved."""

    strength: Strength
    share: float
    reached: bool
    substitutions: tuple[StoredSubstitution, ...]
    min_cosine: float
    document: str | None
    document_hash: str
    plan: FloatArray | None
    """(baseline sentences, sentences of this summary), in single precision."""
    cost: FloatArray | None
    sentences: tuple[str, ...] | None
    """Of this summary: the columns of the plan."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredNullRun(StoredRun):
    """One summary of the unchanged document."""

    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredExplanation:
    """What the words of one document are worth, by one method."""

    number: int
    """0 is the document itself, others are numbers of its perturbations."""
    values: tuple[float, ...] | None
    """φ of each word, in single precision."""
    granularity: Granularity
    distinct_values: int
    evaluations: int
    fit: float | None
    reason: Reason | None


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredAttribution:
    """One method on one record."""

    method: AttributionMethod
    instability: float | None
    absolute: float | None
    one_minus_spearman: float | None
    one_minus_cosine: float | None
    noise_floor: float | None
    compared: int
    evaluations: int
    reason: Reason | None
    explanations: tuple[StoredExplanation, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredCheck:
    """One factual comparator."""

    value: float | None
    reason: Reason | None
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredScore:
    """What a scorer found out, less what `RecordRow` has already."""

    scored_at: datetime
    fingerprint: str
    normalizer: float | None
    normalizer_category: str | None
    """None beside a normalizer: the pooled one stood in."""
    hss_reason: Reason | None
    interval_reason: Reason | None
    baseline: str | None
    baseline_summary: str | None
    baseline_hash: str | None
    baseline_sentences: tuple[str, ...] | None
    """The rows of every plan."""
    observed_distance: float | None
    mean_share: float | None
    entity_reason: Reason | None
    number_reason: Reason | None
    entities: int | None
    numbers: int | None
    unsupported: tuple[UnsupportedFact, ...]
    """Their texts are empty where texts are not kept."""
    checks: Mapping[str, StoredCheck]
    attribution_probability: float | None
    """None where the policy did not select the record."""
    attribution_value: str | None
    attribution_spans: tuple[tuple[int, int], ...]
    """Offsets of the words in the document."""
    shap_reason: Reason | None
    lime_reason: Reason | None
    smile_reason: Reason | None
    attention_reason: Reason | None
    document_words: int | None
    summary_words: int | None
    stage_seconds: Mapping[str, float]
    core_seconds: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    truncated: bool
