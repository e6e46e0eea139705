"""What a threshold would have done over stored scores: which breaches, when, by which records.

Every record counts from the moment at which it came in, as if its score had been there at
once; and the calibration of the stored scores is the one that they have today.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

import numpy as np

from monitor.breaches.configured import AGE, threshold_of
from monitor.breaches.preview import Preview, preview
from monitor.breaches.stored import records_of
from monitor.breaches.thresholds import Threshold
from monitor.breaches.window import Records
from monitor.findings import Series
from monitor.records import FloatArray
from monitor.settings import Threshold as Configured
from monitor.storage.samples import signal_sample
from monitor.storage.series import list_series
from monitor.storage.waiting import record_lives
from monitor.stores import Stores

MOMENT = timedelta(microseconds=1)

References = Callable[[Series, str], Records | None]
"""The records of the frozen reference of a signal of a series; `None` without any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The past that is walked through."""

    since: datetime
    until: datetime
    every: float
    """Seconds from one evaluation to the next."""

    @property
    def times(self) -> FloatArray:
        """Of the evaluations, in seconds since the epoch."""
        start, end = self.since.timestamp(), self.until.timestamp()
        return np.arange(start, end + self.every / 2, self.every)


@dataclass(frozen=True, kw_only=True, slots=True)
class SeriesPreview:
    """One threshold over the past of one series."""

    series: Series
    limit: float | None
    """As a number; `None` where it is a quantile of a reference that does not exist."""
    records: int
    """With a value of the signal, from one window before the span on."""
    preview: Preview


def watched_series(
    stores: Stores,
    *,
    since: datetime,
    service: str | None = None,
    model: str | None = None,
    category: str | None = None,
) -> list[Series]:
    """Series with records since then that pass the filter; each may be a shell pattern."""
    wanted = (service, model, category)
    return [
        series
        for series, _ in list_series(stores.database, since=since)
        if all(
            pattern is None or fnmatchcase(name, pattern)
            for name, pattern in zip(
                (series.service, series.model, series.category), wanted, strict=True
            )
        )
    ]


def preview_threshold(
    stores: Stores,
    configured: Configured,
    watched: list[Series],
    span: Span,
    *,
    references: References,
) -> Iterator[SeriesPreview]:
    """What the threshold would have done in each of the series that it applies to, one by one."""
    threshold = threshold_of(configured)
    for series in watched:
        if not configured.watches(series.service, series.model, series.category):
            continue
        reference = references(series, threshold.signal) if threshold.needs_reference else None
        fixed = threshold.against(reference)
        limit = fixed.limit.value
        if threshold.signal == AGE:
            fixed, stored, times = _ages(stores, fixed, series, span)
        else:
            sample = signal_sample(
                stores.database,
                series,
                threshold.signal,
                since=span.since - timedelta(seconds=threshold.window),
                until=span.until + MOMENT,
            )
            stored, times = records_of(sample), sample.times
        yield SeriesPreview(
            series=series,
            limit=limit,
            records=len(times),
            preview=preview(
                fixed,
                stored,
                times,
                since=span.since.timestamp(),
                until=span.until.timestamp(),
                every=span.every,
            ),
        )


def _ages(
    stores: Stores, threshold: Threshold, series: Series, span: Span
) -> tuple[Threshold, Records, FloatArray]:
    """One value at each evaluation instead of one a record, and a window that holds just it."""
    times = span.times
    lives = record_lives(stores.database, series, since=span.since, until=span.until + MOMENT)
    single = Records(
        values=lives.minutes_unscored(times),
        weights=np.ones(len(times)),
        ids=("",) * len(times),
    )
    return replace(threshold, window=max(span.every / 2, 1.0)), single, times
