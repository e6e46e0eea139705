"""Which records are explained, by which methods and value function; part of the scorer's
composition root."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from monitor.attribution.explainer import DocumentExplainer, Method
from monitor.errors import ConfigurationError, DatabaseUnavailable
from monitor.findings import Series
from monitor.logs import failure
from monitor.ports import Encoder, Summarizer
from monitor.records import (
    Attribution,
    Explanation,
    IncomingRecord,
    MethodResult,
    Reason,
    ScoredRecord,
)
from monitor.settings import Attribution as AttributionSettings
from monitor.summarization.causal import CausalSummarizer
from monitor.summarization.seq2seq import Seq2SeqSummarizer
from monitor.summarization.textrank import TextRankSummarizer
from monitor.summarizers import NEEDS_OWN_MODEL
from monitor.value_functions import Evaluators, likelihood, similarity, textrank

log = structlog.get_logger(__name__)

OpenSeries = Callable[[], frozenset[Series]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Which scored records are explained.

    The choice depends on the record's id and HSS, and on whether its series was in a breach
    when it was scored. Both are known beforehand, so the probability is the true one.
    """

    share: float
    above_hss: float | None = None
    in_breach: bool = False
    """All records of a series with an open breach."""

    def probability(self, hss: float | None, *, breached: bool = False) -> float:
        """With which a record of this HSS is chosen, over all ids."""
        if self.in_breach and breached:
            return 1.0
        if self.above_hss is not None and hss is not None and hss >= self.above_hss:
            return 1.0
        return self.share

    def selects(self, record_id: str, hss: float | None, *, breached: bool = False) -> bool:
        """Whether the record is explained."""
        digest = hashlib.sha256(f"attribution:{record_id}".encode("utf-8", "replace")).digest()
        drawn = int.from_bytes(digest[:8], "big") / 2**64
        return drawn < self.probability(hss, breached=breached)

    @property
    def never(self) -> bool:
        """Whether no record at all can be chosen."""
        return self.share == 0 and self.above_hss is None and not self.in_breach


class Attributing:
    """The pipeline's attribution stage: a value or a reason for each configured method.

    Explains the document for y₀ and K' of its reworded versions for their own summaries. The
    versions are spread evenly over those that have a distance, and so over the strengths.
    """

    def __init__(
        self,
        *,
        methods: Sequence[str],
        explainer: DocumentExplainer | None,
        evaluators: Evaluators,
        value: str,
        policy: Policy,
        perturbations: int,
        seed: int,
        open_series: OpenSeries | None = None,
    ) -> None:
        """`explainer` may be `None` where the policy never selects a record.

        `open_series` tells which series are in a breach; it is asked for every record.
        """
        self._methods = tuple(methods)
        self._explainer = explainer
        self._evaluators = evaluators
        self._value = value
        self._policy = policy
        self._perturbations = perturbations
        self._seed = seed
        self._open_series = open_series

    def __call__(self, record: IncomingRecord, result: ScoredRecord) -> Explanation:
        """Never raises: a defect here must not cost the record its HSS."""
        hss = result.severity.hss if result.severity else None
        if self._explainer is None:
            return self._without(Reason.NOT_SELECTED, probability=None)
        breached = self._breached(record, result)
        if not self._policy.selects(record.id, hss, breached=breached):
            return self._without(Reason.NOT_SELECTED, probability=None)
        probability = self._policy.probability(hss, breached=breached)
        try:
            return self._explained(self._explainer, record, result, probability)
        except Exception as error:
            log.error("attribution_failed", **failure(error))
            return self._without(Reason.INTERNAL_ERROR, probability=probability)

    def _breached(self, record: IncomingRecord, result: ScoredRecord) -> bool:
        if self._open_series is None or not self._policy.in_breach:
            return False
        try:
            found = self._open_series()
        except DatabaseUnavailable:
            return False  # then the share decides, with the share as its probability
        series = Series(service=record.service, model=record.model, category=result.category)
        return series in found

    def _explained(
        self,
        explainer: DocumentExplainer,
        record: IncomingRecord,
        result: ScoredRecord,
        probability: float,
    ) -> Explanation:
        versions = _spread(
            [n for n, score in enumerate(result.perturbations) if score.transport is not None],
            self._perturbations,
        )
        texts = [(record.document, result.baseline_summary or "")]
        for number in versions:
            score = result.perturbations[number]
            texts.append((score.perturbation.document, score.summary.text or ""))
        original, *perturbed = self._evaluators(record, texts)
        cut = original.segmentation
        return Explanation(
            methods=explainer.explain(original, perturbed, seed=self._seed),
            probability=probability,
            value=self._value,
            versions=versions,
            spans=tuple(zip(cut.starts.tolist(), cut.ends.tolist(), strict=True)),
        )

    def _without(self, reason: Reason, *, probability: float | None) -> Explanation:
        return Explanation(
            methods=tuple(
                MethodResult(
                    method=name,
                    words=(),
                    original=Attribution(values=None, reason=reason),
                    perturbed=(),
                    instability=None,
                    absolute=None,
                    one_minus_spearman=None,
                    one_minus_cosine=None,
                    noise_floor=None,
                    compared=0,
                    evaluations=0,
                    reason=reason,
                )
                for name in self._methods
            ),
            probability=probability,
            value=None,
            versions=(),
            spans=(),
        )


