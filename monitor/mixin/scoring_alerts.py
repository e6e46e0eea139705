"""Tickets about the work of scoring: its queue, its scorers, its budget and its front."""

from __future__ import annotations

from functools import partial

from monitor.mixin.alerts import JOB, TICKET, Alert, health_alert, increase, latest
from monitor.mixin.installation import duration
from monitor.mixin.lateness import WAITING_SECONDS
from monitor.mixin.selectors import WAITING, select
from monitor.settings import Settings

GROUP = "hss-scoring"
FULL = 0.8
"""Of `http.backlog_limit`, above which ingest answers 503."""
LEAST_RECORDS = 20
"""In an hour; of fewer, no share is judged."""
FAILING = 0.1
"""Share of the records that became final in an hour."""
RESTARTS = 3
"""Of scorers in an hour: more do not come from a single bad record."""
REFUSALS = 20
"""Requests refused in 15 minutes with the same status."""
BUDGET_SECONDS = 1800
"""Least stretch over which the rest of the budget is averaged."""
BUDGET_LEFT = 0.1
"""Share of an epoch's budget: with less on average, the sampling rates do not follow."""
FAILED_RUNS = 3
"""Of the same periodic work in 15 minutes."""
RARE_RUNS = 2.5
"""Of the longest period: within so many everything has run twice."""

_ticket = partial(health_alert, group=GROUP, severity=TICKET)


def scoring_alerts(settings: Settings, *, gap: str) -> list[Alert]:
    scorers = [_scorers_down(gap), _scorers_restarting()]
    return [
        _backlog(settings, gap),
        _everything_skipped(),
        _failing(),
        # Scorers that run elsewhere are not counted by any front.
        *(scorers if settings.execution.backend == "local" else []),
        _budget(settings),
        _refused(),
        _jobs(settings),
    ]


def _backlog(settings: Settings, gap: str) -> Alert:
    queued = latest("hss_queue_records", gap, JOB, state="queued")
    earlier = f"max by (job) ({select('hss_queue_records', state='queued')} offset 1h)"
    age = latest("hss_queue_age_seconds", gap, JOB)
    limit = settings.http.backlog_limit
    # The oldest are scored first: once they are so late, nothing of a window has its score.
    blind = min(
        (each.window_seconds for each in settings.thresholds if each.signal != "minutes_unscored"),
        default=None,
    )
    late = told = ""
    if blind is not None:
        late = f"\nor ({queued}\nand on (job) {age} > {blind:g})"
        told = (
            f", or the oldest has waited for more than {duration(blind)}, the window of a "
            "threshold that sees no score then"
        )
    return _ticket(
        "HssBacklogGrowing",
        f"({queued} > 1.1 * {earlier}\nand on (job) {age} > {WAITING_SECONDS})\n"
        f"or {queued} > {FULL * limit:.0f}{late}",
        "The queue of {{ $labels.job }} is too long",
        "{{ $value | humanize }} records wait in {{ $labels.job }}: more than 10 % above an hour "
        f"ago while the oldest has waited over {duration(WAITING_SECONDS)}, or over {FULL:.0%} of "
        f"http.backlog_limit ({limit}), above which ingest refuses records{told}.",
        hold=900,
        path="/records",
    )


def _everything_skipped() -> Alert:
    skipped = increase("hss_records_skipped_total", "1h", JOB)
    scored = increase("hss_records_scored_total", "1h", JOB)
    return _ticket(
        "HssEverythingSkipped",
        f"{skipped} >= {LEAST_RECORDS}\nunless on (job) {scored} > 0",
        "Nothing that reaches {{ $labels.job }} is scored",
        "{{ $value | humanize }} records were skipped in an hour and none was scored in "
        "{{ $labels.job }}. The reasons are on the dashboard; `hss-monitor doctor` names the "
        "remedy.",
        hold=600,
        path="/records",
    )


