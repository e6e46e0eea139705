"""Alerts that page because the monitor sees nothing: then silence is no good news."""

from __future__ import annotations

from monitor.mixin.alerts import JOB, PAGE, TICKET, Alert, health_alert, latest
from monitor.mixin.installation import Installation, duration
from monitor.mixin.lateness import EVALUATION_SECONDS, EVALUATION_TURNS, UNSCORED_SECONDS
from monitor.mixin.selectors import select
from monitor.settings import Settings

GROUP = "hss-blindness"


def blindness_alerts(settings: Settings, where: Installation, *, gap: str) -> list[Alert]:
    """Without an evaluator by intention, nobody is told that there is none."""
    evaluator = [_evaluator_missing(gap), _evaluation_stale(settings, gap)]
    return [
        _sidecar_down(where),
        _no_sidecar(where),
        *(evaluator if settings.evaluation.enabled else []),
        _nothing_scored(gap),
    ]


def _sidecar_down(where: Installation) -> Alert:
    return health_alert(
        "HssSidecarDown",
        f'max by (job, instance) (up{{job="{where.job}"}}) == 0',
        "Prometheus cannot scrape the sidecar {{ $labels.instance }}",
        "{{ $labels.instance }} of {{ $labels.job }} has not answered for 5 minutes "
        "(up is {{ $value }}). What its service does is not seen meanwhile.",
        group=GROUP,
        by=("job", "instance"),
        hold=300,
        severity=TICKET,
    )


def _no_sidecar(where: Installation) -> Alert:
    return health_alert(
        "HssNoSidecar",
        # `absent` covers a scrape job whose targets are gone.
        f'max by (job) (up{{job="{where.job}"}}) == 0\nor absent(up{{job="{where.job}"}}) - 1',
        "No sidecar of {{ $labels.job }} answers",
        "Prometheus has reached no target of {{ $labels.job }} for 5 minutes (up is "
        "{{ $value }}): nothing is watched, and no breach or drift can page.",
        group=GROUP,
        hold=300,
        severity=PAGE,
    )


def _evaluator_missing(gap: str) -> Alert:
    active = f"sum by (job) ({select('hss_evaluator_active')})"
    evaluated = latest("hss_evaluation_timestamp_seconds", gap, JOB)
    return health_alert(
        "HssEvaluatorMissing",
        f"{active} == 0\nor {active} unless on (job) {evaluated}",
        "Nobody judges drift and thresholds in {{ $labels.job }}",
        "For 10 minutes {{ $value }} sidecars of {{ $labels.job }} were the active "
        "evaluator, and none has finished an evaluation: no breach or drift can be found, and the "
        "gauges of both are away.",
        group=GROUP,
        hold=600,
        severity=PAGE,
    )


def _evaluation_stale(settings: Settings, gap: str) -> Alert:
    late = max(EVALUATION_SECONDS, EVALUATION_TURNS * settings.evaluation.seconds)
    age = f"time() - {latest('hss_evaluation_timestamp_seconds', gap, JOB)}"
    return health_alert(
        "HssEvaluationStale",
        f"{age} > {late:g}",
        "Drift and thresholds are not judged in {{ $labels.job }}",
        "The last complete evaluation of {{ $labels.job }} was "
        f"{{{{ $value | humanizeDuration }}}} ago; one is due every "
        f"{duration(settings.evaluation.seconds)}. No breach or drift can page meanwhile.",
        group=GROUP,
        hold=0,
        severity=PAGE,
    )


def _nothing_scored(gap: str) -> Alert:
    age = latest("hss_queue_age_seconds", gap, JOB)
    scored = latest("hss_last_score_timestamp_seconds", gap, JOB)
    return health_alert(
        "HssNothingScored",
        # `unless`, not `and`: before the first score there is no such timestamp.
        f"{age} > {UNSCORED_SECONDS}\nunless on (job) time() - {scored} < {UNSCORED_SECONDS}",
        "Records wait in {{ $labels.job }} and none is scored",
        "A record of {{ $labels.job }} has waited for {{ $value | humanizeDuration }}, "
        f"and none was scored in {duration(UNSCORED_SECONDS)}: every HSS shown is old.",
        group=GROUP,
        hold=300,
        severity=PAGE,
        path="/records",
    )
