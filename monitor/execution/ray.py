"""Scorers as actors on a Ray cluster, so that many machines score for one queue.

Ray places processes and tells when one has ended; nothing else goes through it. Records and
results go between each actor and the queue, so a machine that is lost costs the leases that
its scorers held, and nothing more.
"""

from __future__ import annotations

import os
import pickle
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

import monitor
from monitor.errors import ConfigurationError, DependencyUnavailable, MonitorError
from monitor.execution.restarts import Restarts

log = structlog.get_logger(__name__)

REACH_SECONDS = 10.0
"""Ray itself tries for many minutes before it says that there is no cluster."""
WAIT_SECONDS = 60.0
"""An actor that has no place by then is worth a line in the log."""
OBJECT_BYTES = 80 * 2**20
"""The least that Ray takes for objects; we keep none there."""
MOST_DETAIL = 600
"""Characters of what Ray says about a death."""


class Scorer(Protocol):
    """What an actor runs; made anew in each actor's process."""

    def run(self) -> None:
        """Score until `stop`; the record at hand is finished before this returns."""

    def stop(self) -> None:
        """End soon, also where `run` has not been called yet. Called from another thread."""


class ScorerActor:
    """One scorer in a process that Ray started: `run` in one thread, `stop` from a second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scorer: Scorer | None = None
        self._stopped = False

    def place(self) -> str:
        """Host and process id, as they stand on the leases."""
        return f"{socket.gethostname()}:{os.getpid()}"

    def run(self, version: str, sealed: bytes) -> None:
        """Make the scorer from `sealed` and run it. Raises what that raises."""
        if version != monitor.__version__:
            raise ConfigurationError(
                f"execution.ray: {socket.gethostname()!r} has hss-monitor {monitor.__version__} "
                f"and the command {version}; install the same version on every machine"
            )
        make: Callable[[], Scorer] = pickle.loads(sealed)  # noqa: S301 -- made by our own driver
        scorer = make()
        with self._lock:
            self._scorer = scorer
            if self._stopped:
                return
        scorer.run()

    def stop(self) -> None:
        """Let `run` return after the record at hand."""
        with self._lock:
            self._stopped = True
            scorer = self._scorer
        if scorer is not None:
            scorer.stop()


@contextmanager
def connected(address: str | None, *, cpus: float) -> Iterator[Any]:
    """The module `ray`, connected to a cluster until the end of the block.

    Without an address a Ray of its own starts: its ports are those of the loopback interface
    and ask for a token that only its processes have, it has no dashboard, tells nobody that it
    is used, and `cpus` of it can be set aside. It ends with this process, however that ends.
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
            "name the one that runs, with the same versions of Ray and Python"
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


@dataclass(slots=True)
class _Slot:
    restarts: Restarts = field(default_factory=Restarts)
    actor: Any = None
    place: Any = None
    """Reference to the answer of `ScorerActor.place`: it is there when the actor is."""
    ended: Any = None
    """Reference to the end of `ScorerActor.run`."""
    asked: float = 0.0
    """When the actor was asked for."""
    placed: bool = False
    told: bool = False
    """Whether it was logged that there is no place for it."""


class RayScorers:
    """Keeps `count` actors running, each with what `make` returns in its process.

    `supervise` is to be called every few seconds from one thread; it pauses like
    `LocalProcesses`. `make` travels pickled inside a call to the actor, so that what it holds
    (the configuration with its secrets) stands in no log, dashboard or table of Ray.
    """

    def __init__(
        self,
        ray: Any,
        make: Callable[[], Scorer],
        *,
        count: int,
        cpus: float,
        gpus: float,
        environment: Mapping[str, str],
        monotonic: Callable[[], float],
    ) -> None:
        self._ray = ray
        self._sealed = pickle.dumps(make)
        self._asks = {"num_cpus": cpus, "num_gpus": gpus}
        # Two threads: `run` fills one, `stop` needs another. Restarting is our own affair.
        self._actor = ray.remote(ScorerActor).options(
            **self._asks,
            max_concurrency=2,
            max_restarts=0,
            runtime_env={"env_vars": dict(environment)},
        )
        self._monotonic = monotonic
        self._slots = [_Slot() for _ in range(count)]

    def supervise(self) -> int:
        """Start what should run and does not; returns how many had died since the last call."""
        died = 0
        for number, slot in enumerate(self._slots):
            now = self._monotonic()
            if slot.actor is not None:
                if not self._ready(slot.ended):
                    self._watch_place(number, slot, now)
                    continue
                died += 1
                self._bury(number, slot, now)
            if slot.restarts.due(now):
                self._start(slot, now)
        return died

    def running(self) -> int:
        """Actors that have a place and have not ended."""
        return sum(
            slot.actor is not None and self._ready(slot.place) and not self._ready(slot.ended)
            for slot in self._slots
        )

    def stop(self, *, seconds: float) -> None:
        """Ask all actors to end (they finish the record at hand), then kill what is left."""
        placed = [slot for slot in self._slots if slot.actor is not None and slot.placed]
        for slot in placed:
            slot.actor.stop.remote()
        if placed:
            ends = [slot.ended for slot in placed]
            self._ray.wait(ends, num_returns=len(ends), timeout=seconds)
        for slot in self._slots:
            if slot.actor is not None:
                self._ray.kill(slot.actor)
                slot.actor = None

    def _start(self, slot: _Slot, now: float) -> None:
        slot.actor = self._actor.remote()
        slot.place = slot.actor.place.remote()
        slot.ended = slot.actor.run.remote(monitor.__version__, self._sealed)
        slot.asked = now
        slot.placed = slot.told = False
        slot.restarts.began(now)

    def _bury(self, number: int, slot: _Slot, now: float) -> None:
        reason = self._reason(slot.ended)
        # A scorer that could not be made leaves its process behind.
        self._ray.kill(slot.actor)
        slot.actor = None
        pause = slot.restarts.died(now)
        log.warning("scorer_died", number=number, reason=reason, restart_in=pause)

    def _watch_place(self, number: int, slot: _Slot, now: float) -> None:
        if slot.placed:
            return
        if self._ready(slot.place):
            slot.placed = True
            # Loading begins now: waiting for a machine was no part of this scorer's life.
            slot.restarts.began(now)
            log.info("scorer_placed", number=number, place=self._ray.get(slot.place))
        elif not slot.told and now - slot.asked >= WAIT_SECONDS:
            slot.told = True
            log.warning("scorer_waits_for_resources", number=number, **self._asks)

    def _ready(self, reference: Any) -> bool:
        ready, _ = self._ray.wait([reference], timeout=0)
        return bool(ready)

    def _reason(self, ended: Any) -> str:
        """Why an actor's `run` is over, without what a foreign exception may quote."""
        try:
            self._ray.get(ended)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            return str(cause) if isinstance(cause, MonitorError) else type(cause).__name__
        except self._ray.exceptions.RayError as error:
            return " ".join(str(error).split())[:MOST_DETAIL]
        return "ended by itself"
