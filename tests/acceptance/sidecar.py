"""The real front as a process of its own: what the tests of the whole product talk to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from monitor.settings import Settings
from monitor.storage.engine import connect
from monitor.stores import Stores, open_stores

START_SECONDS = 60.0
REPOSITORY = Path(__file__).resolve().parents[2]


class Sidecar:
    """`hss-monitor run` in a folder of its own, without scorers, on a port that is free.

    `path` is a folder that its Python imports from first.
    """

    def __init__(
        self,
        folder: Path,
        sections: Mapping[str, Any],
        *,
        path: Path | None = None,
    ) -> None:
        self.folder = folder
        self._environment = dict(os.environ)
        if path is not None:
            self._environment["PYTHONPATH"] = str(path)
        self.file = folder / "hss-monitor.yaml"
        values: dict[str, Any] = {
            "http": {"port": 0},
            "database": {"url": f"sqlite:///{folder / 'hss.db'}"},
            "storage": {"hash_key_file": str(folder / "hss.key")},
            "execution": {"backend": "none"},
            "scheduler": {"gauges_seconds": 0.5},
            # A process of its own that takes seconds to start: for the tests that need it.
            "evaluation": {"enabled": False},
        }
        for name, section in sections.items():
            values[name] = {**values.get(name, {}), **section} if name != "thresholds" else section
        self.file.write_text(yaml.safe_dump(values))
        self.settings = Settings(**values)
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._client: httpx.Client | None = None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the sidecar does not run"
        return self._process

    @property
    def http(self) -> httpx.Client:
        assert self._client is not None, "the sidecar does not run"
        return self._client

    @property
    def url(self) -> str:
        return str(self.http.base_url)

    def start(self) -> None:
        """Start it, also again, and wait until it is ready."""
        self.close()
        told = len(self.log())
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "monitor", "run", "--config", str(self.file)],
                cwd=REPOSITORY,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + START_SECONDS
        while not any(e["event"] == "front_started" for e in self.log()[told:]):
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.02)
        listening = self.log_of("listening")[-1]
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{listening['port']}",
            trust_env=False,
            timeout=30.0,
            transport=httpx.HTTPTransport(retries=5),
        )
        assert self.http.get("/readyz").json() == {"status": "ready"}

    def terminate(self, seconds: float = 20.0) -> int:
        """Ask it to end, as an orchestrator does; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def kill(self) -> None:
        """End it without a chance to clean up."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._process is not None and self._process.poll() is None:
            self.kill()

    def post(self, path: str, content: Any, content_type: str, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(
            path, content=content, headers={"content-type": content_type, **named}
        )

    def post_records(self, *records: Mapping[str, Any]) -> httpx.Response:
        return self.http.post("/v1/records", json=list(records))

    def log(self) -> list[dict[str, Any]]:
        """The events that it logged so far."""
        if not self._log.exists():
            return []
        lines = self._log.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith('{"') and line.endswith("}")]

    def log_of(self, event: str) -> list[dict[str, Any]]:
        return [told for told in self.log() if told["event"] == event]

    def metrics(self) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
        """Sample name → sorted labels → value."""
        found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
        for family in text_string_to_metric_families(self.http.get("/metrics").text):
            for sample in family.samples:
                found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = (
                    sample.value
                )
        return found

    def total(self, name: str, **labels: str) -> float:
        """The sum of a metric's samples that have these labels; 0 where there is none."""
        return sum(
            value
            for found, value in self.metrics().get(name, {}).items()
            if labels.items() <= dict(found).items()
        )

    def wait_for(self, condition: Callable[[], bool], *, seconds: float = 60.0) -> None:
        """Return when `condition()` holds; fail where it does not in time."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            time.sleep(0.05)

    def peak_bytes(self) -> int:
        """Most resident memory since `forget_peak`, as the kernel counted it."""
        return self._status("VmHWM")

    def resident_bytes(self) -> int:
        return self._status("VmRSS")

    def forget_peak(self) -> None:
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def _status(self, field: str) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        [line] = [line for line in status if line.startswith(f"{field}:")]
        return int(line.split()[1]) * 1024

    def rows(self, statement: str) -> list[dict[str, Any]]:
        """What a query gives, for tests that must see the tables themselves."""
        database = connect(self.settings.database.url)
        try:
            with database.read() as connection:
                return [dict(row) for row in connection.exec_driver_sql(statement).mappings()]
        finally:
            database.close()

    @contextmanager
    def stores(self) -> Iterator[Stores]:
        """Our own way to its database, as a scorer elsewhere has it."""
        with open_stores(self.settings) as stores:
            yield stores


@pytest.fixture(scope="module")
def make_sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Sidecar]]:
    """Starts sidecars; `make_sidecar(http={...})` changes the configuration of one."""
    made: list[Sidecar] = []

    def make(*, path: Path | None = None, **sections: Any) -> Sidecar:
        sidecar = Sidecar(tmp_path_factory.mktemp("sidecar"), sections, path=path)
        made.append(sidecar)
        sidecar.start()
        return sidecar

    yield make
    for sidecar in made:
        sidecar.close()


@pytest.fixture(scope="module")
def sidecar(make_sidecar: Callable[..., Sidecar]) -> Sidecar:
    """One for all tests of a file, as starting one takes seconds: use ids of your own."""
    return make_sidecar()
