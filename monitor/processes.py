"""The processes that a front starts beside itself: scorers, and the evaluator."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from monitor.execution.local import LocalProcesses
from monitor.settings import Settings


def local_scorers(
    settings: Settings, config: Path | None, content_key: bytes | None
) -> LocalProcesses | None:
    """`execution.scorers` of them; `None` where they run elsewhere."""
    if settings.execution.backend == "none":
        return None
    return LocalProcesses(
        "scorer",
        _command("scorer", config),
        count=settings.execution.scorers,
        environment=_environment(settings.models.threads),
        monotonic=time.monotonic,
        greeting=(content_key or b"").hex().encode() + b"\n",
    )


def local_evaluator(
    settings: Settings, config: Path | None, *, front: str
) -> LocalProcesses | None:
    """The one that judges in the name of this front; `None` where that is switched off."""
    if not settings.evaluation.enabled:
        return None
    return LocalProcesses(
        "evaluator",
        [*_command("evaluator", config), "--front", front],
        count=1,
        environment=_environment(1),
        monotonic=time.monotonic,
    )


def _command(name: str, config: Path | None) -> list[str]:
    command = [sys.executable, "-m", "monitor", name, "--child"]
    return command if config is None else [*command, "--config", str(config.resolve())]


def thread_limits(threads: int) -> dict[str, str]:
    """Variables without which each library beside torch starts a pool as wide as the machine."""
    return {
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "TOKENIZERS_PARALLELISM": "false",
    }


def _environment(threads: int) -> dict[str, str]:
    return {**thread_limits(threads), **os.environ}
