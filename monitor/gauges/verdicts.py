"""Gauges about drift and thresholds.

Services, models and categories that the configuration does not name share one label set,
`other`. Then the *worst* series speaks for all of them, and every gauge of that label set is
its own: a limit beside the value of another series would be nonsense. Worst is

    drift        drifted, then suspect, stable, insufficient; then most evidence
    threshold    open, then pending, then the value that is farthest on the bad side of its limit,
                 then those without a value

and the first in alphabetical order among equals. Whoever wants to see the others names them
under `labels`; `hss_breaches_open` counts all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from math import inf, log
from typing import Any, TypeVar

from monitor.exporter import Sample
from monitor.findings import DRIFT_STATES, DriftFinding, Series, ThresholdState
from monitor.labels import LabelPolicy
from monitor.settings import Threshold

THRESHOLD_STATES = ("ok", "resolved", "pending", "open")

Found = TypeVar("Found")


def drift_samples(
    findings: Sequence[DriftFinding], labels: LabelPolicy, *, since: datetime, until: datetime
) -> list[Sample]:
    """Statistics and states of the findings of the last turn in [since, until]; those of earlier
    ones are about series that are gone, and those of later ones are from before the clock was
    set back."""
    present = _of_last_turn(findings, lambda finding: finding.evaluated_at, since, until)
    worst = _worst(
        present,
        key=lambda finding: (finding.signal, *_stratum(labels, finding.series)),
        badness=lambda finding: (DRIFT_STATES.index(finding.state), _progress(finding)),
        name=lambda finding: finding.series,
    )
    samples: list[Sample] = []
    for key, finding in worst.items():
        numbers: dict[str, float | None] = {
            "hss_drift_effect": finding.effect,
            "hss_drift_since_timestamp_seconds": (
                None if finding.since is None else finding.since.timestamp()
            ),
            "hss_drift_detected": (
                None if finding.state == "insufficient" else float(finding.state == "drifted")
            ),
        }
        samples += _known(numbers, key)
        statistics: dict[str, float | None] = {test.statistic: test.value for test in finding.tests}
        if finding.evidence is not None:
            statistics["edetector"] = _progress(finding)
        for statistic, value in statistics.items():
            samples += _known({"hss_drift_statistic": value}, (statistic, *key))
        for test in finding.tests:
            samples += _known({"hss_drift_p_value": test.adjusted_p}, (test.statistic, *key))
    return samples


def threshold_samples(
    states: Sequence[ThresholdState],
    thresholds: Sequence[Threshold],
    labels: LabelPolicy,
    *,
    since: datetime,
    until: datetime,
) -> list[Sample]:
    """Limits, values and breaches after the last turn in [since, until], of thresholds that are
    configured."""
    configured = {threshold.name: threshold for threshold in thresholds}
    present = [
        state
        for state in _of_last_turn(states, lambda state: state.evaluated_at, since, until)
        if state.threshold in configured
    ]
    worst = _worst(
        present,
        key=lambda state: (state.threshold, *_stratum(labels, state.series)),
        badness=lambda state: (
            THRESHOLD_STATES.index(state.state),
            _excess(state, configured[state.threshold].comparison),
        ),
        name=lambda state: state.series,
    )
    is_open = sum(state.state == "open" for state in present)
    samples = [Sample(name="hss_breaches_open", labels=(), value=is_open)]
    for key, state in worst.items():
        numbers: dict[str, float | None] = {
            "hss_threshold": state.limit,
            "hss_threshold_value": state.value,
            "hss_threshold_records": float(state.records),
        }
        samples += _known(numbers, key)
        if state.number > 0 or state.state != "ok" or _answered(state):
            name, *stratum = key
            samples.append(
                Sample(
                    name="hss_threshold_breach",
                    labels=(name, configured[name].severity, *stratum),
                    value=float(state.state == "open"),
                )
            )
    return samples


def _of_last_turn(
    found: Sequence[Found], at: Callable[[Found], datetime], since: datetime, until: datetime
) -> list[Found]:
    """Everything of one turn carries the same time."""
    latest = max((at(each) for each in found if since <= at(each) <= until), default=None)
    return [each for each in found if at(each) == latest]


def _worst(
    found: Iterable[Found],
    *,
    key: Callable[[Found], tuple[str, ...]],
    badness: Callable[[Found], tuple[float, ...]],
    name: Callable[[Found], Series],
) -> Mapping[tuple[str, ...], Found]:
    worst: dict[tuple[str, ...], Found] = {}
    for each in sorted(found, key=name):
        place = key(each)
        if place not in worst or badness(each) > badness(worst[place]):
            worst[place] = each
    return worst


def _stratum(labels: LabelPolicy, series: Series) -> tuple[str, str, str]:
    return labels.stratum(series.service, series.model, series.category)


def _known(numbers: Mapping[str, float | None], labels: tuple[str, ...]) -> list[Sample]:
    return [
        Sample(name=name, labels=labels, value=value)
        for name, value in numbers.items()
        if value is not None
    ]


def _progress(finding: DriftFinding) -> float:
    """log E / log c: 0 without evidence, 1 at an alarm."""
    if finding.evidence is None or finding.threshold <= 1:
        return 0.0
    return max(0.0, log(max(finding.evidence, 1.0)) / log(finding.threshold))


def _excess(state: ThresholdState, comparison: str) -> float:
    if state.value is None or state.limit is None:
        return -inf
    return (state.value - state.limit) * (1.0 if comparison == "above" else -1.0)


def _answered(state: ThresholdState) -> bool:
    """Whether any evaluation so far had an answer."""
    stored: Mapping[str, Any] = state.stored
    return state.value is not None or stored.get("value") is not None
