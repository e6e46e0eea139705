"""What an alert carries to the person on call, in Prometheus and in Grafana."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from grafana_foundation_sdk.models.alerting import Rule

from monitor.errors import ConfigurationError
from monitor.mixin import grafana_rules
from monitor.mixin.alerts import Alert
from monitor.mixin.breach_alerts import KINDS, breach_alerts
from monitor.mixin.burn_rate_alerts import burn_rate_alerts
from monitor.mixin.installation import Installation, gap_seconds, installation
from monitor.mixin.rules import alerts
from monitor.settings import Settings, Threshold
from monitor.settings.running import Execution
from monitor.settings.watching import Evaluation, ThresholdSignal


def test_every_alert_carries_what_is_needed_at_night(
    rules: list[Alert], where: Installation
) -> None:
    """Summary, description with a value or a name, a runbook, a dashboard and a page."""
    for alert in rules:
        told = alert.annotations(where)
        assert told.keys() == {
            "summary",
            "description",
            "runbook_url",
            "dashboard_url",
            "page_url",
        }
        assert told["runbook_url"] == f"https://hss.example.org/runbooks/{alert.name}.md"
        assert told["dashboard_url"].startswith("http://localhost:3000/d/hss-")
        assert told["page_url"].startswith("https://hss.example.org/")
        assert "$labels." in told["summary"]
        assert "$labels." in told["description"]


def test_links_keep_to_the_series_of_the_alert(rules: list[Alert], where: Installation) -> None:
    """Names of models hold slashes: they are encoded."""
    [alert] = [a for a in rules if a.labels.get("threshold") == "hss_mean"]
    assert alert.annotations(where)["dashboard_url"] == (
        "http://localhost:3000/d/hss-incident?var-job={{ $labels.job | urlquery }}"
        "&var-service={{ $labels.service | urlquery }}&var-model={{ $labels.model | urlquery }}"
        "&var-category={{ $labels.category | urlquery }}"
        "&var-threshold={{ $labels.threshold | urlquery }}"
    )


def test_links_to_pages_leave_out_folded_names(rules: list[Alert], where: Installation) -> None:
    """`other` stands for names that are no labels; a page that is asked for it finds nothing."""
    [alert] = [a for a in rules if a.name == "HssDriftWorse"]
    assert alert.annotations(where)["page_url"] == (
        "https://hss.example.org/drift?"
        '{{ if ne $labels.service "other" }}service={{ $labels.service | urlquery }}&{{ end }}'
        '{{ if ne $labels.model "other" }}model={{ $labels.model | urlquery }}&{{ end }}'
        '{{ if ne $labels.category "other" }}category={{ $labels.category | urlquery }}&{{ end }}'
    )


def test_alerts_of_breaches_lead_to_the_breach(rules: list[Alert], where: Installation) -> None:
    """Not to a list in which somebody tired has to find it."""
    of_breaches = [alert for alert in rules if alert.group == "hss-breaches"]
    paths = {alert.annotations(where)["page_url"].partition("?")[0] for alert in of_breaches}
    assert paths == {"https://hss.example.org/breaches/latest"}


def test_every_alert_folds_replicas(rules: list[Alert]) -> None:
    """Two sidecars tell the same; only a sidecar that is down is a matter of one instance."""
    by_instance = {alert.name for alert in rules if "instance" in alert.by}
    assert by_instance == {"HssSidecarDown"}
    plain = [a.name for a in rules if not re.search(r"(max|sum) by \(job", a.expr)]
    assert plain == []


def test_severities_are_page_and_ticket(rules: list[Alert]) -> None:
    """A threshold's own for its breaches; a page elsewhere only where nothing can page any
    more, or people are told worse than before."""
    assert {alert.severity for alert in rules} == {"page", "ticket", None}
    configured = {"HssSeverityBreach", "HssSupportBreach"}
    pages = {alert.name for alert in rules if alert.severity == "page"} - configured
    assert pages == {
        "HssDriftWorse",
        "HssNoSidecar",
        "HssEvaluatorMissing",
        "HssEvaluationStale",
        "HssNothingScored",
    }


@pytest.mark.parametrize("signal", ThresholdSignal.__args__)  # type: ignore[attr-defined]
def test_every_signal_has_a_kind_of_alert(signal: str) -> None:
    """A threshold on any signal of the configuration gets an alert of its own."""
    assert [signal in kind.signals for kind in KINDS].count(True) == 1


def test_an_alert_takes_severity_and_words_from_its_threshold() -> None:
    """Raising a threshold's severity in the configuration is all that there is to do."""
    threshold = Threshold(
        name="support_p10",
        signal="entity_support",
        statistic="quantile",
        quantile=0.1,
        comparison="below",
        limit={"reference_quantile": 0.05, "at_least": 0.2},
        window_seconds=7200,
        severity="page",
    )
    alert, other = breach_alerts([threshold], gap="2m")
    assert (alert.name, alert.severity) == ("HssSupportBreach", "page")
    assert (
        "quantile 0.1 of entity_support below the 0.05 quantile of the reference (at least 0.2) "
        "over 2 h of at least 30 records, for 5 min"
    ) in alert.description
    assert 'threshold!~"support_p10"' in other.expr


