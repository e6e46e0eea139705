"""What a record's page is made of, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.findings import BreachRow, Series
from monitor.investigate.pictures.ribbons import Move
from monitor.records import Reason, UnsupportedFact
from monitor.storage.content import ContentMode
from monitor.storage.queries import RecordRow


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """A part that cannot be shown."""

    what: str
    why: str
    usual: bool = False
    """Nothing is wrong: with this configuration the part was not needed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """One word of the document, as a method values it."""

    start: int
    """Code points; [start, end)."""
    end: int
    text: str | None
    """None where the document is not shown."""
    value: float
    """φ: above 0 it holds the summary, below 0 it works against it."""
    instability: float | None
    """Its part of the attribution instability; None where nothing could be compared."""
    unstable: bool

    @property
    def magnitude(self) -> float:
        """|φ|"""
        return abs(self.value)


@dataclass(frozen=True, kw_only=True, slots=True)
class MethodFacts:
    """One attribution method on this record."""

    method: str
    instability: float | None
    absolute: float | None
    one_minus_spearman: float | None
    one_minus_cosine: float | None
    noise_floor: float | None
    compared: int
    evaluations: int
    granularity: str | None
    distinct_values: int | None
    reason: Reason | None
    words: tuple[Word, ...]
    """In reading order; empty without values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Swap:
    """One replaced word."""

    start: int
    """In the document."""
    start_in_version: int | None
    """In the reworded document; None where that is not shown."""
    original: str | None
    replacement: str | None
    similarity: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One reworded document and what became of its summary."""

    number: int
    strength: str
    share: float
    reached: bool
    min_cosine: float
    distance: float | None
    normalized: float | None
    """min(D_k / M, 1)."""
    reason: Reason | None
    detail: str
    document: str | None
    summary: str | None
    swaps: tuple[Swap, ...]
    sentences: tuple[str | None, ...]
    """Of its summary: where mass goes to."""
    moves: tuple[Move, ...]
    """Of the optimal transport, dearest first."""
    seconds: float
    attempts: int
    truncated: bool

    @property
    def rank(self) -> float:
        """The distance; −1 without one, so that it sorts behind all others."""
        return -1.0 if self.distance is None else self.distance


@dataclass(frozen=True, kw_only=True, slots=True)
class NullFacts:
    """One summary of the unchanged document."""

    number: int
    source: str
    distance: float | None
    reason: Reason | None
    summary: str | None
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One factual comparator."""

    name: str
    value: float | None
    reason: Reason | None
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What the service was asked, and each replay repeats with the document replaced."""

    model: str
    parameters: dict[str, Any]
    messages: tuple[tuple[str, str], ...]
    """(role, content)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """What the pipeline measured, beside what stands in the record's row."""

    scored_at: datetime
    fingerprint: str
    normalizer: float | None
    normalizer_category: str | None
    hss_reason: Reason | None
    interval_reason: Reason | None
    entity_reason: Reason | None
    number_reason: Reason | None
    entities: int | None
    numbers: int | None
    unsupported: tuple[UnsupportedFact, ...]
    baseline: str | None
    baseline_summary: str | None
    baseline_sentences: tuple[str | None, ...]
    """Where mass comes from."""
    observed_distance: float | None
    mean_share: float | None
    checks: tuple[Check, ...]
    attribution_value: str | None
    document_words: int | None
    summary_words: int | None
    stage_seconds: dict[str, float]
    core_seconds: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordFacts:
    """Everything about one record that this reader may see."""

    record: RecordRow
    content_mode: ContentMode
    document: str | None
    summary: str | None
    document_hash: str
    summary_hash: str
    front: str
    epoch: int
    upstream_probability: float
    started_at: datetime | None
    erased_at: datetime | None
    score: Scored | None
    versions: tuple[Version, ...]
    null_runs: tuple[NullFacts, ...]
    methods: tuple[MethodFacts, ...]
    request: Request | None
    breaches: tuple[BreachRow, ...]
    """In which it contributed."""
    missing: tuple[Missing, ...]

    @property
    def holds_texts(self) -> bool:
        """Whether anything of the texts is in here: then showing it is noted."""
        return self.document is not None or self.summary is not None or self.request is not None

    @property
    def series(self) -> Series:
        record = self.record
        return Series(service=record.service, model=record.model, category=record.category or "")
