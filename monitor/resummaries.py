"""Re-summaries: what the summarizer is asked about one record, and whether enough came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from monitor.ports import Summarizer
from monitor.records import (
    IncomingRecord,
    Perturbation,
    Reason,
    ScoredRecord,
    Summary,
    SummaryTask,
)
from monitor.unscorable import Unscorable


@dataclass(frozen=True, kw_only=True, slots=True)
class Resummaries:
    """All summaries of one record that its distances lie between."""

    baseline: str
    """y₀, from which every distance is measured."""
    observed: bool
    """y₀ is the summary that live traffic saw."""
    perturbed: tuple[Summary, ...]
    """Of the reworded versions, in their order; at least half of them have a text."""
    nulls: tuple[tuple[Summary, str], ...]
    """Summaries of the unchanged document, each with its source (`run` or `choice`)."""
    asked: tuple[Summary, ...]
    """Everything that the summarizer answered, the baseline that it wrote itself included."""


_CAUSES = frozenset({Reason.SUMMARIZER_ERROR, Reason.SUMMARIZER_TIMEOUT})
"""Why replays pause, so that the calls behind the failed one are throttled."""


class Resummarizer:
    """Asks for the baseline, the null runs and the versions of a record in one batch.

    `observed_baseline` says whether the observed summary y may serve as y₀: only where the
    re-summarizer is the model and prompt that wrote y *and* sees the same document (not a
    redacted one). Then the spare choices of an n > 1 answer stand in for null runs. A
    deterministic summarizer makes one null run at most: a second one would tell nothing.
    """

    def __init__(self, summarizer: Summarizer, *, observed_baseline: bool, null_runs: int) -> None:
        self._summarizer = summarizer
        self._observed_baseline = observed_baseline
        self._null_runs = min(null_runs, 1) if summarizer.deterministic else null_runs

    def resummarize(self, record: IncomingRecord, versions: Sequence[Perturbation]) -> Resummaries:
        """Raises `Unscorable` without a baseline, and where more than half of the versions'
        summaries are missing: for the reason that most of those failed with. A call that
        failed goes before those that were not made because of it: a service that always fails on
        one document would else be asked about it for ever."""
        choices = [c for c in record.alternatives if c.strip()] if self._observed_baseline else []
        choices = choices[: self._null_runs]
        own = 0 if self._observed_baseline else 1
        unchanged = own + self._null_runs - len(choices)
        documents = [record.document] * unchanged + [version.document for version in versions]
        summaries = self._summarizer.summarize(
            [
                SummaryTask(
                    document=document, original_document=record.document, request=record.request
                )
                for document in documents
            ]
        )
        perturbed = tuple(summaries[unchanged:])
        baseline = record.summary if self._observed_baseline else _own_baseline(summaries)
        _require_half(perturbed, summaries)
        nulls = [(summary, "run") for summary in summaries[own:unchanged]]
        nulls += [(Summary(text=choice), "choice") for choice in choices]
        return Resummaries(
            baseline=baseline,
            observed=self._observed_baseline,
            perturbed=perturbed,
            nulls=tuple(nulls),
            asked=tuple(summaries),
        )


def with_resummaries(result: ScoredRecord, made: Resummaries) -> ScoredRecord:
    """The result with its baseline, and with what the re-summaries took."""
    return replace(
        result,
        baseline="observed" if made.observed else "own",
        baseline_summary=made.baseline,
        prompt_tokens=_sum_known(run.prompt_tokens for run in made.asked),
        completion_tokens=_sum_known(run.completion_tokens for run in made.asked),
        truncated=any(run.truncated for run in made.asked),
    )


def _own_baseline(asked: Sequence[Summary]) -> str:
    own = asked[0]
    if own.text is None:
        reason, detail = _cause(own.reason or Reason.SUMMARIZER_ERROR, own.detail, asked)
        raise Unscorable(reason, f"no baseline summary: {detail}")
    return own.text


def _require_half(perturbed: Sequence[Summary], asked: Sequence[Summary]) -> None:
    missing = _missing(perturbed)
    if 2 * len(missing) <= len(perturbed):
        return
    commonest = Counter(why for why, _ in missing).most_common(1)[0][0]
    first = next(detail for why, detail in missing if why is commonest)
    reason, detail = _cause(commonest, first, asked)
    raise Unscorable(
        reason, f"{len(missing)} of {len(perturbed)} re-summaries are missing: {detail}"
    )


def _cause(reason: Reason, detail: str, asked: Sequence[Summary]) -> tuple[Reason, str]:
    """The failed call in place of one that was not made because of it."""
    if reason is not Reason.SUMMARIZER_THROTTLED:
        return reason, detail
    failed = (each for each in _missing(asked) if each[0] in _CAUSES)
    return next(failed, (reason, detail))


def _missing(summaries: Sequence[Summary]) -> list[tuple[Reason, str]]:
    """Reason and detail of those without a text."""
    return [
        (summary.reason or Reason.SUMMARIZER_ERROR, summary.detail)
        for summary in summaries
        if summary.text is None
    ]


def _sum_known(tokens: Iterable[int | None]) -> int | None:
    """Of those that the summarizer told; unknown where it told none."""
    known = [count for count in tokens if count is not None]
    return sum(known) if known else None
