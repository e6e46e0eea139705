"""Multi-window burn-rate alerts on thresholds of the kind `share_above`.

The limit of such a threshold is a budget: the share of records that may lie beyond the level.
The burn rate is the share that does, over the budget, and an alert needs it to be high over a
long window (it matters) and over a short one (it still goes on):

    share(w) = Σ_w exceeded weight / Σ_w weight,   weight = 1/π
    b        = min(factor · budget, (1 + budget) / 2)
    alert  ⇔  share(long) > b  and  share(short) > b
              and  records(long) ≥ min_records  and  bad records(long) ≥ max(4, min_records / 3)

Factors are those of the SRE Workbook for a budget of 30 days (ch. 5: 14.4 spends 2 % of it in
an hour). A budget of a quarter can never burn 14.4 times as fast, as no share is above 1: there
b lies halfway between the budget and 1. Records are counted there, not weighed: three records
that each stand for a hundred are still three, and never page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.mixin.alerts import TICKET, WHO, Alert, increase, latest
from monitor.mixin.links import INCIDENT
from monitor.mixin.selectors import SERIES, select
from monitor.settings import Threshold

GROUP = "hss-burn-rates"
BY = (*SERIES, "threshold")
LEAST_BAD = 4
"""So few records say nothing, whatever `min_records` is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Windows:
    """A pair of windows that are looked at together."""

    long: str
    short: str
    factor: float


FAST = (
    Windows(long="1h", short="5m", factor=14.4),
    Windows(long="6h", short="30m", factor=6),
)
SLOW = (
    Windows(long="1d", short="2h", factor=3),
    Windows(long="3d", short="6h", factor=1),
)


def burn_rate_alerts(thresholds: Sequence[Threshold], *, gap: str) -> list[Alert]:
    """A fast one of the threshold's severity, and a slow one that is always a ticket."""
    return [
        alert
        for threshold in thresholds
        if threshold.statistic == "share_above"
        for alert in (
            _alert("HssBurnRateFast", threshold, FAST, threshold.severity, gap),
            _alert("HssBurnRateSlow", threshold, SLOW, TICKET, gap),
        )
    ]


def _alert(
    name: str, threshold: Threshold, pairs: Sequence[Windows], severity: str, gap: str
) -> Alert:
    pages = "\nor\n".join(_burning(threshold, pair, gap) for pair in pairs)
    windows = " or ".join(f"{pair.long} and {pair.short}" for pair in pairs)
    side = "above" if threshold.comparison == "above" else "not above"
    return Alert(
        name=name,
        group=GROUP,
        expr=pages,
        by=BY,
        hold=0,
        severity=severity,
        summary=f"The budget of {{{{ $labels.threshold }}}} burns too fast: {WHO}",
        description=f"{{{{ $value | humanizePercentage }}}} of the records have {threshold.signal} "
        f"{side} the level of {{{{ $labels.threshold }}}}, over {windows}, with at least "
        f"{threshold.min_records} records ({WHO}).",
        dashboard=INCIDENT,
        path="/records",
        labels={"signal": threshold.signal, "threshold": threshold.name},
    )


def _burning(threshold: Threshold, pair: Windows, gap: str) -> str:
    limit = latest("hss_threshold", gap, BY, threshold=threshold.name)
    budget = limit if threshold.comparison == "above" else f"(1 - {limit})"
    # The lesser of two: the first where it is less, else the second.
    bound = f"({pair.factor:g} * {budget} < (1 + {budget}) / 2\nor (1 + {budget}) / 2)"
    observed, bad = _counted(threshold, pair.long)
    least_bad = max(LEAST_BAD, math.ceil(threshold.min_records / 3))
    return (
        f"({_share(threshold, pair.long)}\n> {bound}\n"
        f"and {_share(threshold, pair.short)}\n> {bound}\n"
        f"and {observed} >= {threshold.min_records}\n"
        f"and {bad} >= {least_bad})"
    )


def _share(threshold: Threshold, window: str) -> str:
    beyond, all_ = (
        f"sum by ({', '.join(BY)}) (rate({select(name, threshold=threshold.name)}[{window}]))"
        for name in ("hss_threshold_exceeded_weight_total", "hss_threshold_weight_total")
    )
    return f"{beyond} / {all_}" if threshold.comparison == "above" else f"1 - {beyond} / {all_}"


def _counted(threshold: Threshold, window: str) -> tuple[str, str]:
    """Records, and those on the bad side of the level, each counted once."""
    observed, exceeded = (
        increase(f"hss_threshold_{what}_total", window, BY, threshold=threshold.name)
        for what in ("observed", "exceeded")
    )
    bad = exceeded if threshold.comparison == "above" else f"({observed} - {exceeded})"
    return observed, bad
