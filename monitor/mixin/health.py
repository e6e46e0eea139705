"""The sidecar's own health: does it see everything, in time, and at which cost."""

from __future__ import annotations

from monitor.mixin import work_panels as work
from monitor.mixin.colours import JUST_ONE_IS_GOOD, NONE_IS_BAD, late
from monitor.mixin.dashboards import (
    Dashboard,
    Row,
    constant_variable,
    datasource_variable,
    label_variable,
)
from monitor.mixin.installation import Installation
from monitor.mixin.lateness import UNSCORED_SECONDS, WAITING_SECONDS
from monitor.mixin.links import HEALTH
from monitor.mixin.panel_kinds import stat, table, time_series
from monitor.mixin.panels import Panel, Query, Step, Unit
from monitor.mixin.verdict_panels import evaluator_age
from monitor.mixin.work_panels import lines, of_job


def dashboard(where: Installation) -> Dashboard:
    """The dashboard `hss-health`."""
    return Dashboard(
        uid=HEALTH,
        title="HSS / Sidecar health",
        description="Ingest, queue, scorers, evaluator and cost of the monitor itself.",
        variables=(
            datasource_variable(),
            label_variable("job", "Scrape job", "hss_build_info", everything=False),
            constant_variable("public_url", "Address of the sidecar's pages", where.public_url),
        ),
        rows=(
            Row(
                title="Now",
                panels=(
                    _scorers(),
                    _evaluators(),
                    evaluator_age(),
                    _score_age(),
                    _queue_age_now(),
                    _budget_now(),
                ),
            ),
            Row(
                title="Queue",
                panels=(work.queue(), work.queue_age(), work.finished(), work.restarts()),
            ),
            Row(
                title="What is not scored",
                panels=(work.skipped(), work.failed(), work.rejected(), work.own()),
            ),
            Row(
                title="Stages",
                panels=(work.durations(), work.core_seconds(), work.done(), work.nothing()),
            ),
            Row(title="Sampling and budget", panels=(_budget(), _rates())),
            Row(title="Jobs and replicas", panels=(_jobs(), _active(), _normalizer(), _versions())),
        ),
    )


def _stat(title: str, description: str, expr: str, unit: Unit, steps: tuple[Step, ...]) -> Panel:
    return stat(title, description, Query(expr=expr, legend=title.lower()), unit=unit, steps=steps)


def _scorers() -> Panel:
    return _stat(
        "Scorers running",
        "Scorer processes that are alive, over all replicas. 0 where scorers run elsewhere.",
        f"sum({of_job('hss_scorers_running')})",
        Unit.COUNT,
        NONE_IS_BAD,
    )


def _evaluators() -> Panel:
    return _stat(
        "Active evaluators",
        "Replicas that judge drift and thresholds. Exactly 1 a database.",
        f"sum({of_job('hss_evaluator_active')})",
        Unit.COUNT,
        JUST_ONE_IS_GOOD,
    )


def _score_age() -> Panel:
    return _stat(
        "Last score",
        "How long ago a record was scored.",
        f"time() - max({of_job('hss_last_score_timestamp_seconds')})",
        Unit.SECONDS,
        (),
    )


def _queue_age_now() -> Panel:
    return _stat(
        "Oldest waiting record",
        "Age of the oldest record that waits to be scored.",
        f"max({of_job('hss_queue_age_seconds')})",
        Unit.SECONDS,
        late(orange=WAITING_SECONDS, red=UNSCORED_SECONDS),
    )


def _budget_now() -> Panel:
    return stat(
        "Budget left",
        "Share of this epoch's scoring budget. It is meant to come close to 0 at an epoch's end.",
        Query(expr=f"min({of_job('hss_budget_remaining_ratio')})", legend="budget left"),
        unit=Unit.SHARE,
        empty="no budget",
    )


def _budget() -> Panel:
    return lines(
        "Budget left in the epoch",
        "Saw teeth that reach 0 just before an epoch ends are right; flat at 0 is too much "
        "traffic for the budget.",
        f"max({of_job('hss_budget_remaining_ratio')})",
        "left",
        unit=Unit.SHARE,
        high=1,
    )


def _rates() -> Panel:
    rates = of_job("hss_sampling_rate_ratio")
    return time_series(
        "Sampling rate by service",
        "The lowest and the highest rate of a service's strata in this epoch.",
        *(
            Query(expr=f"{which} by (service) ({rates})", legend=f"{which} {{{{service}}}}")
            for which in ("min", "max")
        ),
        unit=Unit.SHARE,
        low=0,
        high=1,
    )


def _jobs() -> Panel:
    return lines(
        "Scheduled jobs that failed",
        "Failed runs of a front's periodic work in an hour.",
        f"sum by (task) (increase({of_job('hss_job_runs_total', outcome='failed')}[1h]))",
        "{{task}}",
        unit=Unit.COUNT,
    )


def _active() -> Panel:
    return lines(
        "Evaluator by replica",
        "1 on the replica that judges drift and thresholds.",
        f"max by (instance) ({of_job('hss_evaluator_active')})",
        "{{instance}}",
        unit=Unit.NONE,
    )


def _normalizer() -> Panel:
    return table(
        "Normalizers in force",
        "M_c of the active calibration; without a category: pooled. `provisional` ones came with "
        "the product and were not measured on this traffic.",
        Query(
            expr=f"max by (category, provisional) ({of_job('hss_normalizer')})",
            legend="{{category}}",
            instant=True,
        ),
        unit=Unit.NONE,
        value="M_c",
        width=12,
    )


def _versions() -> Panel:
    return table(
        "Versions",
        "Version of each replica.",
        Query(
            expr=f"max by (instance, version) ({of_job('hss_build_info')})",
            legend="{{instance}}",
            instant=True,
        ),
        unit=Unit.NONE,
        value="up",
        width=12,
    )
