"""Dashboards as Grafana takes them: its model, the grid, variables, units and links."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from monitor.mixin.installation import Installation
from monitor.mixin.panels import Unit

SERIES_PAGES = ("/records", "/breaches", "/drift", "/d/")


def _panels(board: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def _missing(ours: Any, theirs: Any, path: str = "$") -> list[str]:
    """Where `theirs` lacks a key or an element of `ours`, or has another value for it."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [
            found
            for key, value in ours.items()
            for found in (
                _missing(value, theirs[key], f"{path}.{key}")
                if key in theirs
                else [f"{path}.{key}"]
            )
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [
            found
            for place, (mine, other) in enumerate(zip(ours, theirs, strict=True))
            for found in _missing(mine, other, f"{path}[{place}]")
        ]
    return [] if ours == theirs else [path]


def test_grafanas_own_model_knows_every_key(board: dict[str, Any]) -> None:
    """Grafana drops what it does not know without a word: a misspelt option just has no effect."""
    register_default_plugins()
    read = json.loads(json.dumps(Dashboard.from_json(board), cls=JSONEncoder))
    assert _missing(board, read) == []


def test_the_model_check_sees_a_misspelt_key(board: dict[str, Any]) -> None:
    """Also deep inside a panel, where most of them would be."""
    register_default_plugins()
    wrong = json.loads(json.dumps(board))
    _panels(wrong)[0]["fieldConfig"]["defaults"]["unti"] = "s"
    read = json.loads(json.dumps(Dashboard.from_json(wrong), cls=JSONEncoder))
    assert [path.rpartition(".")[2] for path in _missing(wrong, read)] == ["unti"]


def test_uids_are_stable_and_fit(boards: list[dict[str, Any]]) -> None:
    """Bookmarks, alerts and links between dashboards hold them; Grafana allows 40 characters."""
    uids = [board["uid"] for board in boards]
    assert uids == ["hss-fleet", "hss-service", "hss-incident", "hss-health"]


def test_panel_ids_are_unique(board: dict[str, Any]) -> None:
    """Grafana shows one of two panels with the same id, and links lead to either."""
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)


def test_panels_fit_into_the_grid_and_do_not_overlap(board: dict[str, Any]) -> None:
    """Overlapping panels are moved by Grafana, each time to somewhere else."""
    cells = [panel["gridPos"] for panel in board["panels"]]
    assert all(cell["x"] >= 0 and cell["x"] + cell["w"] <= 24 for cell in cells)
    overlapping = [
        (one, other)
        for one, other in combinations(cells, 2)
        if one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    ]
    assert overlapping == []


def test_every_panel_says_what_it_shows(board: dict[str, Any]) -> None:
    """Title and description; at night nobody remembers what excess means."""
    silent = [
        panel["title"]
        for panel in _panels(board)
        if len(panel["title"]) < 3 or len(panel["description"]) < 20
    ]
    assert silent == []


def test_every_query_has_a_unit_and_a_legend(board: dict[str, Any]) -> None:
    """Without a legend Grafana prints all labels of a series, without a unit a bare number."""
    asking = [panel for panel in _panels(board) if panel["type"] != "text"]
    units = {unit.value for unit in Unit}
    assert [p["title"] for p in asking if p["fieldConfig"]["defaults"]["unit"] not in units] == []
    assert [p["title"] for p in asking if not all(t["legendFormat"] for t in p["targets"])] == []
    lines = [panel for panel in asking if panel["type"] in {"timeseries", "state-timeline"}]
    assert [p["title"] for p in lines if not p["options"]["legend"]["showLegend"]] == []


def test_colours_that_mean_something_follow_their_thresholds(board: dict[str, Any]) -> None:
    """With the palette's colours an open breach would be as green as none."""
    stats = [
        panel["fieldConfig"]["defaults"] for panel in _panels(board) if panel["type"] == "stat"
    ]
    assert {defaults["color"]["mode"] for defaults in stats} == {"thresholds"}


