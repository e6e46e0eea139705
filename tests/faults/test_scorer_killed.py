"""kill -9 of scorers in the middle of their work."""

from __future__ import annotations

from typing import Any

import pytest

FINAL = {"scored", "skipped", "failed"}


def _worker_of(front: Any, record_id: str) -> int | None:
    """The process that has leased a record."""
    leased = front.rows("SELECT id, lease_worker FROM records WHERE state = 'leased'")
    return {row["id"]: int(row["lease_worker"]) for row in leased}.get(record_id)


@pytest.fixture(scope="module")
def front(make_staffed: Any) -> Any:
    return make_staffed(execution={"scorers": 2, "max_attempts": 2})


def test_a_record_whose_scorer_was_killed_is_scored_by_another(
    front: Any, record: Any, states: Any, scorers: Any
) -> None:
    """Its lease runs out, it is taken up again, and counted once."""
    ids = [f"r{n}" for n in range(12)]
    front.post_records(record("slow", "sleep 1"), *(record(name, "sleep 0.1") for name in ids))
    front.wait_for(lambda: _worker_of(front, "slow") is not None)
    [victim] = [child for child in scorers(front) if child.pid == _worker_of(front, "slow")]
    victim.kill()

    front.wait_for(lambda: {state for state, _ in states(front).values()} <= FINAL)
    assert states(front) == dict.fromkeys(["slow", *ids], ("scored", None))
    attempts = front.rows("SELECT attempts FROM records WHERE id = 'slow'")
    assert attempts == [{"attempts": 2}]
    front.wait_for(lambda: front.total("hss_records_scored_total") >= 13)
    assert front.total("hss_records_scored_total") == 13
    assert front.rows("SELECT count(*) AS n FROM scores") == [{"n": 13}]
    front.wait_for(lambda: front.total("hss_scorer_restarts_total") == 1)


def test_a_scorer_that_wakes_up_too_late_changes_nothing(
    front: Any, record: Any, states: Any, scorers: Any
) -> None:
    """A frozen machine comes back with a result for a record that another has taken over."""
    front.wait_for(lambda: len(scorers(front)) == 2)
    front.post_records(record("frozen", "sleep 0.5"))
    front.wait_for(lambda: _worker_of(front, "frozen") is not None)
    [sleeper] = [child for child in scorers(front) if child.pid == _worker_of(front, "frozen")]
    sleeper.suspend()
    try:
        front.wait_for(lambda: states(front)["frozen"] == ("scored", None))
        finished = front.rows("SELECT finished_at, attempts FROM records WHERE id = 'frozen'")
    finally:
        sleeper.resume()
    front.wait_for(lambda: any(told["record"] == "frozen" for told in front.log_of("lease_lost")))
    assert finished[0]["attempts"] == 2
    assert finished == front.rows("SELECT finished_at, attempts FROM records WHERE id = 'frozen'")
    assert sleeper.is_running(), "a late result costs no scorer"


def test_a_record_that_kills_every_scorer_is_given_up(front: Any, record: Any, states: Any) -> None:
    """Else it would stop all scoring for ever."""
    front.post_records(record("poison", "die"), record("harmless"))

    front.wait_for(lambda: {state for state, _ in states(front).values()} <= FINAL)
    assert states(front)["poison"] == ("failed", "attempts_exhausted")
    assert states(front)["harmless"] == ("scored", None)
    front.wait_for(lambda: front.total("hss_records_failed_total") > 0)
    assert front.total("hss_records_failed_total", reason="attempts_exhausted") == 1
