"""A real Prometheus and a real Alertmanager, each a process on a port that was free."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

START_SECONDS = 60.0


def tool(*names: str) -> str:
    """The path of a command by any of its names; skips where it is not installed."""
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.skip(f"{names[0]} is not installed")


def wait_for(condition: Callable[[], Any], *, seconds: float, what: str) -> Any:
    """What `condition()` gives once it is true; fails where it is not in time."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"in {seconds:g} s: {what}"
        time.sleep(0.2)
    return found


class _Server:
    """A process that answers `/-/ready`."""

    def __init__(self, folder: Path, command: list[str], *, port: int) -> None:
        self._log = (folder / "log").open("wb")
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log
        )
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30.0)
        wait_for(self._ready, seconds=START_SECONDS, what=f"{command[0]} gets ready")

    def _ready(self) -> bool:
        assert self._process.poll() is None, Path(self._log.name).read_text()
        try:
            return self.http.get("/-/ready").status_code == 200
        except httpx.TransportError:
            return False

    def close(self) -> None:
        self.http.close()
        self._process.terminate()
        self._process.wait(20)
        self._log.close()


class Prometheus(_Server):
    """Scrapes one target every second and judges one rules file."""

    def __init__(
        self, folder: Path, *, target: str, rules: Mapping[str, Any], alertmanager: str | None
    ) -> None:
        port = _free_port()
        (folder / "rules.yaml").write_text(yaml.safe_dump(dict(rules)))
        managers = [{"static_configs": [{"targets": [alertmanager]}]}] if alertmanager else []
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "alerting": {"alertmanagers": managers},
            "scrape_configs": [
                {"job_name": "hss-monitor", "static_configs": [{"targets": [target]}]}
            ],
        }
        (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
        command = [
            tool("prometheus"),
            "--config.file=prometheus.yaml",
            "--storage.tsdb.path=data",
            f"--web.listen-address=127.0.0.1:{port}",
            "--enable-feature=exemplar-storage",
        ]
        super().__init__(folder, command, port=port)

    def ask(self, expr: str) -> dict[str, Any]:
        """The whole answer to an instant query."""
        answer: dict[str, Any] = self.http.post("/api/v1/query", data={"query": expr}).json()
        return answer

    def values(self, expr: str) -> list[dict[str, Any]]:
        answer = self.ask(expr)
        assert answer["status"] == "success", answer
        found: list[dict[str, Any]] = answer["data"]["result"]
        return found

    def firing(self) -> set[tuple[str, str]]:
        """(alert, signal) of what fires; an empty signal where the alert has none."""
        return {
            (alert["labels"]["alertname"], alert["labels"].get("signal", ""))
            for alert in self.alerts()
            if alert["state"] == "firing"
        }

    def alerts(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.http.get("/api/v1/alerts").json()["data"]["alerts"]
        return found


class Alertmanager(_Server):
    """Runs with the given configuration."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        port = _free_port()
        self.address = f"127.0.0.1:{port}"
        (folder / "alertmanager.yaml").write_text(yaml.safe_dump(dict(config)))
        command = [
            tool("prometheus-alertmanager", "alertmanager"),
            "--config.file=alertmanager.yaml",
            "--storage.path=data",
            f"--web.listen-address={self.address}",
            "--cluster.listen-address=",
        ]
        super().__init__(folder, command, port=port)

    def active(self) -> set[tuple[str, str]]:
        """(alert, signal) of what it holds and what has not been resolved."""
        found = self.http.get("/api/v2/alerts", params={"active": "true"}).json()
        return {(a["labels"]["alertname"], a["labels"].get("signal", "")) for a in found}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
