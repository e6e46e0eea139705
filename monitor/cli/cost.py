"""What scoring and explaining cost a day: calls, tokens and CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import fmean

from monitor.settings import Attribution, Settings
from monitor.storage.detail import RecordDetail
from monitor.stores import Stores, now

DAY = timedelta(days=1)
_CALLING = frozenset({"chat", "http", "replay"})
"""Kinds of summarizer that are services: every summary is a call, and none is deterministic."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributionCost:
    """What explaining costs on top of scoring."""

    methods: tuple[str, ...]
    share: float
    """Of the scored records that are explained."""
    in_breach: bool
    """Whether every record of a series in a breach is explained, too: not in the numbers."""
    explained_per_day: float | None
    explanations_per_record: int
    """Of an explained one: its document's, those of K' versions and the document's once more for
    the noise floor, by each method."""
    evaluations_per_record: float
    """Masked documents."""
    evaluations_measured: bool
    """Over stored explanations; else the budgets bound them."""
    calls_per_record: float
    """To a remote summarizer."""
    calls_per_day: float | None
    seconds_per_record: float | None
    """Of a scorer."""
    seconds_per_day: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What scoring costs; `None` where nothing is known to reckon it from."""

    calls_per_record: int
    """Summaries of reworded and of unchanged documents; a baseline of its own is one of these."""
    records_per_day: float | None
    """That are sampled."""
    core_seconds_per_record: float | None
    """CPU, over records as they come: with the attributions of those that were explained."""
    prompt_tokens_per_record: float | None
    completion_tokens_per_record: float | None
    calls_per_day: float | None
    core_seconds_per_day: float | None
    prompt_tokens_per_day: float | None
    completion_tokens_per_day: float | None
    attribution: AttributionCost
    seen_seconds: float | None
    """How long arrivals were counted for that a day is reckoned from."""


def costs(stores: Stores, settings: Settings, scored: Sequence[RecordDetail]) -> Cost:
    """Of a record and of a day, from the arrivals of this epoch and the latest scores."""
    per_day, seen = _records_per_day(stores)
    known = [detail.score for detail in scored if detail.score is not None]
    calls = _calls(settings)
    core = _mean([score.core_seconds for score in known])
    prompt = _mean([score.prompt_tokens for score in known])
    completion = _mean([score.completion_tokens for score in known])
    return Cost(
        calls_per_record=calls,
        records_per_day=per_day,
        core_seconds_per_record=core,
        prompt_tokens_per_record=prompt,
        completion_tokens_per_record=completion,
        calls_per_day=_times(calls, per_day),
        core_seconds_per_day=_times(core, per_day),
        prompt_tokens_per_day=_times(prompt, per_day),
        completion_tokens_per_day=_times(completion, per_day),
        attribution=_attribution(settings, scored, per_day),
        seen_seconds=None if seen is None else seen.total_seconds(),
    )


def _calls(settings: Settings) -> int:
    """K, the null runs, and y₀ where it is not the summary of the live service itself."""
    remote = settings.summarizer.kind in _CALLING
    observed = settings.summarizer.kind == "replay" and settings.storage.mode != "redacted"
    null_runs = settings.scoring.null_runs if remote else min(settings.scoring.null_runs, 1)
    return settings.perturbation.strengths.count + null_runs + (not observed)


def _records_per_day(stores: Stores) -> tuple[float | None, timedelta | None]:
    """Records that are sampled, and over how long; `None` before the first epoch has begun."""
    epoch = stores.epochs.latest()
    if epoch is None:
        return None, None
    length = min(now(), epoch.ends_at) - epoch.starts_at
    if length <= timedelta(0):
        return None, None
    return epoch.expected(stores.epochs.arrivals(epoch.number)) * (DAY / length), length


def _attribution(
    settings: Settings, scored: Sequence[RecordDetail], per_day: float | None
) -> AttributionCost:
    wanted = settings.attribution
    explanations = len(wanted.methods) * (wanted.perturbations + 2)
    bound = min(explanations * wanted.max_evaluations, wanted.max_evaluations_per_record)
    chosen = [detail for detail in scored if detail.attributions]
    measured = [sum(each.evaluations for each in detail.attributions) for detail in chosen]
    evaluations = fmean(measured) if measured else float(bound)
    seconds = [
        detail.score.stage_seconds.get("attribute") for detail in chosen if detail.score is not None
    ]
    extracts = settings.summarizer.kind == "textrank"
    share = _share(wanted, scored, extracts=extracts)
    explained = _times(share, per_day)
    # A likelihood is a forward pass of a model that runs here; a similarity is a summary.
    called = settings.summarizer.kind in _CALLING and bool(wanted.methods)
    calls = evaluations if called else 0.0
    took = _mean(seconds)
    return AttributionCost(
        methods=wanted.methods,
        share=share,
        in_breach=bool(wanted.methods) and wanted.in_breach_where(extracts=extracts),
        explained_per_day=explained,
        explanations_per_record=explanations,
        evaluations_per_record=evaluations if wanted.methods else 0.0,
        evaluations_measured=bool(measured),
        calls_per_record=calls,
        calls_per_day=_times(calls, explained),
        seconds_per_record=took,
        seconds_per_day=_times(took, explained),
    )


def _share(wanted: Attribution, scored: Sequence[RecordDetail], *, extracts: bool) -> float:
    """Of the scored records: chosen by their id, or by their HSS as far as the latest tell."""
    if not wanted.methods:
        return 0.0
    share = wanted.share_where(extracts=extracts)
    if wanted.above_hss is None:
        return share
    known = [detail.row.hss for detail in scored if detail.row.hss is not None]
    high = sum(hss >= wanted.above_hss for hss in known) / len(known) if known else 0.0
    return share + (1 - share) * high


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _times(one: float | None, count: float | None) -> float | None:
    return None if one is None or count is None else one * count
