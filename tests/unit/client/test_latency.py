"""What `send` costs its caller, whatever the sidecar does."""

from __future__ import annotations

import time
from statistics import median, quantiles
from typing import Any

import pytest

from monitor.client import Client

CALLS = 5_000
DOCUMENT = "The council approved the new bridge on Monday. " * 100


def _cost(client: Client) -> tuple[float, float]:
    """Median time of a call, and the 99th percentile of its CPU time, in seconds."""
    walls, cores = [], []
    for _ in range(CALLS):
        wall, core = time.perf_counter(), time.thread_time()
        client.send(DOCUMENT, "It was approved.", request={"messages": [{"content": DOCUMENT}]})
        cores.append(time.thread_time() - core)
        walls.append(time.perf_counter() - wall)
    return median(walls), quantiles(cores, n=100)[-1]


@pytest.mark.parametrize("sidecar", ["up", "down", "hanging"])
def test_a_call_takes_less_than_a_millisecond(stand: Any, sidecar: str) -> None:
    """The median effect on a service is measured in `tests/benchmarks/test_client.py`.

    Of the slowest calls only the CPU time is held to it: how long the machine leaves a thread
    waiting while other programs run is nothing that a client decides.
    """
    if sidecar == "down":
        stand.stop()
    elif sidecar == "hanging":
        stand.hanging.set()
    client = Client(stand.url, service="newsroom", model="m-1")
    wall, core = _cost(client)
    client.close(0)
    assert wall < 0.001
    assert core < 0.001
