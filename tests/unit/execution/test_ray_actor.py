"""One scorer in an actor: made there, stopped from a second thread."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import monitor
from monitor.errors import ConfigurationError
from monitor.execution.ray.actor import ScorerActor


class Scorer:
    """Runs until it is stopped, and tells of itself."""

    runs = threading.Event()

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def run(self) -> None:
        self.runs.set()
        assert self._stopped.wait(20)

    def stop(self) -> None:
        self._stopped.set()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    Scorer.runs.clear()
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_a_running_scorer_is_stopped_in_order(pool: ThreadPoolExecutor) -> None:
    """Its record is finished, not killed."""
    actor = ScorerActor()
    ended = pool.submit(actor.run, monitor.__version__, pickle.dumps(Scorer))
    assert Scorer.runs.wait(20)
    actor.stop()
    assert ended.result(20) is None


def test_a_scorer_stopped_before_it_was_made_never_runs(pool: ThreadPoolExecutor) -> None:
    """Importing the models takes many seconds, and the cluster may be told to end meanwhile."""
    actor = ScorerActor()
    actor.stop()
    pool.submit(actor.run, monitor.__version__, pickle.dumps(Scorer)).result(20)
    assert not Scorer.runs.is_set()


def test_another_version_is_refused_before_anything_is_read() -> None:
    """Settings of another version could be taken for something that they do not say."""
    with pytest.raises(ConfigurationError, match="install the same version on every machine"):
        ScorerActor().run("0.0.0", b"not even a pickle")
