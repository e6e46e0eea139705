"""The records that move between stages, in the order in which they flow.

All are frozen and keyword-only. Times are aware UTC datetimes. Text offsets count
Unicode code points. A value that was not computed is `None`, and a `Reason` beside it
says why; there is no NaN and no silent zero anywhere in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Reason(StrEnum):
    """Why something was not computed: the closed list that metrics and SQL use."""

    NO_ELIGIBLE_TOKENS = "no_eligible_tokens"
    """The document holds no word that may be replaced."""
    NO_ACCEPTED_PERTURBATION = "no_accepted_perturbation"
    """Words were eligible, but no replacement passed the meaning filters."""
    STRENGTH_NOT_REACHED = "strength_not_reached"
    """A perturbation was accepted, but below the band that was asked for."""
    EMPTY_SUMMARY = "empty_summary"
    EMPTY_DOCUMENT = "empty_document"
    TOO_LONG = "too_long"
    """The document is longer than `scoring.max_words`, or than a `skip` model takes."""
    UNSUPPORTED_LANGUAGE = "unsupported_language"
    """Most letters of the document are of a script that the language model does not read."""
    SUMMARIZER_TIMEOUT = "summarizer_timeout"
    SUMMARIZER_ERROR = "summarizer_error"
    SUMMARIZER_THROTTLED = "summarizer_throttled"
    """The summarizer answered 429 until the retries were used up."""
    UNCALIBRATED = "uncalibrated"
    """No active calibration has this record's fingerprint."""
    OVER_BUDGET = "over_budget"
    """A limit on calls, tokens or evaluations was reached first."""
    CONTENT_MISSING = "content_missing"
    """The span or event carried no document or no summary."""
    SPAN_MISSING = "span_missing"
    """Events with content whose span never came: only a span tells whether it is a replay."""
    CONTENT_LOST = "content_lost"
    """The queued content could not be read back (a lost key, an erased text)."""
    TOOL_CALL = "tool_call"
    """The answer calls a tool; it is no summary."""
    DOCUMENT_NOT_LAST = "document_not_last"
    """An assistant turn follows the document, so a replay would not ask for a summary."""
    DOCUMENT_NOT_FOUND = "document_not_found"
    """The extraction rule found no document in the prompt."""
    REQUEST_MISSING = "request_missing"
    """The record has no captured request, so it cannot be replayed."""
    TRANSPORT_ERROR = "transport_error"
    """The traced call itself failed: there is no answer to score."""
    NO_ENTITIES = "no_entities"
    """The summary names no entity, so their support is not defined (recall: the document)."""
    NO_NUMBERS = "no_numbers"
    """The summary holds no number, so their support is not defined (recall: the document)."""
    TOO_FEW_RUNS = "too_few_runs"
    """An interval or an instability needs more runs than succeeded."""
    UNAVAILABLE = "unavailable"
    """The model that would compute it is not installed or not configured."""
    NOT_SELECTED = "not_selected"
    """The attribution policy did not select this record."""
    ZERO_ATTRIBUTION = "zero_attribution"
    """Every attribution is zero: there is no distribution to compare."""
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    """The scorer died on this record as often as `execution.max_attempts` allows."""
    INTERNAL_ERROR = "internal_error"
    """A defect of hss-monitor; the log holds the traceback under the record's id."""


class RecordState(StrEnum):
    """Where a sampled record stands; the last three are final."""

    QUEUED = "queued"
    LEASED = "leased"
    SCORED = "scored"
    SKIPPED = "skipped"
    FAILED = "failed"


class Strength(StrEnum):
    """The requested band of a perturbation, in share of a document's word tokens."""

    LOW = "low"
    MODERATE = "moderate"
    HIGH = "high"

    @property
    def band(self) -> tuple[float, float]:
        """[low, high) as fractions; `high` includes its upper end."""
        return {"low": (0.02, 0.10), "moderate": (0.10, 0.20), "high": (0.20, 0.30)}[self.value]

    def contains(self, share: float) -> bool:
        """Whether an achieved share lies in the band.

        >>> Strength.LOW.contains(0.10), Strength.HIGH.contains(0.30)
        (False, True)
        """
        low, high = self.band
        return low <= share < high or (self is Strength.HIGH and share == high)


# --- ingest ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn of a chat request, its text parts joined."""

    role: str
    """`system`, `developer`, `user`, `assistant` or `tool`, as the client wrote it."""
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CapturedRequest:
    """The request that produced a summary: the template of every replay.

    A replay sends the same messages, model and parameters with the document replaced
    wherever it stands.
    """

    messages: tuple[Message, ...]
    model: str
    """The *requested* model; the one that answered stands in `IncomingRecord.model`."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Generation parameters by their OpenAI names (`temperature`, `max_tokens`, …)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IncomingRecord:
    """One summarization seen in live traffic, however it came in."""

    id: str
    """The sender's id, else `{trace_id}-{span_id}`, else a fresh UUID; the idempotency key."""
    document: str
    """What was summarized, cut out of the prompt; may be empty."""
    summary: str
    """What the service answered (the first choice); may be empty."""
    service: str
    model: str
    """The model that answered, else the requested one."""
    received_at: datetime
    category: str | None = None
    """`None` until a rule or the nearest description decides."""
    release: str | None = None
    """`service.version` of the sender, where it tells one."""
    trace_id: str | None = None
    """32 lower-case hex digits."""
    span_id: str | None = None
    """16 lower-case hex digits."""
    started_at: datetime | None = None
    request: CapturedRequest | None = None
    alternatives: tuple[str, ...] = ()
    """The spare choices of an n > 1 answer: null control for free."""
    upstream_probability: float = 1.0
    """The probability with which the sender's own sampler kept this trace."""


