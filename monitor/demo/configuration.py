"""The sidecar's configuration in the demo: what a user would write, with shorter periods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitor.demo.releases import SERVICE
from monitor.demo.traffic import MODEL

EVALUATION_SECONDS = 2.0
"""From one evaluation to the next: nobody likes to wait for a verdict."""
PROMISE_DAYS = 0.01
"""A quarter of an hour between false alarms: with so few records nobody can promise a month."""
WINDOW_SECONDS = 90.0
"""As many records as a service scores in an hour elsewhere."""
MIN_RECORDS = 3
"""A slow machine, with a dozen seconds a record and four on their way, has no more in a window."""


def demo_settings(folder: Path, *, port: int, service_port: int, scorers: int) -> dict[str, Any]:
    """Everything that differs from the defaults."""
    return {
        "http": {"port": port},
        "database": {"url": f"sqlite:///{folder / 'hss-monitor.db'}"},
        "labels": {"services": [SERVICE], "models": [MODEL]},
        "storage": {"hash_key_file": str(folder / "hss-monitor.key")},
        "categories": {"default": "news"},
        "summarizer": {
            "kind": "replay",
            "replay": {
                "url": f"http://127.0.0.1:{service_port}/v1/chat/completions",
                # Traced, so that one can see the sidecar recognize and drop its own replays.
                "sampled": True,
            },
            "limits": {"requests_per_second": None, "tokens_per_day": None},
        },
        # The service is beside us and answers in milliseconds: every record can be explained. 80
        # masks give the words of the heaviest sentences values of their own; with too few only
        # whole sentences have any, and those hardly move.
        "attribution": {
            "methods": ["shap"],
            "share": 1.0,
            "perturbations": 1,
            "max_evaluations": 80,
        },
        "execution": {"scorers": scorers, "lease_seconds": 30},
        "scheduler": {"gauges_seconds": 2},
        "evaluation": {"seconds": EVALUATION_SECONDS, "lease_seconds": 10},
        "windows": {"seconds": 120},
        "drift": {
            "signals": ["hss", "raw_distance", "entity_support", "shap_instability"],
            "false_alarm_days": PROMISE_DAYS,
            "min_reference_records": 30,
            # A minute or two of traffic has no day in it.
            "cycle_hours": 0.001,
            "min_records": 10,
            "recovery_records": 15,
            "window_seconds": 300,
        },
        "thresholds": [
            _threshold(name="hss_mean", signal="hss", limit=0.8, margin=0.05, severity="page"),
            {
                **_threshold(name="hss_high_share", signal="hss", limit=0.5, margin=0.1),
                "statistic": "share_above",
                "level": {"value": 0.9},
            },
            _threshold(
                name="entity_support_low",
                signal="entity_support",
                limit=0.7,
                margin=0.1,
                comparison="below",
                severity="page",
            ),
            _threshold(name="skipped_share", signal="skipped", limit=0.5, margin=0.1),
            {
                **_threshold(name="stale", signal="minutes_unscored", limit=2, margin=0),
                "min_records": 1,
            },
        ],
    }


def _threshold(
    *,
    name: str,
    signal: str,
    limit: float,
    margin: float,
    comparison: str = "above",
    severity: str = "ticket",
) -> dict[str, Any]:
    return {
        "name": name,
        "signal": signal,
        "limit": {"value": limit},
        "margin": margin,
        "comparison": comparison,
        "severity": severity,
        "window_seconds": WINDOW_SECONDS,
        "min_records": MIN_RECORDS,
        "hold_seconds": 4,
        "calm_seconds": 5,
    }
