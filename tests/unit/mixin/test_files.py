"""The files: equal to the code, and written by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from monitor.cli import app
from monitor.mixin.files import differing, files
from monitor.mixin.installation import installation
from monitor.settings import Settings

GRAFANA = Path(__file__).parents[3] / "grafana"
run = CliRunner()


def test_the_checked_in_files_equal_the_code() -> None:
    """After a change: `hss-monitor mixin write grafana`."""
    defaults = Settings()
    assert differing(GRAFANA, files(defaults, installation(defaults))) == []


def test_no_generated_file_is_left_over() -> None:
    """One that the code no longer writes would go on being provisioned."""
    defaults = Settings()
    wanted = {str(path) for path in files(defaults, installation(defaults))}
    there = {
        str(path.relative_to(GRAFANA))
        for folder in ("dashboards", "alerts", "provisioning", "runbooks")
        for path in (GRAFANA / folder).rglob("*")
        if path.is_file()
    }
    assert there - wanted == set()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HSS_MONITOR_CONFIG", raising=False)
    return tmp_path / "grafana"


def test_write_takes_thresholds_and_addresses_from_the_configuration(folder: Path) -> None:
    """A threshold of one's own gets its alert; links begin with the address that is set."""
    own = {
        "thresholds": [{"name": "mine", "signal": "factcc", "limit": {"value": 0.3}}],
        "outlets": {"public_url": "https://hss.example.org/"},
    }
    (folder.parent / "own.yaml").write_text(yaml.safe_dump(own))
    told = run.invoke(app, ["mixin", "write", str(folder), "--config", "own.yaml"])
    assert told.exit_code == 0, told.output
    rules = yaml.safe_load((folder / "alerts" / "prometheus.rules.yaml").read_text())
    [breaches] = [group for group in rules["groups"] if group["name"] == "hss-breaches"]
    assert [rule["alert"] for rule in breaches["rules"]] == ["HssSupportBreach", "HssOtherBreach"]
    assert breaches["rules"][0]["annotations"]["runbook_url"] == (
        "https://hss.example.org/runbooks/HssSupportBreach.md"
    )
    board = json.loads((folder / "dashboards" / "hss-fleet.json").read_text())
    [variable] = [v for v in board["templating"]["list"] if v["name"] == "public_url"]
    assert variable["query"] == "https://hss.example.org"


def test_check_finds_what_differs_and_writes_nothing(folder: Path) -> None:
    """In a pipeline it keeps rules and configuration together: exit code 1."""
    assert run.invoke(app, ["mixin", "write", str(folder)]).exit_code == 0
    assert run.invoke(app, ["mixin", "write", str(folder), "--check"]).exit_code == 0
    other = ["mixin", "write", str(folder), "--check", "--public-url", "https://else.example"]
    before = {path: path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert run.invoke(app, other).exit_code == 1
    assert {path: path.read_text() for path in folder.rglob("*") if path.is_file()} == before


def test_a_wrong_address_is_a_usage_error(folder: Path) -> None:
    """Exit code 2, and nothing is written."""
    from monitor.errors import ConfigurationError

    told = run.invoke(app, ["mixin", "write", str(folder), "--grafana-url", "grafana:3000"])
    assert isinstance(told.exception, ConfigurationError)
    assert not folder.exists()


def test_a_folder_that_cannot_be_is_a_usage_error(tmp_path: Path) -> None:
    """It is named, with what stands in its way."""
    from monitor.errors import UsageError

    (tmp_path / "file").write_text("")
    told = run.invoke(app, ["mixin", "write", str(tmp_path / "file" / "mixin")])
    assert isinstance(told.exception, UsageError)
    assert f"DIR: '{tmp_path}/file/mixin' cannot be written (Not a directory" in str(told.exception)


def test_a_file_that_is_no_text_is_written_anew(folder: Path) -> None:
    """Whatever destroyed it."""
    rules = folder / "alerts" / "prometheus.rules.yaml"
    rules.parent.mkdir(parents=True)
    rules.write_bytes(b"\xff\xfe")
    assert run.invoke(app, ["mixin", "write", str(folder)]).exit_code == 0
    assert "hss-breaches" in rules.read_text()
