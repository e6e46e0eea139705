"""Sections about watching: windows, evaluation, drift and thresholds."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal

from pydantic import Field, model_validator

from monitor.settings.ranges import signal_range
from monitor.settings.section import Count, Positive, Section


class Windows(Section):
    seconds: Positive = Field(3600, description="Window of hss_window_mean and its companions.")


class Evaluation(Section):
    enabled: bool = Field(
        True,
        description="Whether this sidecar's evaluator judges drift and thresholds when it is its "
        "turn; with several sidecars on one database exactly one evaluates at a time, and that one "
        "exports the metrics computed from SQL. Where it is false everywhere, each exports them.",
    )
    seconds: Positive = Field(30, description="How often drift and thresholds are judged.")
    lease_seconds: Positive = Field(
        60, description="After so long without a sign of life another sidecar takes over."
    )

    @model_validator(mode="after")
    def _renewed(self) -> Evaluation:
        if self.lease_seconds < 2 * self.seconds:
            raise ValueError(
                f"lease_seconds {self.lease_seconds:g} must be at least twice seconds "
                f"{self.seconds:g}; a lease is renewed once a turn"
            )
        return self


DriftSignal = Literal[
    "hss",
    "raw_distance",
    "excess",
    "null_distance",
    "shap_instability",
    "entity_support",
    "summary_words",
    "document_words",
]


class Drift(Section):
    signals: tuple[DriftSignal, ...] = Field(
        (
            "hss",
            "raw_distance",
            "excess",
            "null_distance",
            "shap_instability",
            "entity_support",
            "summary_words",
            "document_words",
        ),
        description="Stored signals that are watched; each costs a share of the promise.",
    )
    false_alarm_days: Positive = Field(
        30, description="Promise: expected days between false alarms, over all series together."
    )
    delta: float = Field(
        0.02, gt=0, lt=0.5, description="Smallest change worth a page, of a signal's whole range."
    )
    window_seconds: Positive = Field(
        86_400, description="Current window that PSI, KS and Wasserstein compare."
    )
    permutations: int = Field(
        999, ge=1, le=100_000, description="Block permutations behind a p-value."
    )
    min_reference_records: Count = Field(
        200, description="Fewer reference records give no verdict (`insufficient`)."
    )
    cycle_hours: Positive = Field(
        24, description="A reference has to span so long; daily cycles are fitted within it."
    )
    min_records: Count = Field(50, description="Records before a series may be called stable.")
    recovery_records: Count = Field(
        50, description="Records inside the reference band that end an alarm."
    )
    max_series: Count = Field(
        50, description="Series (service x model x category) that are watched; busiest first."
    )

    @model_validator(mode="after")
    def _once(self) -> Drift:
        if len(set(self.signals)) < len(self.signals):
            raise ValueError("signals: name each signal once")
        return self


ThresholdSignal = Literal[
    "hss",
    "raw_distance",
    "excess",
    "null_distance",
    "observed_distance",
    "entity_support",
    "number_support",
    "content_word_precision",
    "summac",
    "factcc",
    "shap_instability",
    "lime_instability",
    "smile_instability",
    "attention_instability",
    "mean_share",
    "document_words",
    "summary_words",
    "skipped",
    "minutes_unscored",
]
"""The stored signals, and two that are about the monitor itself: `skipped` is 1 for a sampled
record that was skipped or failed and 0 for a scored one; `minutes_unscored` is the time for
which sampled records have waited without any being finished."""


class Limit(Section):
    value: float | None = Field(None, allow_inf_nan=False, description="A number.")
    reference_quantile: float | None = Field(
        None, gt=0, lt=1, description="Or the quantile of the reference records."
    )
    at_least: float | None = Field(
        None, allow_inf_nan=False, description="With a quantile: never a smaller limit than this."
    )

    @model_validator(mode="after")
    def _one(self) -> Limit:
        if (self.value is None) == (self.reference_quantile is None):
            raise ValueError("set exactly one of `value` and `reference_quantile`")
        if self.at_least is not None and self.reference_quantile is None:
            raise ValueError("`at_least` goes with `reference_quantile`")
        return self


class Threshold(Section):
    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]{0,40}$", description="Its name in metrics, pages and alerts."
    )
    signal: ThresholdSignal = Field(description="What is watched.")
    statistic: Literal["mean", "quantile", "share_above"] = Field(
        "mean", description="Of the records of the window, weighted by the sampling."
    )
    comparison: Literal["above", "below"] = Field("above", description="On which side it is bad.")
    limit: Limit = Field(description="Beyond it a breach begins.")
    quantile: float | None = Field(None, gt=0, lt=1, description="For `quantile`: which one.")
    level: Limit | None = Field(
        None, description="For `share_above`: records above it count; burn rates use it, too."
    )
    window_seconds: float = Field(3600, ge=1, le=1e9, description="Length of the window.")
    min_records: Count = Field(30, description="Fewer records give no answer.")
    hold_seconds: float = Field(
        300, ge=0, le=1e9, description="How long it must be exceeded to open."
    )
    margin: float = Field(
        0,
        ge=0,
        allow_inf_nan=False,
        description="How far on the good side an open breach must be to end ...",
    )
    calm_seconds: float = Field(600, ge=0, le=1e9, description="... and for how long.")
    severity: Literal["page", "ticket"] = Field(
        "ticket", description="Whether the alert wakes somebody."
    )
    services: tuple[str, ...] = Field((), description="Shell patterns; empty: every service.")
    models: tuple[str, ...] = Field((), description="Shell patterns; empty: every model.")
    categories: tuple[str, ...] = Field((), description="Shell patterns; empty: every category.")

    @model_validator(mode="after")
    def _consistent(self) -> Threshold:
        for key, given, statistic in (
            ("quantile", self.quantile, "quantile"),
            ("level", self.level, "share_above"),
        ):
            if given is None and self.statistic == statistic:
                raise ValueError(f"statistic {statistic!r} needs `{key}`")
            if given is not None and self.statistic != statistic:
                raise ValueError(f"`{key}` goes with statistic {statistic!r} only")
        if self.signal == "minutes_unscored" and (
            self.statistic == "share_above" or self.limit.reference_quantile is not None
        ):
            raise ValueError(
                "signal 'minutes_unscored' is one number a series: it has no share_above and "
                "no reference_quantile"
            )
        self._require_an_end()
        return self

    def _require_an_end(self) -> None:
        """Refuse a margin that reaches beyond all values of the statistic."""
        limit = self.limit.value
        if limit is None:
            return
        share = self.statistic == "share_above"
        least, most = (0.0, 1.0) if share else signal_range(self.signal)
        above = self.comparison == "above"
        room = limit - least if above else most - limit
        # 1 − 0.9 is a bit less than 0.1.
        if room >= 0 and self.margin > room + 1e-9:
            raise ValueError(
                f"margin {self.margin:g} reaches from the limit {limit:g} beyond "
                f"{least if above else most:g}, where no value of {self.signal} lies, so a breach "
                "could never end"
            )

    def watches(self, service: str, model: str, category: str) -> bool:
        """Whether it applies to a series."""
        pairs = ((service, self.services), (model, self.models), (category, self.categories))
        return all(
            not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
            for name, patterns in pairs
        )


DEFAULT_THRESHOLDS = (
    Threshold(
        name="hss_mean",
        signal="hss",
        limit=Limit(value=0.8),
        margin=0.05,
        severity="page",
    ),
    Threshold(
        name="hss_high_share",
        signal="hss",
        statistic="share_above",
        level=Limit(value=0.9),
        limit=Limit(value=0.25),
        margin=0.05,
    ),
    Threshold(
        name="entity_support_low",
        signal="entity_support",
        comparison="below",
        limit=Limit(value=0.8),
        margin=0.05,
        severity="page",
    ),
    Threshold(
        name="shap_instability_high",
        signal="shap_instability",
        limit=Limit(reference_quantile=0.95, at_least=0.1),
    ),
    Threshold(
        name="null_distance_high",
        signal="null_distance",
        limit=Limit(reference_quantile=0.99, at_least=0.05),
    ),
    Threshold(name="skipped_share", signal="skipped", limit=Limit(value=0.5), margin=0.1),
    Threshold(
        name="stale",
        signal="minutes_unscored",
        limit=Limit(value=30),
        min_records=1,
        hold_seconds=0,
        calm_seconds=60,
    ),
)
