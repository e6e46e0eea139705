"""One alert for every configured threshold, named by what its signal is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.durations import duration
from monitor.mixin.alerts import WHO, Alert, latest
from monitor.mixin.links import INCIDENT
from monitor.mixin.selectors import SERIES
from monitor.settings import Threshold
from monitor.settings.rule import rule

GROUP = "hss-breaches"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """What a group of signals is about: each has a runbook of its own."""

    name: str
    summary: str
    signals: frozenset[str]


KINDS = (
    _Kind(
        name="HssSeverityBreach",
        summary="Summaries change too much when their documents are reworded",
        signals=frozenset({"hss", "raw_distance", "excess", "observed_distance"}),
    ),
    _Kind(
        name="HssSupportBreach",
        summary="Summaries say what their documents do not hold",
        signals=frozenset(
            {"entity_support", "number_support", "content_word_precision", "summac", "factcc"}
        ),
    ),
    _Kind(
        name="HssInstabilityBreach",
        summary="The model's attributions move too much under rewording",
        signals=frozenset(
            {"shap_instability", "lime_instability", "smile_instability", "attention_instability"}
        ),
    ),
    _Kind(
        name="HssServingNoiseBreach",
        summary="The service answers the same request differently",
        signals=frozenset({"null_distance"}),
    ),
    _Kind(
        name="HssInputBreach",
        summary="The documents or the lengths of summaries have changed",
        signals=frozenset({"document_words", "summary_words", "mean_share"}),
    ),
    _Kind(
        name="HssSkippedBreach",
        summary="Too many sampled records are not scored",
        signals=frozenset({"skipped"}),
    ),
    _Kind(
        name="HssUnscoredBreach",
        summary="Sampled records wait and none is scored",
        signals=frozenset({"minutes_unscored"}),
    ),
)
OTHER_NAME = "HssOtherBreach"


def breach_alerts(thresholds: Sequence[Threshold], *, gap: str) -> list[Alert]:
    """An alert a threshold, and one for thresholds that were configured afterwards."""
    return [*(_alert(threshold, gap) for threshold in thresholds), _others(thresholds, gap)]


def _alert(threshold: Threshold, gap: str) -> Alert:
    kind = next(kind for kind in KINDS if threshold.signal in kind.signals)
    by = (*SERIES, "threshold")
    value, breach = (
        latest(name, gap, by, threshold=threshold.name)
        for name in ("hss_threshold_value", "hss_threshold_breach")
    )
    return Alert(
        name=kind.name,
        group=GROUP,
        # A breach stays open while there are too few records for a value: NaN says so.
        expr=f"({value}\nor ({breach} == 1) * NaN)\nand {breach} == 1",
        by=by,
        hold=0,
        severity=threshold.severity,
        summary=f"{kind.summary}: {WHO}",
        description=f"Breach of {threshold.name} ({rule(threshold)}): it is "
        f"{{{{ $value | humanize }}}} for {WHO}; NaN: no value now. It ends after "
        f"{duration(threshold.calm_seconds)} on the good side.",
        dashboard=INCIDENT,
        path="/breaches/latest",
        labels={"signal": threshold.signal, "threshold": threshold.name},
    )


def _others(thresholds: Sequence[Threshold], gap: str) -> Alert:
    known = "|".join(threshold.name for threshold in thresholds)
    by = (*SERIES, "threshold", "severity")
    breach = latest("hss_threshold_breach", gap, by, {"threshold": f'!~"{known}"'})
    return Alert(
        name=OTHER_NAME,
        group=GROUP,
        expr=f"{breach} == 1",
        by=by,
        hold=0,
        severity=None,
        summary=f"Breach of {{{{ $labels.threshold }}}}: {WHO}",
        description=f"A breach of {{{{ $labels.threshold }}}} is open for {WHO}. This threshold "
        "was configured after these rules were written, so they do not know what it watches: "
        "write them again with `hss-monitor mixin write`.",
        dashboard=INCIDENT,
        path="/breaches/latest",
    )