# --- sampling -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Stratum:
    """What sampling is stratified by, as known on arrival."""

    service: str
    model: str
    category: str
    """Empty where no category is known on arrival."""


UNCOUNTED = Stratum(service="", model="", category="")
"""Stands for all strata that came in after so many others that they are counted together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SamplingEpoch:
    """The rates of one stretch of time; they depend on earlier stretches only."""

    number: int
    """1, 2, 3 …, shared by all replicas."""
    starts_at: datetime
    ends_at: datetime
    rates: Mapping[Stratum, float]
    """Inclusion probability by stratum, each at most `sampling.rate`."""
    default_rate: float
    """For a stratum that was not seen before."""

    def rate(self, stratum: Stratum) -> float:
        """The rate that applies to a stratum: its own, else that of the uncounted ones."""
        own = self.rates.get(stratum)
        return own if own is not None else self.rates.get(UNCOUNTED, self.default_rate)


@dataclass(frozen=True, kw_only=True, slots=True)
class SamplingDecision:
    """Whether a record is scored, and with which probability it was to be."""

    sampled: bool
    stratum: Stratum
    probability: float
    """π: own rate times the upstream probability; the weight of the record is 1/π."""
    epoch: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SampledRecord:
    """A record that is to be scored, with what estimates need to weight it."""

    record: IncomingRecord
    decision: SamplingDecision
    front: str
    """The instance that took it in, and so counts it."""


# --- queue ----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A scorer's claim on one record until a time."""

    record_id: str
    token: str
    """Unique to this claim: a result is taken only with the current token."""
    worker: str
    until: datetime
    attempt: int
    """1 for the first claim."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeasedRecord:
    lease: Lease
    record: IncomingRecord


# --- perturbation ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Substitution:
    """One word replaced by a neighbour."""

    index: int
    """Position among the document's tokens (spaCy's, whitespace not counted); the same
    position in the original and in the perturbed document."""
    original: str
    replacement: str
    """Inflected and capitalized like the original."""
    similarity: float
    """Cosine of the two words' vectors, ≥ τ."""
    start: int
    """Code-point offset of the original in the *original* document."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Perturbation:
    """One reworded version x⁽ᵏ⁾ of a document."""

    strength: Strength
    """The band that was asked for."""
    share: float
    """Replaced word tokens / word tokens, in [0, 1]: what was achieved."""
    reached: bool
    """Whether `share` lies in the band of `strength`."""
    substitutions: tuple[Substitution, ...]
    document: str
    min_cosine: float
    """The least SBERT cosine of a changed sentence with its original, ≥ γ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PerturbationSet:
    """What the perturber made of one document."""

    perturbations: tuple[Perturbation, ...]
    """At most K, all different from each other and from the document."""
    reason: Reason | None
    """Why there are none; `None` where there is at least one."""
    words: int
    """Word tokens of the document: the denominator of `share`."""
    eligible: int
    """Tokens that may be replaced."""


# --- summarization --------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryTask:
    """One document to summarize."""

    document: str
    original_document: str
    """The document as captured: a replay replaces it by `document`."""
    request: CapturedRequest | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """One answer of a summarizer, or the reason why there is none."""

    text: str | None
    reason: Reason | None = None
    detail: str = ""
    """For people: what the summarizer said. Never a text."""
    seconds: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: int = 1
    truncated: bool = False
    """The document was longer than the model takes and was cut (`truncate` policy)."""


# --- embedding and scoring ------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryDistribution:
    """μ_y: a summary as an equally weighted point set on the unit sphere."""

    sentences: tuple[str, ...]
    embeddings: FloatArray
    """(sentences, dimensions), rows of unit length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transport:
    """An exact optimal transport between two summary distributions."""

    distance: float
    """W₁, in [0, 2]."""
    plan: FloatArray
    """(n, m): mass moved from baseline sentence i to perturbed sentence j; sums to 1."""
    cost: FloatArray
    """(n, m): Euclidean distance of the two unit vectors, in [0, 2]."""
    source: tuple[str, ...]
    """Baseline sentences (n)."""
    target: tuple[str, ...]
    """Perturbed summary's sentences (m)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PerturbationScore:
    """One perturbed document, its summary, and how far that summary moved."""

    perturbation: Perturbation
    summary: Summary
    transport: Transport | None
    """`None` where the summary is missing; `reason` says why."""
    reason: Reason | None = None

    @property
    def distance(self) -> float | None:
        """D_k = W₁(μ_{y₀}, μ_{y_k})."""
        return None if self.transport is None else self.transport.distance


