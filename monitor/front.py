"""One front: what takes traffic in, samples it and tells of it, wired; and its jobs."""

from __future__ import annotations

import socket
from pathlib import Path

from prometheus_client import CollectorRegistry

import monitor
from monitor.burn_rates import BurnRates
from monitor.delivering import outlet_jobs
from monitor.errors import ConfigurationError, DatabaseUnavailable
from monitor.execution.local import LocalProcesses
from monitor.exporter import Snapshot
from monitor.findings import Series
from monitor.front_stages import (
    budget_policy,
    category_rules,
    extraction_of,
    join_buffer,
    label_policy,
    redaction_of,
)
from monitor.gauges.refresh import Gauges
from monitor.ingest.following import Following, LineReader
from monitor.ingest.gathering import Gathering
from monitor.ingest.http import ingest_router
from monitor.ingest.position import PositionFile
from monitor.ingest.tail import Tail
from monitor.intake import ArrivalCount, QueueingIntake
from monitor.investigate.sources import Sources
from monitor.jobs import count_finished_records, supervise
from monitor.page_sources import sources_of
from monitor.recent import Recent
from monitor.records import Reason
from monitor.sampling.budget import EpochBook
from monitor.sampling.sampler import ConsistentSampler
from monitor.scheduler import Job
from monitor.settings import Settings
from monitor.stores import Stores, now, prune_by
from monitor.telemetry import Telemetry

LEVEL_SECONDS = 10.0
COUNT_SECONDS = 1.0
BACKLOG_SECONDS = 1.0
EPOCH_SECONDS = 5.0
"""How often, at most, it is looked whether a sampling epoch has ended."""


def front_name(settings: Settings) -> str:
    """This front, the same after a restart: it goes on counting the records that it took in."""
    return f"{socket.gethostname()}:{settings.http.port}"


