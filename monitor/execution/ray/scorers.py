"""Keeping actors running: started again when they end, with the pauses of local processes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

import monitor
from monitor.errors import MonitorError
from monitor.execution.ray.actor import Scorer, ScorerActor
from monitor.execution.restarts import Restarts

log = structlog.get_logger(__name__)

WAIT_SECONDS = 60.0
"""An actor that has no place by then is worth a line in the log."""
MOST_DETAIL = 600
"""Characters of what Ray says about a death."""


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
