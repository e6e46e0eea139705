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
        summaries are missing: for the reason that most of those failed with."""
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
        baseline = record.summary if self._observed_baseline else _text(summaries[0])
        _require_half(perturbed)
        nulls = [(summary, "run") for summary in summaries[own:unchanged]]
        nulls += [(Summary(text=choice), "choice") for choice in choices]
        return Resummaries(
            baseline=baseline,
            observed=self._observed_baseline,
            perturbed=perturbed,
            nulls=tuple(nulls),
        )


def with_resummaries(result: ScoredRecord, made: Resummaries) -> ScoredRecord:
    """The result with its baseline, and with what the re-summaries took."""
    runs = [*made.perturbed, *(summary for summary, _ in made.nulls)]
    return replace(
        result,
        baseline="observed" if made.observed else "own",
        baseline_summary=made.baseline,
        prompt_tokens=_sum_known(run.prompt_tokens for run in runs),
        completion_tokens=_sum_known(run.completion_tokens for run in runs),
        truncated=any(run.truncated for run in runs),
    )


def _text(summary: Summary) -> str:
    if summary.text is None:
        raise Unscorable(
            summary.reason or Reason.SUMMARIZER_ERROR, f"no baseline summary: {summary.detail}"
        )
    return summary.text


def _require_half(summaries: Sequence[Summary]) -> None:
    missing = [
        (summary.reason or Reason.SUMMARIZER_ERROR, summary.detail)
        for summary in summaries
        if summary.text is None
    ]
    if 2 * len(missing) > len(summaries):
        reason = Counter(why for why, _ in missing).most_common(1)[0][0]
        detail = next(detail for why, detail in missing if why == reason)
        raise Unscorable(
            reason, f"{len(missing)} of {len(summaries)} re-summaries are missing: {detail}"
        )


def _sum_known(tokens: Iterable[int | None]) -> int | None:
    """Of those that the summarizer told; unknown where it told none."""
    known = [count for count in tokens if count is not None]
    return sum(known) if known else None
