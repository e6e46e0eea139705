"""SIGTERM: what an orchestrator sends at every rollout."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def test_a_request_under_way_is_answered_and_the_database_closed(
    make_sidecar: Any, record: Any
) -> None:
    """A rollout must not look like an error to the service beside us, nor take long."""
    front = make_sidecar()
    many = [record(f"r{n}", "d" * 200) for n in range(5_000)]
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(front.post_records, *many)
        time.sleep(0.2)
        began = time.monotonic()
        assert front.terminate() == 0
        assert time.monotonic() - began < 15.0
    assert answer.result().json()["sampled"] == 5_000
    assert front.log()[-1]["event"] == "front_stopped"
    assert [file.name for file in front.folder.glob("hss.db*")] == ["hss.db"]
    assert front.rows("SELECT count(*) AS n FROM records") == [{"n": 5_000}]
    # Sampling rates of the next epoch depend on what came in.
    assert front.rows("SELECT received FROM arrivals") == [{"received": 5_000}]


def test_ctrl_c_is_no_error(make_sidecar: Any) -> None:
    """Whoever tries it in a terminal ends it so."""
    front = make_sidecar()
    front.process.send_signal(signal.SIGINT)
    assert front.process.wait(20) == 0


def test_scorers_finish_what_they_have_begun(
    make_staffed: Any, record: Any, states: Any, scorers: Any
) -> None:
    """Nothing stays leased, so that the next start need not wait for leases to run out."""
    front = make_staffed(execution={"scorers": 2, "lease_seconds": 60})
    front.post_records(*(record(f"r{n}", "sleep 0.7") for n in range(6)))
    front.wait_for(lambda: list(states(front).values()).count(("leased", None)) == 2)
    children = scorers(front)

    assert front.terminate() == 0
    assert [child.is_running() for child in children] == [False, False]
    told = list(states(front).values())
    assert told.count(("scored", None)) >= 2
    assert set(told) <= {("scored", None), ("queued", None)}
