"""An alert, written once; `prometheus_rules` and `grafana_rules` render it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from monitor.errors import ConfigurationError
from monitor.labels import OTHER
from monitor.mixin.installation import Installation
from monitor.mixin.links import HEALTH, INCIDENT
from monitor.mixin.selectors import SERIES, checked_labels, select
from monitor.telemetry import STRATUM

JOB = ("job",)
"""What alerts about a sidecar as a whole are told apart by."""
PAGE, TICKET = "page", "ticket"
WHO = " ".join(f"{{{{ $labels.{label} }}}}" for label in STRATUM)
"""The series of an alert, in its texts."""
_VARIABLES = {INCIDENT: (*SERIES, "threshold")}
"""Variables of a dashboard that an alert's labels can set; the others know `job`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Alert:
    """One alert rule."""

    name: str
    """Also the name of its runbook."""
    group: str
    expr: str
    """Every series that it returns is an alert, whatever its value."""
    by: tuple[str, ...]
    """The labels of these series. Replicas are folded, so that two do not page twice."""
    hold: float
    """Seconds for which `expr` has to return it. 0 where the evaluator has waited already."""
    severity: str | None
    """`page`, `ticket`, or `None` where the series brings it as a label."""
    summary: str
    description: str
    """For people; both hold `{{ $labels.… }}` of `by`, and `{{ $value | … }}` of `expr`."""
    dashboard: str
    """Uid of the dashboard to look at first."""
    path: str
    """The sidecar's page to look at first: `/breaches/latest` (which leads to the breach),
    `/drift`, `/records` or `/`."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """More labels, for routing; `threshold` tells rules of the same name apart."""

    def __post_init__(self) -> None:
        named = set(re.findall(r"\$labels\.(\w+)", self.summary + self.description))
        if not named <= set(self.by):
            raise ConfigurationError(f"{self.name}: its text names {sorted(named - set(self.by))}")

    @property
    def all_labels(self) -> dict[str, str]:
        own = {} if self.severity is None else {"severity": self.severity}
        return own | dict(self.labels)

    def annotations(self, where: Installation) -> dict[str, str]:
        """What reaches the person on call; links keep to the alert's series."""
        variables = [name for name in _VARIABLES.get(self.dashboard, ("job",)) if name in self.by]
        series = [name for name in (*STRATUM, "threshold") if name in self.by]
        return {
            "summary": self.summary,
            "description": self.description,
            "runbook_url": f"{where.runbooks_url}/{self.name}.md",
            "dashboard_url": f"{where.grafana_url}/d/{self.dashboard}"
            + _query([(f"var-{name}", name) for name in variables]),
            "page_url": f"{where.public_url}{self.path}"
            + _filters(series if self.path != "/" else []),
        }


def health_alert(
    name: str,
    expr: str,
    summary: str,
    description: str,
    *,
    group: str,
    severity: str,
    hold: float,
    by: tuple[str, ...] = JOB,
    path: str = "/",
) -> Alert:
    """An alert about the sidecar itself, which the dashboard of its health shows."""
    return Alert(
        name=name,
        group=group,
        expr=expr,
        by=by,
        hold=hold,
        severity=severity,
        summary=summary,
        description=description,
        dashboard=HEALTH,
        path=path,
    )


def latest(
    name: str,
    gap: str,
    by: tuple[str, ...],
    matchers: Mapping[str, str] | None = None,
    *,
    fold: str = "max",
    **exact: str,
) -> str:
    """A gauge of the active evaluator, folded over replicas.

    It looks back over the gap while another replica takes over: an alert that resolved for a
    minute would come as a second page.

    >>> latest("hss_queue_age_seconds", "2m", ("job",))
    'max by (job) (last_over_time(hss_queue_age_seconds[2m]))'
    """
    checked_labels(name, by)
    selector = select(name, matchers, **exact)
    return f"{fold} by ({', '.join(by)}) (last_over_time({selector}[{gap}]))"


def increase(name: str, window: str, by: tuple[str, ...], **exact: str) -> str:
    """How much a counter grew, summed over replicas.

    >>> increase("hss_records_scored_total", "1h", ("job",))
    'sum by (job) (increase(hss_records_scored_total[1h]))'
    """
    checked_labels(name, by)
    return f"sum by ({', '.join(by)}) (increase({select(name, None, **exact)}[{window}]))"


def _query(parts: list[tuple[str, str]]) -> str:
    shown = [f"{key}={{{{ $labels.{label} | urlquery }}}}" for key, label in parts]
    return "?" + "&".join(shown) if shown else ""


def _filters(labels: list[str]) -> str:
    """Filters of a page. `other` stands for names that are no labels: no record has it."""
    shown = [
        f'{{{{ if ne $labels.{label} "{OTHER}" }}}}'
        f"{label}={{{{ $labels.{label} | urlquery }}}}&{{{{ end }}}}"
        for label in labels
    ]
    return "?" + "".join(shown) if shown else ""