def test_no_datasource_is_baked_in(board: dict[str, Any]) -> None:
    """The uid of somebody's Prometheus exists in their Grafana only."""
    uids = set(re.findall(r'"uid": "([^"]*)"', json.dumps(board))) - {board["uid"]}
    assert uids == {"${datasource}"}


def test_every_variable_is_used_and_every_used_one_is_there(board: dict[str, Any]) -> None:
    """One that nothing follows misleads; one that is missing leaves its name in the query."""
    variables = {variable["name"] for variable in board["templating"]["list"]}
    own = {**board, "templating": None}
    # The selectors of the variables themselves count: the job chooses what services there are.
    text = json.dumps(own)
    used = set(re.findall(r"\$\{?([a-z_]+)(?=[^a-z_])", text))
    built_in = {name for name in used if name.startswith("__")}
    assert used - built_in == variables


def test_hss_never_stands_alone(boards: list[dict[str, Any]]) -> None:
    """It cannot see a model that invents the same thing each time."""
    texts = {board["uid"]: json.dumps(board) for board in boards}
    showing = {
        uid for uid, text in texts.items() if "hss_score_bucket" in text or '=~\\"hss\\"' in text
    }
    assert showing == {"hss-fleet", "hss-service", "hss-incident"}
    for companion in ("entity_support", "null_distance"):
        assert [uid for uid in showing if companion not in texts[uid]] == []


def test_quantiles_of_hss_lead_to_records() -> None:
    """A dot in the panel is a record that can be opened, where Prometheus keeps exemplars."""
    from monitor.mixin import service
    from monitor.mixin.installation import installation
    from monitor.settings import Settings

    model = service.dashboard(installation(Settings())).model()
    targets = [t for p in _panels(model) for t in p.get("targets", [])]
    of_hss = [t for t in targets if "hss_score_bucket" in t["expr"]]
    assert len(of_hss) == 3
    assert all(t["exemplar"] for t in of_hss)


def test_panels_lead_to_the_pages(boards: list[dict[str, Any]], where: Installation) -> None:
    """From a line to its records and breaches, by the address that people reach."""
    urls = {url for board in boards for url in re.findall(r'"url": "([^"]+)"', json.dumps(board))}
    assert {url.partition("?")[0] for url in urls if url.startswith("${public_url}")} == {
        "${public_url}/records",
        "${public_url}/breaches",
        "${public_url}/drift",
    }
    [variable] = [v for v in boards[0]["templating"]["list"] if v["name"] == "public_url"]
    assert variable["current"]["value"] == where.public_url == "https://hss.example.org"
    uids = {board["uid"] for board in boards}
    linked = {url.removeprefix("/d/").partition("?")[0] for url in urls if url.startswith("/d/")}
    assert linked
    assert linked <= uids


@pytest.mark.parametrize(
    "wanted",
    [
        "hss_window_mean",
        "hss_window_records",
        "hss_drift_statistic",
        "hss_drift_p_value",
        "hss_drift_effect",
        "hss_drift_detected",
        "hss_threshold_breach",
        "hss_threshold_value",
        "hss_threshold_exceeded_weight_total",
        "hss_sampling_rate_ratio",
        "hss_queue_records",
        "hss_queue_age_seconds",
        "hss_stage_duration_seconds_bucket",
        "hss_records_skipped_total",
        "hss_records_failed_total",
        "hss_score_core_seconds_total",
        "hss_budget_remaining_ratio",
        "hss_scorers_running",
        "hss_job_runs_total",
        "hss_ingest_rejected_total",
        "hss_evaluation_timestamp_seconds",
        "hss_evaluator_active",
        "hss_normalizer",
    ],
)
def test_what_the_monitor_tells_is_shown_somewhere(
    wanted: str, boards: list[dict[str, Any]]
) -> None:
    """A metric that no panel shows is one that nobody looks at when it matters."""
    exprs = [t["expr"] for b in boards for p in _panels(b) for t in p.get("targets", [])]
    assert [expr for expr in exprs if f"{wanted}{{" in expr] != []
