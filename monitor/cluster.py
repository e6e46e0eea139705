"""The composition root of scorers on a Ray cluster: one command starts and watches them all."""

from __future__ import annotations

import math
import time
from functools import partial

import structlog

from monitor import logs
from monitor.child import Stopping
from monitor.errors import ConfigurationError, DependencyUnavailable
from monitor.execution.ray.connection import connected
from monitor.execution.ray.scorers import RayScorers
from monitor.processes import thread_limits
from monitor.settings import Settings
from monitor.stores import open_stores, require_shared_queue

log = structlog.get_logger(__name__)

STOP_SECONDS = 30.0


class ClusterScorer:
    """The scorer of one actor; made in the actor's process, from the command's configuration."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stopping = Stopping()

    def run(self) -> None:
        """Score until stopped; the record at hand is finished before this returns."""
        # Loads torch and all models: only actors need them, the command that starts them does not.
        from monitor.scorer import score_queue

        logs.configure(self._settings.logging.level, self._settings.logging.format)
        with open_stores(self._settings) as stores:
            score_queue(self._settings, stores, self._stopping)

    def stop(self) -> None:
        """End after the record at hand."""
        self._stopping.stop()


def serve(settings: Settings) -> None:
    """Start `execution.ray.scorers` actors and keep them running until SIGTERM or SIGINT.

    Raises `ConfigurationError` for a queue that actors cannot read, `DependencyUnavailable`
    without Ray, cluster or database: whoever started the command starts it again.
    """
    wanted = settings.execution.ray
    require_shared_queue(settings)
    if wanted.address is not None and settings.database.url.startswith("sqlite"):
        raise ConfigurationError(
            "database.url: other machines of a cluster cannot open a SQLite file; use "
            "postgresql+psycopg://…, or leave execution.ray.address out to stay on this machine"
        )
    with open_stores(settings):
        pass  # one refusal here says more than the same from every actor, again and again
    cpus = math.ceil(wanted.scorers * wanted.cpus)
    with connected(wanted.address, cpus=cpus) as ray:
        scorers = RayScorers(
            ray,
            partial(ClusterScorer, settings),
            count=wanted.scorers,
            cpus=wanted.cpus,
            gpus=wanted.gpus,
            environment=thread_limits(settings.models.threads),
            monotonic=time.monotonic,
        )
        stopping = Stopping()
        # After `ray.init`, which sets handlers of its own.
        stopping.listen(child=False)
        log.info("cluster_ready", address=wanted.address, scorers=wanted.scorers)
        try:
            scorers.supervise()
            while not stopping.wait(settings.scheduler.supervise_seconds):
                scorers.supervise()
            scorers.stop(seconds=STOP_SECONDS)
        except (ConnectionError, ray.exceptions.RayError) as error:
            raise DependencyUnavailable(
                f"execution.ray.address: the cluster {wanted.address!r} does not answer any more "
                f"({type(error).__name__}); start this command again when it is back"
            ) from None
    log.info("cluster_left")
