"""Pages that are written from the code stay equal to it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from monitor.configuration import keys
from monitor.reference import configuration_reference, metrics_reference
from monitor.settings import Settings
from monitor.telemetry import METRICS

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "deploy" / "docs"


def test_the_configuration_page_is_what_the_command_prints() -> None:
    """Whoever adds a key runs `hss-monitor config reference > deploy/docs/configuration.md`."""
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert configuration_reference() == page


def test_the_metrics_page_is_what_the_command_prints() -> None:
    """Whoever adds a metric runs `hss-monitor metrics > deploy/docs/metrics.md`."""
    assert metrics_reference() == (DOCS / "metrics.md").read_text(encoding="utf-8")


def test_every_key_and_every_metric_has_its_row_and_its_words() -> None:
    """A key without an explanation is a riddle."""
    page = configuration_reference() + metrics_reference()
    names = {name for name, _, _ in keys(Settings)} | {metric.name for metric in METRICS}
    rows = dict(re.findall(r"^\| `([a-z0-9_.]+)` \|.*\| (.*?) \|$", page, flags=re.MULTILINE))
    assert sorted(names - rows.keys()) == []
    assert [name for name in names if not rows[name].strip()] == []


def test_the_picture_of_the_modules_is_what_the_code_says() -> None:
    """An architecture page that is drawn by hand is wrong after a month."""
    outcome = subprocess.run(
        [sys.executable, DOCS / "modules.py", "--check"], check=False, timeout=60
    )
    assert outcome.returncode == 0, "run: python deploy/docs/modules.py"
