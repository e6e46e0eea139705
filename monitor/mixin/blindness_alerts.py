"""Alerts that page because the monitor sees nothing: then silence is no good news."""

from __future__ import annotations

from monitor.mixin.alerts import PAGE, TICKET, Alert, latest
from monitor.mixin.installation import Installation, duration
from monitor.mixin.links import HEALTH
from monitor.mixin.selectors import select
from monitor.settings import Settings

GROUP = "hss-blindness"
JOB = ("job",)
STALE_SECONDS = 600
"""Least age of the last evaluation that is late."""
STALE_TURNS = 10
"""So many turns without an evaluation are late, too."""
UNSCORED_SECONDS = 1800


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
    return Alert(
        name="HssSidecarDown",
        group=GROUP,
        expr=f'max by (job, instance) (up{{job="{where.job}"}}) == 0',
        by=("job", "instance"),
        hold=300,
        severity=TICKET,
        summary="Prometheus cannot scrape the sidecar {{ $labels.instance }}",
        description="{{ $labels.instance }} of {{ $labels.job }} has not answered for 5 minutes "
        "(up is {{ $value }}). What its service does is not seen meanwhile.",
        dashboard=HEALTH,
        path="/",
    )


def _no_sidecar(where: Installation) -> Alert:
    return Alert(
        name="HssNoSidecar",
        group=GROUP,
        # `absent` covers a scrape job whose targets are gone.
        expr=f'max by (job) (up{{job="{where.job}"}}) == 0\nor absent(up{{job="{where.job}"}}) - 1',
        by=JOB,
        hold=300,
        severity=PAGE,
        summary="No sidecar of {{ $labels.job }} answers",
        description="Prometheus has reached no target of {{ $labels.job }} for 5 minutes (up is "
        "{{ $value }}): nothing is watched, and no breach or drift can page.",
        dashboard=HEALTH,
        path="/",
    )


def _evaluator_missing(gap: str) -> Alert:
    active = f"sum by (job) ({select('hss_evaluator_active')})"
    evaluated = latest("hss_evaluation_timestamp_seconds", gap, JOB)
    return Alert(
        name="HssEvaluatorMissing",
        group=GROUP,
        expr=f"{active} == 0\nor {active} unless on (job) {evaluated}",
        by=JOB,
        hold=600,
        severity=PAGE,
        summary="Nobody judges drift and thresholds in {{ $labels.job }}",
        description="For 10 minutes {{ $value }} sidecars of {{ $labels.job }} were the active "
        "evaluator, and none has finished an evaluation: no breach or drift can be found, and the "
        "gauges of both are away.",
        dashboard=HEALTH,
        path="/",
    )


def _evaluation_stale(settings: Settings, gap: str) -> Alert:
    late = max(STALE_SECONDS, STALE_TURNS * settings.evaluation.seconds)
    age = f"time() - {latest('hss_evaluation_timestamp_seconds', gap, JOB)}"
    return Alert(
        name="HssEvaluationStale",
        group=GROUP,
        expr=f"{age} > {late:g}",
        by=JOB,
        hold=0,
        severity=PAGE,
        summary="Drift and thresholds are not judged in {{ $labels.job }}",
        description="The last complete evaluation of {{ $labels.job }} was "
        f"{{{{ $value | humanizeDuration }}}} ago; one is due every "
        f"{duration(settings.evaluation.seconds)}. No breach or drift can page meanwhile.",
        dashboard=HEALTH,
        path="/",
    )


def _nothing_scored(gap: str) -> Alert:
    age = latest("hss_queue_age_seconds", gap, JOB)
    scored = latest("hss_last_score_timestamp_seconds", gap, JOB)
    return Alert(
        name="HssNothingScored",
        group=GROUP,
        # `unless`, not `and`: before the first score there is no such timestamp.
        expr=f"{age} > {UNSCORED_SECONDS}\nunless on (job) time() - {scored} < {UNSCORED_SECONDS}",
        by=JOB,
        hold=300,
        severity=PAGE,
        summary="Records wait in {{ $labels.job }} and none is scored",
        description="A record of {{ $labels.job }} has waited for {{ $value | humanizeDuration }}, "
        f"and none was scored in {duration(UNSCORED_SECONDS)}: every HSS shown is old.",
        dashboard=HEALTH,
        path="/records",
    )