def attributing_of(
    wanted: AttributionSettings,
    *,
    summarizer: Summarizer,
    encoder: Encoder,
    seed: int,
    open_series: OpenSeries | None = None,
) -> Attributing:
    """The stage that the configuration asks for; `open_series` tells which series are in a breach.

    Raises `ConfigurationError` for a likelihood where no model is loaded here.
    """
    own = summarizer if isinstance(summarizer, Seq2SeqSummarizer | CausalSummarizer) else None
    by_likelihood = wanted.value == "likelihood" or (wanted.value == "auto" and own is not None)
    extracts = isinstance(summarizer, TextRankSummarizer)
    evaluators: Evaluators
    if by_likelihood:
        if own is None:
            raise ConfigurationError(NEEDS_OWN_MODEL)
        evaluators = likelihood(own)
    elif isinstance(summarizer, TextRankSummarizer):
        evaluators = textrank(summarizer, encoder)
    else:
        evaluators = similarity(summarizer, encoder)
    policy = Policy(
        share=wanted.share_where(extracts=extracts),
        above_hss=wanted.above_hss,
        in_breach=open_series is not None and wanted.in_breach_where(extracts=extracts),
    )
    explainer = None
    if wanted.methods and not policy.never:
        explainer = DocumentExplainer(
            [_method(name, summarizer) for name in wanted.methods],
            max_evaluations=wanted.max_evaluations,
            max_evaluations_per_record=wanted.max_evaluations_per_record,
        )
    return Attributing(
        methods=wanted.methods,
        explainer=explainer,
        evaluators=evaluators,
        value="likelihood" if by_likelihood else "similarity",
        policy=policy,
        perturbations=wanted.perturbations,
        seed=seed,
        open_series=open_series,
    )


def _method(name: str, summarizer: Summarizer) -> Method:
    """shap and lime take seconds to import: only where they are asked for."""
    match name:
        case "shap":
            from monitor.attribution.shap_text import ShapMethod

            return ShapMethod()
        case "lime":
            from monitor.attribution.lime_text import LimeMethod

            return LimeMethod()
        case "smile":
            from monitor.attribution.smile import SmileMethod

            return SmileMethod()
        case _:
            from monitor.attribution.attention import AttentionMethod

            if not isinstance(summarizer, Seq2SeqSummarizer):
                return AttentionMethod(model=None, tokenizer=None)
            loaded = summarizer.loaded
            return AttentionMethod(
                model=loaded.model, tokenizer=loaded.tokenizer, limit=loaded.input_limit
            )


def _spread(numbers: Sequence[int], count: int) -> tuple[int, ...]:
    """`count` of the numbers, evenly spaced.

    >>> _spread([0, 1, 2, 3, 4, 5, 6, 7], 2), _spread([3, 5], 4)
    ((2, 6), (3, 5))
    """
    if len(numbers) <= count:
        return tuple(numbers)
    return tuple(numbers[(2 * i + 1) * len(numbers) // (2 * count)] for i in range(count))
