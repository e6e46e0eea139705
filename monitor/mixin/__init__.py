"""Dashboards, alert rules and provisioning files, made from the configuration.

    thresholds, periods ─▶ alerts     ─▶ Prometheus rules, Grafana alert rules
    telemetry.METRICS   ─▶ dashboards ─▶ Grafana JSON

One source: an alert is written once and rendered for Prometheus and for Grafana, and every
query is built from the registry of metrics, so that one with a wrong name or label cannot be
built. `hss-monitor mixin write` writes the files.
"""
