"""The registry of every metric that hss-monitor exposes.

One list declares name, kind, help, labels and buckets; `Telemetry` makes the counters and
histograms of it, `monitor.exporter` the gauges that are computed from SQL. Tests hold emitted
and declared metrics to each other, and every query of dashboards and alerts to this list.

    scoring    by the front: what came in, what came out, how long it took
    serving    by the front: burn rates, outlets, jobs, processes
    judging    from SQL: windows, drift, thresholds, breaches
    standing   from SQL: calibration, queue, sampling

Labels take values from configuration only: see `labels`.
"""

from monitor.telemetry.declared import BY_NAME, METRICS
from monitor.telemetry.emitting import Telemetry
from monitor.telemetry.metric import STRATUM, Metric

__all__ = ["BY_NAME", "METRICS", "STRATUM", "Metric", "Telemetry"]