def test_burn_rates_follow_shares_only() -> None:
    """A mean has no budget that records could use up."""
    found = burn_rate_alerts(Settings().thresholds, gap="2m")
    assert [(alert.name, alert.labels["threshold"]) for alert in found] == [
        ("HssBurnRateFast", "hss_high_share"),
        ("HssBurnRateSlow", "hss_high_share"),
    ]


def test_a_share_that_must_not_be_low_burns_by_what_is_missing() -> None:
    """Bad are the records that are not above the level, and the budget is the rest."""
    threshold = Threshold(
        name="supported",
        signal="entity_support",
        statistic="share_above",
        comparison="below",
        level={"value": 0.9},
        limit={"value": 0.8},
    )
    fast, _ = burn_rate_alerts([threshold], gap="2m")
    assert "1 - sum by" in fast.expr
    assert "14.4 * (1 - max by" in fast.expr


def test_scorers_elsewhere_are_not_missed(settings: Settings, where: Installation) -> None:
    """With `backend: none` no front has any, and records wait all the same."""
    elsewhere = settings.model_copy(update={"execution": Execution(backend="none")})
    left = {alert.name for alert in alerts(settings, where)}
    assert left - {alert.name for alert in alerts(elsewhere, where)} == {
        "HssScorersDown",
        "HssScorersRestarting",
    }


def test_an_evaluator_that_is_switched_off_is_not_missed(
    settings: Settings, where: Installation
) -> None:
    """Otherwise whoever wants scores only would be woken for good."""
    off = settings.model_copy(update={"evaluation": Evaluation(enabled=False)})
    left = {alert.name for alert in alerts(settings, where)}
    assert left - {alert.name for alert in alerts(off, where)} == {
        "HssEvaluatorMissing",
        "HssEvaluationStale",
    }


def test_the_gap_covers_a_change_of_evaluators() -> None:
    """Lease 60 + turn 30 + gauges 10 + two scrapes of 30 seconds."""
    assert gap_seconds(Settings(), installation(Settings())) == 160
    slow = Settings(evaluation=Evaluation(seconds=60, lease_seconds=300))
    assert gap_seconds(slow, installation(slow, scrape_seconds=15)) == 400


def test_a_text_cannot_name_a_label_that_the_alert_has_not(rules: list[Alert]) -> None:
    """It would read `<no value>` at night."""
    [alert] = [a for a in rules if a.name == "HssEvaluationStale"]
    with pytest.raises(ConfigurationError, match=r"\['service'\]"):
        replace(alert, summary="{{ $labels.service }} is late")


def _grafana(rules: list[Alert], where: Installation) -> list[dict[str, Any]]:
    file = grafana_rules.rules_file(rules, where)
    return [rule for group in file["groups"] for rule in group["rules"]]


def test_grafana_gets_the_same_alerts(rules: list[Alert], where: Installation) -> None:
    """One source: the same expressions, severities and words in the same order."""
    for alert, rule in zip(rules, _grafana(rules, where), strict=True):
        assert rule["data"][0]["model"]["expr"] == alert.expr
        assert rule["labels"] == alert.all_labels
        assert rule["annotations"]["summary"] == alert.summary


def test_grafanas_own_model_knows_every_key(rules: list[Alert], where: Installation) -> None:
    """The file format adds nothing to the model but groups, folder and interval."""
    for rule in _grafana(rules, where):
        assert rule.keys() <= Rule.from_json(rule).to_json().keys()


def test_grafanas_uids_and_titles_are_unique_and_fit(
    rules: list[Alert], where: Installation
) -> None:
    """Grafana refuses the whole file otherwise; a uid has at most 40 characters."""
    made = _grafana(rules, where)
    for key in ("uid", "title"):
        assert [v for v, n in Counter(rule[key] for rule in made).items() if n > 1] == []
    assert [rule["uid"] for rule in made if not re.fullmatch(r"[a-z0-9-]{1,40}", rule["uid"])] == []


def test_grafana_expands_no_variable_of_its_environment(
    rules: list[Alert], where: Installation
) -> None:
    """`$labels` is safe in annotations only, which Grafana leaves as they are."""
    for rule in _grafana(rules, where):
        assert "$" not in str({k: v for k, v in rule.items() if k != "annotations"})


def test_grafana_shows_the_value_of_the_query(rules: list[Alert], where: Installation) -> None:
    """Its `$value` is a text of all queries; one of them is `$values.A`."""
    for rule in _grafana(rules, where):
        assert re.search(r"\$value\b(?!s)", str(rule["annotations"])) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"public_url": "hss.example.org"},
        {"grafana_url": "ftp://grafana"},
        {"job": 'a"b'},
        {"scrape_seconds": 0.5},
    ],
)
def test_an_installation_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    """A link without a scheme is opened relative to Grafana."""
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        installation(Settings(), **wrong)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8318"),
        ("::1", "http://[::1]:8318"),
        ("0.0.0.0", "http://127.0.0.1:8318"),  # noqa: S104 -- asked, not bound
    ],
)
def test_links_lead_to_the_sidecars_own_address_by_default(host: str, address: str) -> None:
    """An IPv6 address without brackets is no URL, and nobody answers at 0.0.0.0."""
    assert installation(Settings(http={"host": host})).public_url == address
