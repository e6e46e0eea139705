"""The evidence that an alarm takes, from the promise for the whole installation.

With ARL_i ≥ c_i records between the false alarms of detector i, and n_i records that it is
expected to see in the promised time T, the expected number of false alarms in T is about

    Σ_i n_i / ARL_i ≤ Σ_i n_i / c_i,

and c_i = (series × signals × directions) · n_i makes that at most 1: the expected time between
false alarms, over everything that is watched, is at least T. So a busy series has a higher
threshold than a quiet one, in proportion to its records; both then alarm equally seldom by the
clock.

n_i is the greater of two rates times T: that of the reference, which is known beforehand, and
that of the recent past, because traffic grows. Both are known before the next record, as the
test needs it.

`LEAST` is a floor. By the bound a series with few records could do with less, but the bound is
one on the mean, under assumptions; false alarms and delays were measured at c = 10,000, nothing
below is known to behave. It costs a quiet series a few records of delay: evidence against
the reference grows exponentially, and the last factor of ten is the quickest.
"""

from __future__ import annotations

from monitor.drift.edetector import alarm_threshold
from monitor.drift.reference import Reference

LEAST = 10_000.0
DAY = 86_400.0


def records_expected(
    reference: Reference, *, recent: int, recent_seconds: float, days: float
) -> float:
    """Records of one series in `days`, by the greater of its reference rate and its recent one.

    `recent` records were received in the last `recent_seconds`.
    """
    span = reference.until - reference.since
    rates = [recent / recent_seconds, reference.records / span if span > 0 else 0.0]
    return max(rates) * days * DAY


def evidence_needed(*, series: int, signals: int, records: float) -> float:
    """c: the promise for what is watched together, never less than `LEAST`.

    >>> evidence_needed(series=1, signals=8, records=100), LEAST
    (10000.0, 10000.0)
    >>> evidence_needed(series=3, signals=8, records=3600)
    345600.0
    """
    if records <= 0:
        return LEAST
    return max(alarm_threshold(series=series, signals=signals, records=records), LEAST)
