"""Weighted means of signals over a window of time.

A record that was sampled with probability π stands for 1/π records, so a mean is Hájek's
ratio

    m = Σ w y / Σ w,   w = 1/π,

and its variance is the linearized one, with the records of one trace taken together
because they are sampled together and often repeat each other:

    V(m) = C/(C-1) · Σ_c (Σ_{i∈c} w_i (y_i - m))² / (Σ w)²,   C traces.

It speaks of the process that made the records, not of this finite set of them, so there
is no finite-population correction. Records where a signal is NULL do not enter its mean.
Source: Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), ch. 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import RowMapping

from monitor.records import RecordState
from monitor.storage.engine import Database
from monitor.storage.tables import records, scores


class Signal(StrEnum):
    """The stored numbers of a score that have a mean; the values are the column names."""

    HSS = "hss"
    RAW_DISTANCE = "raw_distance"
    EXCESS = "excess"
    NULL_DISTANCE = "null_distance"
    OBSERVED_DISTANCE = "observed_distance"
    ENTITY_SUPPORT = "entity_support"
    NUMBER_SUPPORT = "number_support"
    CONTENT_WORD_PRECISION = "content_word_precision"
    SUMMAC = "summac"
    FACTCC = "factcc"
    SHAP_INSTABILITY = "shap_instability"
    LIME_INSTABILITY = "lime_instability"
    SMILE_INSTABILITY = "smile_instability"
    ATTENTION_INSTABILITY = "attention_instability"
    SHAP_NOISE_FLOOR = "shap_noise_floor"
    LIME_NOISE_FLOOR = "lime_noise_floor"
    SMILE_NOISE_FLOOR = "smile_noise_floor"
    MEAN_SHARE = "mean_share"
    DOCUMENT_WORDS = "document_words"
    SUMMARY_WORDS = "summary_words"


OF_EXPLAINED: Final = frozenset(
    {
        Signal.SHAP_INSTABILITY,
        Signal.LIME_INSTABILITY,
        Signal.SMILE_INSTABILITY,
        Signal.ATTENTION_INSTABILITY,
        Signal.SHAP_NOISE_FLOOR,
        Signal.LIME_NOISE_FLOOR,
        Signal.SMILE_NOISE_FLOOR,
    }
)
"""Signals of explained records only: a record stands for those that the policy left out, too,
so its weight is 1/(π · attribution_probability). Attention draws nothing and has no noise floor."""


class WindowClock(StrEnum):
    """Which time of a record must lie in the window."""

    RECEIVED = "received"
    """When it came in: what happened then. Incomplete while a backlog is worked off."""
    SCORED = "scored"
    """When its score was made: what is new. Never empty while scorers work."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowMean:
    """One signal of one series over the window."""

    service: str
    model: str
    category: str
    """Empty where none was decided."""
    signal: Signal
    mean: float
    variance: float | None
    """Of the mean; None with fewer than two traces."""
    records: int
    clusters: int
    """Traces; a record without one is its own."""
    weight: float
    """Σ 1/π: how many records of the traffic these stand for."""
    first_scored_at: datetime
    last_scored_at: datetime


# Parts of a query column's name; signals have no double underscore in theirs.
_PARTS: Final = ("a", "b", "aa", "ab", "bb", "n", "c", "first", "last")


def window_means(
    database: Database,
    *,
    since: datetime,
    until: datetime,
    by: WindowClock = WindowClock.RECEIVED,
    signals: tuple[Signal, ...] = tuple(Signal),
) -> list[WindowMean]:
    """Means of every service × model × category over [since, until), by series and signal.

    Signals without a value in a series are left out. One pass over the window, reached
    through an index on its clock.
    """
    column = records.c.received_at if by is WindowClock.RECEIVED else scores.c.scored_at
    series = (
        records.c.service.label("service"),
        records.c.model.label("model"),
        sa.func.coalesce(records.c.category, "").label("category"),
    )
    traces = (
        sa.select(*series, *(part for signal in signals for part in _trace_sums(signal)))
        .select_from(records.join(scores))
        .where(records.c.state == RecordState.SCORED, column >= since, column < until)
        .group_by(*series, sa.func.coalesce(records.c.trace_id, records.c.id))
        .subquery()
    )
    names = (traces.c.service, traces.c.model, traces.c.category)
    statement = (
        sa.select(*names, *(part for signal in signals for part in _series_sums(traces, signal)))
        .group_by(*names)
        .order_by(*names)
    )
    with database.read() as connection:
        rows = connection.execute(statement).mappings().all()
    return [_mean(row, signal) for row in rows for signal in signals if row[f"{signal}__n"]]


def _trace_sums(signal: Signal) -> list[sa.ColumnElement[Any]]:
    """Within one trace: Σ w y, Σ w, and how many records have the signal."""
    value: sa.ColumnElement[Any] = scores.c[signal.value]
    weight: sa.ColumnElement[Any] = 1.0 / records.c.probability
    if signal in OF_EXPLAINED:
        weight = weight / scores.c.attribution_probability
    present = value.is_not(None)
    return [
        sa.func.sum(weight * value).label(f"{signal}__a"),
        sa.func.sum(sa.case((present, weight))).label(f"{signal}__b"),
        sa.func.count(value).label(f"{signal}__n"),
        sa.func.min(sa.case((present, scores.c.scored_at))).label(f"{signal}__first"),
        sa.func.max(sa.case((present, scores.c.scored_at))).label(f"{signal}__last"),
    ]


def _series_sums(traces: sa.Subquery, signal: Signal) -> list[sa.ColumnElement[Any]]:
    """Over the traces of a series: what mean and variance are made of."""
    a, b = traces.c[f"{signal}__a"], traces.c[f"{signal}__b"]
    sums = {"a": a, "b": b, "aa": a * a, "ab": a * b, "bb": b * b, "n": traces.c[f"{signal}__n"]}
    return [
        *(sa.func.sum(value).label(f"{signal}__{name}") for name, value in sums.items()),
        sa.func.count(b).label(f"{signal}__c"),
        sa.func.min(traces.c[f"{signal}__first"]).label(f"{signal}__first"),
        sa.func.max(traces.c[f"{signal}__last"]).label(f"{signal}__last"),
    ]


def _mean(row: RowMapping, signal: Signal) -> WindowMean:
    a, b, aa, ab, bb, n, c, first, last = (row[f"{signal}__{part}"] for part in _PARTS)
    mean = a / b
    # Σ (A_c - m B_c)², multiplied out; rounding may leave it just below zero.
    spread = max(0.0, aa - 2 * mean * ab + mean * mean * bb)
    return WindowMean(
        service=row["service"],
        model=row["model"],
        category=row["category"],
        signal=signal,
        mean=mean,
        variance=c / (c - 1) * spread / b**2 if c > 1 else None,
        records=int(n),
        clusters=int(c),
        weight=b,
        first_scored_at=first,
        last_scored_at=last,
    )
