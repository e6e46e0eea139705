"""The way to a Ray cluster, or to a Ray of our own that nobody else can use."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from monitor.errors import DependencyUnavailable

REACH_SECONDS = 10.0
"""Ray itself tries for many minutes before it says that there is no cluster."""
OBJECT_BYTES = 80 * 2**20
"""The least that Ray takes for objects; we keep none there."""


@contextmanager
def connected(address: str | None, *, cpus: float) -> Iterator[Any]:
    """The module `ray`, connected to a cluster until the end of the block.

    Without an address a Ray of its own starts: its ports are those of the loopback interface
    and ask for a token that only its processes have, it has no dashboard, tells nobody that it
    is used, and `cpus` of it can be set aside. Its actors end with this process, however that
    ends; Ray's own processes a minute later.
    Raises `DependencyUnavailable` where Ray is not installed or the cluster cannot be used.
    """
    if address is None:
        os.environ.update(_private())
    ray = _imported()
    own: dict[str, Any] = {"num_cpus": cpus, "object_store_memory": OBJECT_BYTES}
    try:
        if address is not None:
            _reach(address)
        ray.init(
            address=address or "local",
            include_dashboard=None if address else False,
            # A scorer's log stays with Ray, line by line; among ours it would not be JSON.
            log_to_driver=False,
            configure_logging=False,
            **({} if address else own),
        )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise DependencyUnavailable(
            f"execution.ray.address: {address!r} cannot be used ({said[0]}); start the cluster, or "
            "name the one that runs, with its token (RAY_AUTH_TOKEN) and the same Ray and Python"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _private() -> Mapping[str, str]:
    """Ray reads these when it is imported and when it starts, and its processes inherit them."""
    return {
        # Ray's own switch for machines where it stays on the loopback interface.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
    }


def _imported() -> Any:
    try:
        # Optional, and only this command needs it: no other may wait for it.
        import ray
    except ImportError:
        raise DependencyUnavailable(
            "scorer --ray: Ray is not installed; pip install 'hss-monitor[ray]'"
        ) from None
    return ray


def _reach(address: str) -> None:
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_SECONDS):
            pass