@dataclass(frozen=True, kw_only=True, slots=True)
class NullRun:
    """One more summary of the unchanged document: what serving noise alone does."""

    summary: Summary
    distance: float | None
    source: str
    """`run` (asked again) or `choice` (a spare choice of the observed answer)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Normalizer:
    """M_c: the 95th percentile of the reference distances of a category."""

    category: str | None
    """`None` is the pooled normalizer."""
    value: float
    low: float | None
    """95 % interval, by bootstrap over documents."""
    high: float | None
    documents: int
    distances: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """A frozen, dated set of normalizers; never changed after it was made."""

    id: str
    fingerprint: str
    """Scores under another fingerprint are `uncalibrated`."""
    settings: Mapping[str, Any]
    """What the fingerprint was made of, for people."""
    created_at: datetime
    window: str
    """Name of the reference window."""
    since: datetime | None
    until: datetime | None
    provisional: bool
    """Shipped with the package for the embedded models; to be replaced by an own one."""
    normalizers: tuple[Normalizer, ...]
    warnings: tuple[str, ...] = ()
    """For people: why this reference should be looked at before it is trusted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Severity:
    """HSS(x) with its 95 % interval, or the reason why it is unknown."""

    hss: float | None
    low: float | None
    high: float | None
    reason: Reason | None
    interval_reason: Reason | None
    normalizer: Normalizer | None
    """What it was divided by; its category is `None` where the pooled one stood in."""


# --- factual support ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class UnsupportedFact:
    """An entity or number of the summary that the document does not hold."""

    kind: str
    """`entity` or `number`."""
    text: str
    """As the summary writes it."""
    start: int
    """Code-point offset in the summary."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Support:
    """How much of what a summary names is in its document."""

    entity_support: float | None
    """Supported / named entities, in [0, 1]."""
    entity_reason: Reason | None
    number_support: float | None
    number_reason: Reason | None
    unsupported: tuple[UnsupportedFact, ...]
    entities: int
    numbers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FactualScore:
    """What one factual check found about one summary; higher is more faithful."""

    value: float | None
    reason: Reason | None
    """Why there is no value; `None` where there is one."""
    detail: str = ""
    """For people; never a text."""
    sentences: tuple[float, ...] = ()
    """The value of each sentence of the summary."""


# --- attribution ----------------------------------------------------------------------


class AttributionMethod(StrEnum):
    """The attribution methods, by the names that configuration, metrics and SQL use."""

    SHAP = "shap"
    LIME = "lime"
    SMILE = "smile"
    ATTENTION = "attention"


class Granularity(StrEnum):
    """What the players of the game were whose values the words carry."""

    WORD = "word"
    SENTENCE = "sentence"
    """Every word carries its sentence's value, shared equally."""
    SENTENCE_THEN_WORD = "sentence_then_word"
    """Words have values of their own only inside the sentences that matter."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Attribution:
    """One number per word of one document, or the reason why there is none."""

    values: FloatArray | None
    """φ, (words,)."""
    granularity: Granularity = Granularity.WORD
    evaluations: int = 0
    """Masked documents that it took."""
    fit: float | None = None
    """Weighted R² of a surrogate (LIME, SMILE); `None` for methods without one."""
    reason: Reason | None = None
    """Why there are no values."""

    @property
    def distinct_values(self) -> int:
        """Different values among the words, to 12 digits: 15 over 300 words mean groups."""
        return 0 if self.values is None else len(np.unique(np.round(self.values, 12)))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MethodResult:
    """One method on a document and its reworded versions."""

    method: str
    words: tuple[str, ...]
    """Words of the original document."""
    original: Attribution
    perturbed: tuple[Attribution, ...]
    """In the order in which the perturbed documents were handed in."""
    instability: float | None
    """I = mean signed Jensen–Shannon distance, in [0, 1]."""
    absolute: float | None
    """Mean distance of |φ|."""
    one_minus_spearman: float | None
    one_minus_cosine: float | None
    noise_floor: float | None
    """Signed distance of two explanations of the unchanged document; exactly 0 for a method
    that draws nothing at random."""
    compared: int
    """Perturbed documents behind the means (K')."""
    evaluations: int
    """Of all explanations of this method together, the noise floor's included."""
    reason: Reason | None
    """Why there is no instability."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Explanation:
    """What the attribution stage found out about one record."""

    methods: tuple[MethodResult, ...]
    """One for each configured method; all of them `not_selected` where the policy said so."""
    probability: float | None
    """With which the policy was to select a record with this HSS: means over explained records
    weigh by 1/(π · probability). `None` where it did not select it."""
    value: str | None
    """The value function: `likelihood` or `similarity`."""
    versions: tuple[int, ...]
    """Positions in `ScoredRecord.perturbations` of the versions behind `perturbed`."""
    spans: tuple[tuple[int, int], ...]
    """Code-point offsets [start, end) of the words in the document."""


# --- the result -----------------------------------------------------------------------


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
