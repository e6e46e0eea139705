"""What scoring and explaining cost a day: calls, tokens and CPU."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from statistics import fmean
from typing import Any

from monitor.records import Reason
from monitor.settings import Settings
from monitor.storage.detail import RecordDetail
from monitor.stores import Stores, now

DAY = timedelta(days=1)
_CALLING = frozenset({"chat", "http", "replay"})
"""Kinds of summarizer of which every evaluation is a call."""


def costs(stores: Stores, settings: Settings, scored: Sequence[RecordDetail]) -> dict[str, Any]:
    """Of a record and of a day, from the arrivals of this epoch and the latest scores.

    `core_seconds` is measured over records as they come, so it holds the attributions of
    those that were explained.
    """
    per_day = _records_per_day(stores)
    known = [detail.score for detail in scored if detail.score is not None]
    cost: dict[str, Any] = {
        "calls_per_record": settings.perturbation.strengths.count + settings.scoring.null_runs,
        "records_per_day": per_day,
    }
    for name in ("core_seconds", "prompt_tokens", "completion_tokens"):
        values = [getattr(score, name) for score in known if getattr(score, name) is not None]
        cost[f"{name}_per_record"] = fmean(values) if values else None
    for name in ("calls", "core_seconds", "prompt_tokens", "completion_tokens"):
        cost[f"{name}_per_day"] = _times(cost[f"{name}_per_record"], per_day)
    cost["attribution"] = _attribution(settings, scored, per_day)
    return cost


def _records_per_day(stores: Stores) -> float | None:
    """Records that are sampled; `None` before the first epoch has begun."""
    epoch = stores.epochs.latest()
    if epoch is None:
        return None
    length = min(now(), epoch.ends_at) - epoch.starts_at
    sampled = sum(
        count * epoch.rate(stratum)
        for stratum, count in stores.epochs.arrivals(epoch.number).items()
    )
    return sampled * (DAY / length) if length else None


def _attribution(
    settings: Settings, scored: Sequence[RecordDetail], per_day: float | None
) -> dict[str, Any]:
    """What explaining costs on top of scoring.

    An explained record takes K' + 2 explanations by each method: the document's, those of K'
    versions, and the document's once more for the noise floor. Evaluations and seconds are
    measured where explained records are stored, else evaluations are bounded by the budgets.
    Records that are explained because their series is in a breach come on top of the numbers.
    """
    wanted = settings.attribution
    explanations = len(wanted.methods) * (wanted.perturbations + 2)
    bound = min(explanations * wanted.max_evaluations, wanted.max_evaluations_per_record)
    measured = [
        sum(each.evaluations for each in detail.attributions)
        for detail in scored
        if any(each.reason is not Reason.NOT_SELECTED for each in detail.attributions)
    ]
    evaluations = fmean(measured) if measured else float(bound)
    seconds = [
        detail.score.stage_seconds["attribute"]
        for detail in scored
        if detail.score is not None
        and detail.attributions
        and "attribute" in detail.score.stage_seconds
    ]
    share = _share(settings, scored)
    explained = _times(share, per_day)
    # A likelihood is a forward pass of a model that runs here; a similarity is a summary.
    called = settings.summarizer.kind in _CALLING and bool(wanted.methods)
    calls = evaluations if called else 0.0
    took = fmean(seconds) if seconds else None
    return {
        "methods": wanted.methods,
        "share": share,
        "in_breach": bool(wanted.methods)
        and wanted.in_breach_where(extracts=settings.summarizer.kind == "textrank"),
        "explained_per_day": explained,
        "explanations_per_record": explanations,
        "evaluations_per_record": evaluations if wanted.methods else 0.0,
        "evaluations_measured": bool(measured),
        "calls_per_record": calls,
        "calls_per_day": _times(calls, explained),
        "seconds_per_record": took,
        "seconds_per_day": _times(took, explained),
    }


def _share(settings: Settings, scored: Sequence[RecordDetail]) -> float:
    """Of the scored records: chosen by their id, or by their HSS as far as the latest tell."""
    wanted = settings.attribution
    if not wanted.methods:
        return 0.0
    share = wanted.share_where(extracts=settings.summarizer.kind == "textrank")
    if wanted.above_hss is None:
        return share
    known = [detail.row.hss for detail in scored if detail.row.hss is not None]
    high = sum(hss >= wanted.above_hss for hss in known) / len(known) if known else 0.0
    return share + (1 - share) * high


def _times(one: float | None, count: float | None) -> float | None:
    return None if one is None or count is None else one * count
