"""Alerts on drift from the frozen reference.

The detector's promise on false alarms is made for the whole installation, so these alerts add
no waiting of their own. A page needs a change to the bad side in what people are told about a
summary; any other change (for the better, in spread, in the traffic) is a ticket.
"""

from __future__ import annotations

from monitor.mixin.alerts import PAGE, TICKET, WHO, Alert, latest
from monitor.mixin.links import INCIDENT
from monitor.mixin.selectors import SERIES, any_of

GROUP = "hss-drift"
BY = (*SERIES, "signal")
BAD_WHEN_HIGHER = ("hss", "raw_distance", "excess")
BAD_WHEN_LOWER = ("entity_support",)


def drift_alerts(*, gap: str) -> list[Alert]:
    """One for a change to the bad side, one for every other change."""
    drifted = f"{latest('hss_drift_detected', gap, BY)} == 1"
    worse = "\nor\n".join(
        f"{latest('hss_drift_effect', gap, BY, {'signal': any_of(signals)})} {side} 0"
        for signals, side in ((BAD_WHEN_HIGHER, ">"), (BAD_WHEN_LOWER, "<"))
    )
    return [
        Alert(
            name="HssDriftWorse",
            group=GROUP,
            expr=f"(\n{worse}\n)\nand {drifted}",
            by=BY,
            hold=0,
            severity=PAGE,
            summary=f"{{{{ $labels.signal }}}} has become worse: {WHO}",
            description="{{ $labels.signal }} has moved by {{ $value | humanize }} from its frozen "
            f"reference, to the bad side ({WHO}). `hss-monitor drift show` tells since when, and "
            "which other signals moved.",
            dashboard=INCIDENT,
            path="/drift",
        ),
        Alert(
            name="HssDrift",
            group=GROUP,
            expr=f"{drifted}\nunless (\n{worse}\n)",
            by=BY,
            hold=0,
            severity=TICKET,
            summary=f"{{{{ $labels.signal }}}} has changed: {WHO}",
            description="{{ $labels.signal }} is no longer as in its frozen reference "
            f"({WHO}; 1 means drifted: {{{{ $value | humanize }}}}). `hss-monitor drift show` "
            "tells since when and in which direction. An intended change needs a new calibration.",
            dashboard=INCIDENT,
            path="/drift",
        ),
    ]