def _failing() -> Alert:
    failed = increase("hss_records_failed_total", "1h", JOB)
    scored = increase("hss_records_scored_total", "1h", JOB)
    # A counter that has not counted yet does not exist: then all that is final failed.
    final = f"({failed} + {scored}\nor {failed})"
    return _ticket(
        "HssRecordsFailing",
        f"{failed} / on (job) {final} > {FAILING:g}\nand on (job) {final} >= {LEAST_RECORDS}",
        "Records of {{ $labels.job }} fail",
        "{{ $value | humanizePercentage }} of the records that were worked on in an hour failed "
        "in {{ $labels.job }}: the summarizer does not answer, or a scorer dies on them.",
        hold=600,
        path="/records",
    )


def _scorers_down(gap: str) -> Alert:
    waiting = latest("hss_queue_records", gap, JOB, {"state": WAITING})
    return _ticket(
        "HssScorersDown",
        f"sum by (job) ({select('hss_scorers_running')}) == 0\nand on (job) {waiting} > 0",
        "No scorer of {{ $labels.job }} runs",
        "{{ $value }} scorers run in {{ $labels.job }} and records wait: they were killed, or "
        "cannot start.",
        hold=300,
    )


def _scorers_restarting() -> Alert:
    return _ticket(
        "HssScorersRestarting",
        f"{increase('hss_scorer_restarts_total', '1h', JOB)} > {RESTARTS}",
        "Scorers of {{ $labels.job }} die again and again",
        "Scorers of {{ $labels.job }} died and were started again {{ $value | humanize }} times "
        "in an hour, mostly for lack of memory.",
        hold=0,
    )


def _budget(settings: Settings) -> Alert:
    epochs = settings.sampling.budget.epoch_seconds
    window = duration(max(BUDGET_SECONDS, 6 * epochs))
    left = select("hss_budget_remaining_ratio")
    return _ticket(
        "HssBudgetExhausted",
        # On average over epochs: at the end of each the budget is meant to be used up.
        f"max by (job) (avg_over_time({left}[{window}])) < {BUDGET_LEFT:g}",
        "The scoring budget of {{ $labels.job }} does not suffice",
        f"On average over {window} {{{{ $value | humanizePercentage }}}} of the epoch's budget was "
        "left in {{ $labels.job }}: traffic grows faster than the sampling rates follow, or the "
        "budget is too small. Scores go on; means rest on fewer records.",
        hold=0,
    )


def _refused() -> Alert:
    return _ticket(
        "HssIngestRejecting",
        f"{increase('hss_ingest_rejected_total', '15m', ('job', 'status'))} > {REFUSALS}",
        "Ingest of {{ $labels.job }} refuses requests with {{ $labels.status }}",
        "{{ $value | humanize }} requests were refused with {{ $labels.status }} in 15 minutes in "
        "{{ $labels.job }}: what was in them is not watched.",
        hold=600,
        by=("job", "status"),
    )


def _jobs(settings: Settings) -> Alert:
    by, periods = ("job", "task"), settings.scheduler
    longest = max(
        periods.retention_seconds,
        periods.gauges_seconds,
        periods.supervise_seconds,
        settings.ingest.tail.poll_seconds,
    )
    window = duration(RARE_RUNS * longest)
    failed = increase("hss_job_runs_total", "15m", by, outcome="failed")
    failed_rarely, done = (
        increase("hss_job_runs_total", window, by, outcome=outcome)
        for outcome in ("failed", "done")
    )
    return _ticket(
        "HssJobFailing",
        # What runs once an hour cannot fail three times in 15 minutes.
        f"{failed} > {FAILED_RUNS}\n"
        f"or ({failed_rarely} >= 2\nunless on ({', '.join(by)}) {done} > 0)",
        "The periodic work {{ $labels.task }} of {{ $labels.job }} fails",
        "{{ $labels.task }} failed {{ $value | humanize }} times in 15 minutes in "
        f"{{{{ $labels.job }}}}, or whenever it ran in {window}; the log of the sidecar tells why.",
        hold=300,
        by=by,
    )
