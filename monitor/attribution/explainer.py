"""Explains a document and its reworded versions by several methods, within budgets."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Protocol

import structlog

from monitor.attribution.instability import Comparison, compare
from monitor.attribution.value import BudgetedValue, Evaluator, ValueUnknown
from monitor.records import Attribution, MethodResult, Reason

_log = structlog.get_logger(__name__)

LEAST_EVALUATIONS = 16
"""An explanation from fewer masks than this says more about the masks than the document."""


class Method(Protocol):
    """One way to turn a value function into one number per word."""

    @property
    def name(self) -> str: ...

    @property
    def random(self) -> bool:
        """Whether it draws masks or trees: another seed gives another result, and so a noise
        floor. A method that draws nothing costs one evaluation an explanation."""

    def explain(self, value: BudgetedValue, *, seed: int) -> Attribution:
        """φ of every word, or a reason; equal seeds give equal results.

        Uses at most `value.remaining` evaluations and raises only what `value` raises.
        """


class DocumentExplainer:
    """Attributions of a document and of its K' reworded versions, and their instability.

    Each document is explained for its *own* summary (x⁽ᵏ⁾ for y_k): what is compared is why
    the model says what it says, before and after the rewording. That is settled by the
    evaluators, one a document.

    Budgets, in evaluations of the value function: `max_evaluations` for one explanation,
    `max_evaluations_per_record` for all explanations of all methods together, the second
    explanation of the original (noise floor) included. Where the latter is short, every
    explanation gets the same smaller share, since values of different budgets are not
    comparable; below `LEAST_EVALUATIONS` all methods are `over_budget`.
    """

    def __init__(
        self,
        methods: Sequence[Method],
        *,
        max_evaluations: int = 200,
        max_evaluations_per_record: int = 2000,
    ) -> None:
        self._methods = tuple(methods)
        self._max_evaluations = max_evaluations
        self._max_per_record = max_evaluations_per_record

    def explain(
        self, original: Evaluator, perturbed: Sequence[Evaluator], *, seed: int
    ) -> tuple[MethodResult, ...]:
        """One result a method, in the order of the methods; never raises for a document.

        A version whose words do not align with the original's (the perturber keeps their
        number) has no values, with `internal_error`, and is logged.
        """
        share = self._share(len(perturbed))
        return tuple(
            self._explain_by(method, original, perturbed, share=share, seed=seed)
            for method in self._methods
        )

    def _share(self, perturbed: int) -> int:
        """Evaluations that one explanation may use."""
        drawing = sum(method.random for method in self._methods)
        single = (len(self._methods) - drawing) * (perturbed + 1)
        planned = max(drawing * (perturbed + 2), 1)
        return min(self._max_evaluations, (self._max_per_record - single) // planned)

    def _explain_by(
        self,
        method: Method,
        original: Evaluator,
        perturbed: Sequence[Evaluator],
        *,
        share: int,
        seed: int,
    ) -> MethodResult:
        words = original.segmentation.words
        first = _explain(method, original, share=share, seed=seed)
        spent = first.evaluations
        others: list[Attribution] = []
        again: Attribution | None = None
        if first.values is not None:
            for version in perturbed:
                others.append(_aligned(method, version, len(words), share=share, seed=seed))
            if method.random:
                again = _explain(method, original, share=share, seed=seed + 1)
                spent += again.evaluations
        spent += sum(other.evaluations for other in others)
        comparisons = [c for other in others if (c := _compared(first, other)) is not None]
        return MethodResult(
            method=method.name,
            words=words,
            original=first,
            perturbed=tuple(others),
            instability=_mean([c.signed for c in comparisons]),
            absolute=_mean([c.absolute for c in comparisons]),
            one_minus_spearman=_mean([c.one_minus_spearman for c in comparisons]),
            one_minus_cosine=_mean([c.one_minus_cosine for c in comparisons]),
            noise_floor=_noise_floor(method, first, again),
            compared=len(comparisons),
            evaluations=spent,
            reason=None if comparisons else _why_none(first, others),
        )


def _explain(method: Method, evaluator: Evaluator, *, share: int, seed: int) -> Attribution:
    if not evaluator.segmentation.words:
        return Attribution(values=None, reason=Reason.EMPTY_DOCUMENT)
    if not any(character.isalnum() for character in evaluator.summary):
        return Attribution(values=None, reason=Reason.EMPTY_SUMMARY)
    if share < LEAST_EVALUATIONS:
        return Attribution(values=None, reason=Reason.OVER_BUDGET)
    value = BudgetedValue(evaluator, budget=share)
    try:
        return method.explain(value, seed=seed)
    except ValueUnknown as unknown:
        _log.warning("attribution_value_unknown", method=method.name, reason=unknown.reason.value)
        return Attribution(values=None, evaluations=value.evaluations, reason=unknown.reason)


def _aligned(
    method: Method, version: Evaluator, words: int, *, share: int, seed: int
) -> Attribution:
    found = len(version.segmentation.words)
    if found != words:
        _log.warning("attribution_words_misaligned", method=method.name, words=words, found=found)
        return Attribution(values=None, reason=Reason.INTERNAL_ERROR)
    return _explain(method, version, share=share, seed=seed)


def _compared(first: Attribution, other: Attribution | None) -> Comparison | None:
    if other is None or first.values is None or other.values is None:
        return None
    return compare(first.values, other.values)


def _noise_floor(method: Method, first: Attribution, again: Attribution | None) -> float | None:
    if first.values is not None and not method.random:
        return 0.0 if first.values.any() else None
    comparison = _compared(first, again)
    return None if comparison is None else comparison.signed


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _why_none(first: Attribution, others: Sequence[Attribution]) -> Reason:
    if first.values is None:
        return first.reason or Reason.INTERNAL_ERROR
    if not first.values.any():
        return Reason.ZERO_ATTRIBUTION
    for other in others:
        if other.reason is not None:
            return other.reason
    return Reason.ZERO_ATTRIBUTION if others else Reason.TOO_FEW_RUNS
