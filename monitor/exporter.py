"""What Prometheus sees: per-record counters and histograms, and gauges computed from SQL.

Counters and histograms are fed from rows that this front took in and that reached a final
state; each row is handed over exactly once by the database, so a restart neither repeats nor
loses one. Gauges come from one snapshot that is replaced as a whole: a series that is no
longer in it vanishes instead of going stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from monitor.records import FinishedRecord
from monitor.telemetry import BY_NAME, Telemetry

STAGE_OF = {
    "hss_raw_distance": "distance",
    "hss_null_distance": "null_control",
    "hss_score": "normalize",
    "hss_entity_support": "entity_support",
    "hss_number_support": "number_support",
    "hss_content_word_precision": "content_words",
    "hss_summac": "summac",
    "hss_factcc": "factcc",
    "hss_shap_instability": "shap",
    "hss_lime_instability": "lime",
    "hss_smile_instability": "smile",
    "hss_attention_instability": "attention",
}
"""Which stage owes which histogram its value."""
_EXPLAIN = "attribute"


def count_finished(telemetry: Telemetry, row: FinishedRecord) -> None:
    """Feed one finished record into counters and histograms."""
    stratum = telemetry.labels.stratum(row.service, row.model, row.category)
    if row.state == "scored":
        telemetry.count("hss_records_scored_total", *stratum)
    else:
        telemetry.count(f"hss_records_{row.state}_total", row.reason or "internal_error")
    values = {
        "hss_score": row.hss,
        "hss_raw_distance": row.raw_distance,
        "hss_null_distance": row.null_distance,
        "hss_entity_support": row.entity_support,
        "hss_number_support": row.number_support,
        "hss_content_word_precision": row.content_word_precision,
        # Moved to [0, 1]: with values below 0 its sum could fall, which no counter may, so the
        # client leaves the sum out, and OpenMetrics then does not allow the count either.
        "hss_summac": None if row.summac is None else (row.summac + 1) / 2,
        "hss_factcc": row.factcc,
    }
    explained = {
        "hss_shap_instability": (row.shap_instability, row.shap_reason),
        "hss_lime_instability": (row.lime_instability, row.lime_reason),
        "hss_smile_instability": (row.smile_instability, row.smile_reason),
        "hss_attention_instability": (row.attention_instability, row.attention_reason),
    }
    # What was not asked for is not missing: a method that is not configured has no
    # reason, and one that the policy left out has that as its reason.
    asked = {
        name: value
        for name, (value, reason) in explained.items()
        if value is not None or reason not in {None, "not_selected"}
    }
    values |= asked
    exemplar = {"record_id": row.id[:64]}
    for name, value in values.items():
        stage = STAGE_OF[name]
        if value is None:
            telemetry.count("hss_stage_no_data_total", stage)
            continue
        telemetry.count("hss_stage_done_total", stage)
        telemetry.observe(name, value, *stratum, exemplar=exemplar)
    for stage, seconds in row.stage_seconds.items():
        telemetry.observe("hss_stage_duration_seconds", seconds, stage)
    for stage, done in _ended(row, list(asked.values())):
        telemetry.count("hss_stage_done_total" if done else "hss_stage_no_data_total", stage)
    if row.core_seconds is not None:
        telemetry.count("hss_score_core_seconds_total", by=row.core_seconds)


def _ended(row: FinishedRecord, explained: list[float | None]) -> Iterator[tuple[str, bool]]:
    """The stages that owe no histogram of their own, and whether each gave what it has to.

    A record that is not scored stopped in the last stage that it reached.
    """
    reached = [stage for stage in row.stage_seconds if stage not in STAGE_OF.values()]
    for stage in reached:
        if stage != _EXPLAIN:
            yield stage, row.state == "scored" or stage != list(row.stage_seconds)[-1]
        elif explained:
            yield stage, any(value is not None for value in explained)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One value of a gauge that is computed from SQL."""

    name: str
    labels: tuple[str, ...]
    value: float


class Snapshot(Collector):
    """The gauges of the last refresh. An empty snapshot exports nothing at all."""

    def __init__(self) -> None:
        self._samples: tuple[Sample, ...] = ()

    def replace(self, samples: Iterable[Sample]) -> None:
        """Swap in new samples; each name must be declared, with as many labels."""
        fresh = tuple(samples)
        for sample in fresh:
            if len(sample.labels) != len(BY_NAME[sample.name].labels):
                raise ValueError(f"{sample.name}: {sample.labels!r} does not fit its labels")
        self._samples = fresh

    def collect(self) -> Iterator[Metric]:
        families: dict[str, GaugeMetricFamily] = {}
        for sample in self._samples:
            declared = BY_NAME[sample.name]
            family = families.setdefault(
                sample.name,
                GaugeMetricFamily(sample.name, declared.help, labels=declared.labels),
            )
            family.add_metric(sample.labels, sample.value)
        yield from families.values()


def exposition(registry: CollectorRegistry, accept: str) -> tuple[bytes, str]:
    """(body, content type): Prometheus text, or OpenMetrics with exemplars where accepted."""
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type
