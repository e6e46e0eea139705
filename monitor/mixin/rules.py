"""All alerts of an installation."""

from __future__ import annotations

from monitor.mixin.alerts import Alert
from monitor.mixin.blindness_alerts import blindness_alerts
from monitor.mixin.breach_alerts import breach_alerts
from monitor.mixin.burn_rate_alerts import burn_rate_alerts
from monitor.mixin.drift_alerts import drift_alerts
from monitor.mixin.installation import Installation, duration, gap_seconds
from monitor.mixin.scoring_alerts import scoring_alerts
from monitor.settings import Settings


def alerts(settings: Settings, where: Installation) -> list[Alert]:
    """In the order in which they are written; those of a group follow each other."""
    gap = duration(gap_seconds(settings, where))
    return [
        *breach_alerts(settings.thresholds, gap=gap),
        *burn_rate_alerts(settings.thresholds, gap=gap),
        *drift_alerts(gap=gap),
        *blindness_alerts(settings, where, gap=gap),
        *scoring_alerts(settings, gap=gap),
    ]
