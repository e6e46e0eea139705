"""Series selectors that can only name metrics and labels of the registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from monitor.errors import ConfigurationError
from monitor.records import RecordState
from monitor.telemetry import BY_NAME, STRATUM, Metric

SERIES = ("job", *STRATUM)
"""What a series is told apart by; `job` comes from Prometheus, one a database."""
_PARTS = ("_bucket", "_count", "_sum")


def declared(name: str) -> Metric:
    """The metric that a series belongs to; a histogram's parts belong to it."""
    if name in BY_NAME:
        return BY_NAME[name]
    for part in _PARTS:
        metric = BY_NAME.get(name.removesuffix(part)) if name.endswith(part) else None
        if metric is not None and metric.kind == "histogram":
            return metric
    raise ConfigurationError(f"{name!r} is no metric of hss-monitor; see telemetry.METRICS")


def labels_of(name: str) -> tuple[str, ...]:
    """Its labels as Prometheus stores them, without those of the scrape."""
    return declared(name).labels + (("le",) if name.endswith("_bucket") else ())


def checked_labels(name: str, labels: Iterable[str]) -> None:
    """Raises `ConfigurationError` for a label that neither the metric nor the scrape gives."""
    known = {*labels_of(name), "job", "instance"}
    unknown = set(labels) - known
    if unknown:
        raise ConfigurationError(f"{name}: has no label {sorted(unknown)}; it has {sorted(known)}")


def select(name: str, matchers: Mapping[str, str] | None = None, **exact: str) -> str:
    """A selector; `matchers` are written as they are, `exact` compares with `=`.

    >>> select("hss_queue_records", {"job": '=~"$job"'}, state="queued")
    'hss_queue_records{job=~"$job", state="queued"}'
    """
    given = dict(matchers or {}) | {label: f'="{value}"' for label, value in exact.items()}
    checked_labels(name, given)
    inside = ", ".join(f"{label}{matcher}" for label, matcher in given.items())
    return f"{name}{{{inside}}}" if inside else name


def any_of(values: Iterable[str]) -> str:
    """A matcher for one of several values of a label.

    >>> any_of(("queued", "leased"))
    '=~"queued|leased"'
    """
    return f'=~"{"|".join(values)}"'


WAITING = any_of((RecordState.QUEUED, RecordState.LEASED))
"""States of records that are sampled and not finished."""


def rate_by(selector: str, *by: str) -> str:
    """What a counter grows by a second, summed over replicas and all labels but `by`.

    >>> rate_by("hss_records_scored_total", "service")
    'sum by (service) (rate(hss_records_scored_total[$__rate_interval]))'
    """
    head = f"sum by ({', '.join(by)}) " if by else "sum"
    return f"{head}(rate({selector}[$__rate_interval]))"


def of_dashboard(name: str, matchers: Mapping[str, str] | None = None, **exact: str) -> str:
    """A selector that follows the dashboard's variables for job and, where the metric has
    them, service, model and category.

    >>> of_dashboard("hss_breaches_open")
    'hss_breaches_open{job=~"$job"}'
    """
    own = [label for label in SERIES if label == "job" or label in labels_of(name)]
    follow = {label: f'=~"${label}"' for label in own if label not in exact}
    return select(name, follow | dict(matchers or {}), **exact)
