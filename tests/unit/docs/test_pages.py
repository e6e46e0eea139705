"""What the documentation names is there: files, commands, options, keys, metrics, alerts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import typer.main

from monitor.cli import app
from monitor.configuration import keys
from monitor.investigate.moments import span
from monitor.settings import Settings
from monitor.telemetry import METRICS

ROOT = Path(__file__).parents[3]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "deploy").rglob("*.md"),
        *(ROOT / "grafana").rglob("*.md"),
    ]
)
SECTIONS = {name.split(".")[0] for name, _, _ in keys(Settings)}
CLICK = typer.main.get_command(app)


@pytest.fixture(params=PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def page(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def _code(text: str) -> Iterator[str]:
    """Inline code and the lines of code blocks, where commands and keys stand."""
    blocks = re.findall(r"```[^\n]*\n(.*?)```", text, flags=re.DOTALL)
    yield from (line for block in blocks for line in block.splitlines())
    yield from re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def test_every_link_leads_to_a_file(page: Path) -> None:
    """Files move, and pages do not notice."""
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [link for link in links if not re.match(r"https?://|mailto:", link)]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_calibrations_are_made_of_more_than_a_cycle() -> None:
    """Records of the last 24 hours span a little less: drift would have no reference at all."""
    cycle = timedelta(hours=Settings().drift.cycle_hours)
    spans = [
        (page.name, found)
        for page in PAGES
        for found in re.findall(
            r"hss-monitor\s+calibrate\s[^`|;&]*?--since\s+(\w+)", page.read_text(encoding="utf-8")
        )
    ]
    assert {name for name, _ in spans} >= {"README.md", "operations.md", "HssDriftWorse.md"}
    assert [(name, since) for name, since in spans if (span(since) or cycle) <= cycle] == []


def test_every_command_and_option_exists(page: Path) -> None:
    """A command that is pasted at 3 a.m. must not answer "no such option"."""
    wrong = []
    for line in _code(page.read_text(encoding="utf-8")):
        for call in re.findall(r"hss-monitor ((?:[^|;&`\n]|\\\n)*)", line):
            words = call.replace(" \\", " ").split()
            command, known = CLICK, set()
            while words and hasattr(command, "commands") and words[0] in command.commands:
                command = command.commands[words.pop(0)]
            if hasattr(command, "commands"):
                if words and re.fullmatch(r"[a-z][a-z-]+", words[0]):
                    wrong.append(call)
                continue
            for parameter in command.params:
                known |= {*parameter.opts, *parameter.secondary_opts}
            options = [re.sub(r"[=,.:)\]].*", "", word) for word in words if word[:1] == "-"]
            wrong += [call for option in options if option not in {*known, "--help", "-"}]
    assert wrong == []


def test_every_key_exists(page: Path) -> None:
    """A key that was renamed is an error at the start, and then nobody knows the new one."""
    if page.name == "CHANGELOG.md":
        pytest.skip("it tells of what was")
    known = {name for name, _, _ in keys(Settings)}
    known |= {".".join(name.split(".")[:n]) for name in known for n in (1, 2)}
    named = {
        match
        for code in _code(page.read_text(encoding="utf-8"))
        for match in re.findall(r"^([a-z_]+(?:\.[a-z0-9_]+)+)(?::|$)", code)
        if match.split(".")[0] in SECTIONS and not match.endswith((".py", ".md", ".yaml", ".json"))
    }
    assert sorted(named - known) == []


def test_every_metric_exists(page: Path) -> None:
    """Also with the endings that Prometheus adds."""
    names = {metric.name for metric in METRICS}
    endings = ("_bucket", "_sum", "_count", "")
    known = {f"{name}{ending}" for name in names for ending in endings} | {"hss_monitor"}
    if page.name == "metrics.md":
        assert names <= set(re.findall(r"hss_[a-z_]+", page.read_text(encoding="utf-8")))
    told = {
        match
        for code in _code(page.read_text(encoding="utf-8"))
        for match in re.findall(r"\bhss_[a-z_]+[a-z]\b", code)
    }
    thresholds = {threshold.name for threshold in Settings().thresholds}
    assert sorted(told - known - thresholds) == []


def test_the_readme_has_every_command_once() -> None:
    """A command that has no row is not found, and two rows of one say two things of it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("## Commands", 1)[1].split("\n\n")[1]
    rows = [next(_code(row)) for row in table.splitlines()[2:]]
    assert sorted({row for row in rows if rows.count(row) > 1}) == []
    words = {word for row in _code(table) for word in row.split()}
    commands = typer.main.get_group(app).commands
    assert [name for name, each in commands.items() if not each.hidden and name not in words] == []