class Front:
    """All that one front is made of, wired; `app.serve` runs it."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        *,
        scorers: LocalProcesses | None = None,
        evaluator: LocalProcesses | None = None,
    ) -> None:
        self.settings = settings
        self.stores = stores
        self.scorers = scorers
        self.evaluator = evaluator
        self.name = front_name(settings)
        self.telemetry = Telemetry(CollectorRegistry(), label_policy(settings))
        snapshot = Snapshot()
        self.telemetry.registry.register(snapshot)
        self.telemetry.gauge("hss_build_info", 1, monitor.__version__)
        levels = Recent(self._levels, seconds=LEVEL_SECONDS)
        self.burn_rates = BurnRates(
            self.telemetry,
            settings.thresholds,
            level_of=lambda threshold, series: levels().get((threshold, series)),
        )
        arrivals = ArrivalCount()
        self.book = EpochBook(
            store=stores.epochs,
            front=self.name,
            policy=budget_policy(settings),
            clock=now,
            arrivals=arrivals.take,
        )
        self.sampler = ConsistentSampler(salt=settings.sampling.salt, epoch=self.book.advance())
        self.gauges = Gauges(
            snapshot,
            telemetry=self.telemetry,
            stores=stores,
            settings=settings,
            front=self.name,
            epoch=lambda: self.sampler.epoch,
            clock=now,
        )
        self.outlets = outlet_jobs(settings, stores, self.telemetry, active=self._evaluates)
        self.intake = QueueingIntake(
            sampler=self.sampler,
            queue=stores.queue,
            category=category_rules(settings),
            telemetry=self.telemetry,
            front=self.name,
            arrived=arrivals,
            backlog=Recent(stores.queue.waiting, seconds=BACKLOG_SECONDS),
            backlog_limit=settings.http.backlog_limit,
        )
        self.redaction = redaction_of(settings)
        self.gathering = Gathering(
            intake=self.intake,
            extraction=extraction_of(settings),
            redaction=self.redaction,
            join=join_buffer(settings),
            clock=now,
        )
        self.ingest = ingest_router(
            intake=self.intake,
            gathering=self.gathering,
            redaction=self.redaction,
            clock=now,
            max_body=settings.http.max_body,
            refused=lambda status: self.telemetry.count("hss_ingest_rejected_total", str(status)),
        )

    @property
    def sources(self) -> Sources:
        """What the pages read from."""
        return sources_of(self.stores, self.settings)

    def status(self) -> dict[str, object]:
        """What this front has seen since it started, for `doctor`; never a text."""
        totals: dict[str, float] = {}
        skipped: dict[str, int] = {}
        for family in self.telemetry.registry.collect():
            for sample in family.samples:
                totals[sample.name] = totals.get(sample.name, 0.0) + sample.value
                if sample.name == "hss_records_skipped_total" and sample.value:
                    skipped[sample.labels["reason"]] = int(sample.value)
        return {
            "front": self.name,
            "received": int(totals.get("hss_records_received_total", 0)),
            "sampled": int(totals.get("hss_records_sampled_total", 0)),
            "replays_ignored": int(totals.get("hss_replays_ignored_total", 0)),
            "skipped": skipped,
            "scorers_running": self.scorers.running() if self.scorers is not None else None,
            "content_missing": [
                {"service": item.service, "scope": item.scope, "remedy": item.remedy}
                for item in self.gathering.content_missing
            ],
        }

    def following(self, file: Path) -> Following:
        """What takes in a log as `ingest.tail` says. Raises `ConfigurationError`."""
        if file.is_dir():
            raise ConfigurationError(
                f"ingest.tail.file: {str(file)!r} is a folder, of which nothing would be read; "
                "name the log in it"
            )
        position = PositionFile(self.settings.ingest.tail.position_file)
        return Following(
            Tail(file, position.load(), most_bytes=self.settings.http.max_body),
            position,
            reader=LineReader(self.settings.ingest.tail.fields),
            take=self.intake.arrivals,
            rejected=lambda lines: self.intake.skipped(Reason.CONTENT_MISSING, lines),
            replays=self.intake.replay_ignored,
            redaction=self.redaction,
            clock=now,
        )

    def jobs(self) -> list[Job]:
        """What runs periodically beside the event loop."""
        settings = self.settings
        jobs = [
            Job(
                name="count_finished",
                seconds=COUNT_SECONDS,
                run=lambda: count_finished_records(
                    self.stores.repository, self.telemetry, self.name, also=self.burn_rates.count
                ),
            ),
            Job(name="gauges", seconds=settings.scheduler.gauges_seconds, run=self.gauges.refresh),
            Job(
                name="sampling",
                # An epoch that is shorter than the turns of this job would overrun.
                seconds=min(EPOCH_SECONDS, settings.sampling.budget.epoch_seconds),
                run=lambda: self.sampler.use(self.book.advance()),
            ),
            Job(name="retention", seconds=settings.scheduler.retention_seconds, run=self._prune),
            *self.outlets,
        ]
        scorers = self.scorers
        if scorers is not None:
            jobs.append(
                Job(
                    name="supervise",
                    seconds=settings.scheduler.supervise_seconds,
                    run=lambda: supervise(scorers, self.telemetry),
                )
            )
        log_file = settings.ingest.tail.file
        if log_file is not None:
            jobs.append(
                Job(
                    name="tail",
                    seconds=settings.ingest.tail.poll_seconds,
                    run=self.following(log_file).turn,
                )
            )
        if self.evaluator is not None:
            jobs.append(
                Job(
                    name="supervise_evaluator",
                    seconds=settings.scheduler.supervise_seconds,
                    run=self.evaluator.supervise,
                )
            )
        return jobs

    def _evaluates(self) -> bool:
        """Whether it is on this front to tell others; without any evaluator it is on each."""
        lease = self.stores.lease.current()
        if lease is None:
            return not self.settings.evaluation.enabled
        return lease.holder == self.name

    def _levels(self) -> dict[tuple[str, Series], float]:
        """Levels that are quantiles of a reference, as the evaluator last found them."""
        try:
            states = self.stores.breaches.threshold_states()
        except DatabaseUnavailable:
            return {}  # the records at hand are handed out only once: count what can be counted
        return {
            (state.threshold, state.series): state.level
            for state in states
            if state.level is not None
        }

    def _prune(self) -> None:
        prune_by(self.settings, self.stores.database)
