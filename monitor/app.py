"""The front's process: its HTTP application, its life from start to stop.

`front` wires what it is made of. One asyncio process that never imports torch, spaCy, shap,
gensim or scipy; a test holds it to that. Between it and the scorers stands only the queue.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import structlog
import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from prometheus_client import disable_created_metrics

import monitor
from monitor.access.guard import guard
from monitor.errors import MonitorError
from monitor.exporter import exposition
from monitor.front import Front, front_name
from monitor.heap import give_large_blocks_back
from monitor.ingest.gathering import Gathering
from monitor.investigate.pages import pages_router
from monitor.jobs import supervise
from monitor.listening import KEEP_ALIVE_SECONDS, BoundedConnection, listening
from monitor.mixin.runbooks import runbooks_router
from monitor.processes import local_evaluator, local_scorers
from monitor.scheduler import Job, background
from monitor.settings import Settings
from monitor.storage.content import AesGcmCipher
from monitor.stores import hash_key, now, open_stores

log = structlog.get_logger(__name__)

STOP_SECONDS = 30.0
EVALUATOR_STOP_SECONDS = 5.0
"""Nothing is lost with a turn that is cut off."""


def web(front: Front) -> FastAPI:
    """The HTTP application of a front, with its jobs running while it does."""
    # Before the server starts: what is wrong with them ends in an exit code, not in a traceback.
    jobs = front.jobs()
    app = FastAPI(
        title="hss-monitor",
        version=monitor.__version__,
        lifespan=lambda _: _running(front, jobs),
        # The interactive documentation loads scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    guard(
        app,
        front.settings,
        hash_key=hash_key(front.settings.storage.hash_key_file),
        clock=now,
        refused=lambda status: front.telemetry.count("hss_ingest_rejected_total", str(status)),
    )
    app.include_router(front.ingest)
    app.include_router(pages_router(front.sources))
    app.include_router(runbooks_router())
    app.include_router(_own_router(front))
    return app


@asynccontextmanager
async def _running(front: Front, jobs: list[Job]) -> AsyncIterator[None]:
    """Its jobs and its children, from their start to their orderly end."""

    def count(job: str, outcome: str) -> None:
        front.telemetry.count("hss_job_runs_total", job, outcome)

    for job in jobs:
        for outcome in ("done", "failed"):
            # From 0 on: the first failure is an increase, too.
            front.telemetry.count("hss_job_runs_total", job.name, outcome, by=0)
    scheduler = background(jobs, count=count)
    await asyncio.to_thread(front.gauges.refresh)
    if front.scorers is not None:
        supervise(front.scorers, front.telemetry)
    if front.evaluator is not None:
        front.evaluator.supervise()
    scheduler.start()
    sweeping = asyncio.create_task(_sweep(front.gathering))
    log.info("front_started", name=front.name, database=front.stores.database.url)
    try:
        yield
    finally:
        sweeping.cancel()
        await asyncio.to_thread(scheduler.shutdown)
        for children, seconds in (
            (front.evaluator, EVALUATOR_STOP_SECONDS),
            (front.scorers, STOP_SECONDS),
        ):
            if children is not None:
                await asyncio.to_thread(children.stop, seconds=seconds)
        await asyncio.to_thread(front.book.flush)
        log.info("front_stopped", name=front.name)


def _own_router(front: Front) -> APIRouter:
    """What the process tells of itself."""
    router = APIRouter()

    @router.get("/metrics")
    def metrics(request: Request) -> Response:
        """Prometheus text, or OpenMetrics with exemplars where it is accepted."""
        body, kind = exposition(front.telemetry.registry, request.headers.get("accept", ""))
        return Response(body, headers={"content-type": kind})

    @router.get("/api/status")
    async def status() -> dict[str, object]:
        """What this front has seen since it started."""
        return front.status()

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Alive. Depends on nothing but this process."""
        return {"status": "ok", "version": monitor.__version__}

    @router.get("/readyz")
    async def readyz() -> dict[str, str]:
        """Ready to take records in; never waits for a summarizer or a remote database."""
        return {"status": "ready"}

    return router


async def _sweep(gathering: Gathering) -> None:
    while True:
        await asyncio.sleep(2.0)
        gathering.sweep()


def serve(settings: Settings, *, config: Path | None) -> None:
    """Run the sidecar until it is told to stop (SIGTERM, SIGINT).

    `config` is handed on to the child processes, which read it, and the environment, themselves.
    """
    # Untyped in prometheus_client; `_created` series double the number of series for nothing.
    disable: Callable[[], None] = disable_created_metrics
    disable()
    give_large_blocks_back()
    content_key = AesGcmCipher.new_key() if settings.storage.mode == "hash_only" else None
    # uvicorn stops in order, then raises the signal again for the handler that was there before:
    # the default one would kill this process before its database is closed, with exit code 143.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    with (
        closing(listening(settings)) as listener,
        open_stores(settings, content_key=content_key) as stores,
    ):
        front = Front(
            settings,
            stores,
            scorers=local_scorers(settings, config, content_key),
            evaluator=local_evaluator(settings, config, front=front_name(settings)),
        )
        host, port = listener.getsockname()[:2]
        log.info("listening", host=host, port=port)
        server = uvicorn.Server(
            uvicorn.Config(
                web(front),
                http=BoundedConnection,
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=5,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
            )
        )
        server.run(sockets=[listener])
        if not server.started:
            raise MonitorError("the sidecar could not start; the log above says why")


def _leave(*_: object) -> None:
    raise SystemExit(0)
