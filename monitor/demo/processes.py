"""The demo's child processes: the service, and the sidecar beside it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from monitor.errors import DependencyUnavailable

START_SECONDS = 60.0
"""A sidecar makes its database first."""
STOP_SECONDS = 40.0
"""A sidecar gives its scorers and its evaluator 35 in all."""


class Child:
    """One process with a log file and a health address; restarted when it dies."""

    def __init__(
        self, name: str, command: Sequence[str], *, health: str, log: Path, env: Mapping[str, str]
    ) -> None:
        self.name = name
        self.restarts = 0
        self._command = list(command)
        self._health = health
        self._log = log
        self._env = dict(env)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start and wait until it answers. Raises `DependencyUnavailable`."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 -- our own interpreter and modules
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._env
            )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise DependencyUnavailable(
                    f"demo: {self.name} ended with {self._process.returncode} while starting; "
                    f"{self._log} says why"
                )
            if self._answers():
                return
            time.sleep(0.1)
        raise DependencyUnavailable(
            f"demo: {self.name} did not answer within {START_SECONDS:.0f} s; see {self._log}"
        )

    def _answers(self) -> bool:
        try:
            return httpx.get(self._health, timeout=2.0, trust_env=False).is_success
        except httpx.HTTPError:
            return False

    def keep_running(self) -> bool:
        """Start it again where it has died; whether it had."""
        if self._process is None or self._process.poll() is None:
            return False
        self.restarts += 1
        self.start()
        return True

    def stop(self) -> None:
        """Ask it to end, and kill it where it does not."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def service(port: int, otlp: str, *, folder: Path, env: Mapping[str, str]) -> Child:
    """The summarization service, in its good release."""
    command = [sys.executable, "-m", "monitor.demo.service", "--port", str(port), "--otlp", otlp]
    return Child(
        "the summarization service",
        command,
        health=f"http://127.0.0.1:{port}/healthz",
        log=folder / "service.log",
        env=env,
    )


def sidecar(port: int, config: Path, *, folder: Path, env: Mapping[str, str]) -> Child:
    """hss-monitor, as everybody would run it."""
    return Child(
        "the sidecar",
        [sys.executable, "-m", "monitor", "run", "--config", str(config)],
        health=f"http://127.0.0.1:{port}/readyz",
        log=folder / "sidecar.log",
        env=env,
    )


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def require_free(port: int) -> None:
    """Raises `DependencyUnavailable` where the sidecar's port is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise DependencyUnavailable(
                f"--port: {port} cannot be listened on ({error.strerror}); "
                "stop what uses it, or choose another --port"
            ) from None
