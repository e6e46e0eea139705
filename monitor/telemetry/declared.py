"""Every metric that hss-monitor exposes, in the order of the reference page."""

from __future__ import annotations

from monitor.telemetry.judging import JUDGING
from monitor.telemetry.metric import Metric
from monitor.telemetry.scoring import SCORING
from monitor.telemetry.serving import SERVING
from monitor.telemetry.standing import STANDING

METRICS: tuple[Metric, ...] = (*SCORING, *SERVING, *JUDGING, *STANDING)
BY_NAME = {metric.name: metric for metric in METRICS}
