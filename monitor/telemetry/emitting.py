"""Counters, histograms and process gauges of one front, made of their declarations."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from monitor.labels import LabelPolicy
from monitor.telemetry.declared import METRICS


class Telemetry:
    """The counters, histograms and process gauges of one front, on an injected registry."""

    def __init__(self, registry: CollectorRegistry, labels: LabelPolicy) -> None:
        self.registry = registry
        self.labels = labels
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        self._gauges: dict[str, Gauge] = {}
        for metric in METRICS:
            if metric.source == "sql":
                continue
            if metric.kind == "counter":
                self._counters[metric.name] = Counter(
                    metric.name, metric.help, metric.labels, registry=registry
                )
            elif metric.kind == "histogram":
                self._histograms[metric.name] = Histogram(
                    metric.name,
                    metric.help,
                    metric.labels,
                    buckets=metric.buckets,
                    registry=registry,
                )
            else:
                self._gauges[metric.name] = Gauge(
                    metric.name, metric.help, metric.labels, registry=registry
                )

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        """Add to a declared counter; a name that is not declared raises KeyError."""
        counter = self._counters[name]
        (counter.labels(*labels) if labels else counter).inc(by)

    def observe(
        self, name: str, value: float, *labels: str, exemplar: dict[str, str] | None = None
    ) -> None:
        """Add a value to a declared histogram."""
        histogram = self._histograms[name]
        (histogram.labels(*labels) if labels else histogram).observe(value, exemplar=exemplar)

    def gauge(self, name: str, value: float, *labels: str) -> None:
        """Set a declared process gauge."""
        gauge = self._gauges[name]
        (gauge.labels(*labels) if labels else gauge).set(value)
