"""The unit for plain hosts, by systemd's own judgement."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from monitor.errors import UsageError

UNIT = Path(__file__).resolve().parents[3] / "deploy" / "systemd" / "hss-monitor.service"


@pytest.fixture
def analyze() -> str:
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("systemd-analyze is not installed")
    return found


def test_systemd_takes_the_unit(analyze: str, tmp_path: Path) -> None:
    """Unknown keys and wrong values are warnings to systemd, which starts it all the same.

    The program is not installed here, so another one that is stands for it.
    """
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/hss-monitor/bin/hss-monitor", "/bin/true"))
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    unit.write_text(unit.read_text().replace("ProtectHome=yes", "ProtectHome=perhaps"))
    wrong = subprocess.run(
        [analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert "protect home" in wrong.stderr


def test_the_unit_is_hardened(analyze: str) -> None:
    """Below 2 of 10 is what systemd calls OK; a plain unit has 9.6."""
    done = subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=20", str(UNIT)],
        capture_output=True,
        text=True,
        check=False,
    )
    [exposure] = re.findall(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert float(exposure) < 2
    assert done.returncode == 0


def test_its_limits_hold_what_was_measured() -> None:
    """Front, evaluator and scorer have to fit below the throttle together."""
    unit = dict(re.findall(r"^(\w+)=(.*)$", UNIT.read_text(), re.MULTILINE))
    assert int(unit["MemoryHigh"].removesuffix("G")) * 1024 > 285 + 132 + 1347
    assert unit["CPUQuota"] == "100%"
    assert unit["Restart"] == "on-failure"


def test_a_wrong_configuration_is_not_tried_for_ever() -> None:
    """Only the exit status of the main process counts, so nothing may run before it."""
    unit = dict(re.findall(r"^(\w+)=(.*)$", UNIT.read_text(), re.MULTILINE))
    assert int(unit["RestartPreventExitStatus"]) == UsageError.exit_code
    assert "ExecStartPre" not in unit
