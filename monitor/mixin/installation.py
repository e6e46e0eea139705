"""Where dashboards and alerts will be used: addresses, names and periods."""

from __future__ import annotations

import math
from dataclasses import dataclass

from monitor.errors import ConfigurationError
from monitor.settings import Settings

GRAFANA_URL = "http://localhost:3000"
SCRAPE_JOB = "hss-monitor"
SCRAPE_SECONDS = 30.0
"""What is taken where nothing is said, as in `deploy/`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Installation:
    """What the files have to know and the sidecar's configuration does not say."""

    public_url: str
    """Address of the sidecar's pages as people reach it, without a slash at the end."""
    grafana_url: str
    """Address of Grafana, likewise."""
    runbooks_url: str
    """`{runbooks_url}/HssDrift.md` has to be the runbook of HssDrift."""
    job: str
    """Scrape job of the sidecars. One job a database: its replicas are judged as one."""
    scrape_seconds: float
    """How often Prometheus scrapes and judges rules."""

    def __post_init__(self) -> None:
        for field in ("public_url", "grafana_url", "runbooks_url"):
            value = getattr(self, field)
            if not value.startswith(("http://", "https://")) or value.endswith("/"):
                raise ConfigurationError(
                    f"{field}: {value!r}; write http://host or https://host without a / at its end"
                )
        if not self.job or not set(self.job).isdisjoint('"\\\n{}'):
            raise ConfigurationError(f"job: {self.job!r}; write the scrape job's name")
        if self.scrape_seconds < 1:
            raise ConfigurationError(f"scrape_seconds: {self.scrape_seconds!r}; set at least 1")


def installation(
    settings: Settings,
    *,
    public_url: str | None = None,
    grafana_url: str = GRAFANA_URL,
    runbooks_url: str | None = None,
    job: str = SCRAPE_JOB,
    scrape_seconds: float = SCRAPE_SECONDS,
) -> Installation:
    """Fill in what is not said: the sidecar's own address, which also serves the runbooks."""
    public = (public_url or settings.outlets.public_url or settings.http.url).rstrip("/")
    return Installation(
        public_url=public,
        grafana_url=grafana_url.rstrip("/"),
        runbooks_url=(runbooks_url or f"{public}/runbooks").rstrip("/"),
        job=job,
        scrape_seconds=scrape_seconds,
    )


def gap_seconds(settings: Settings, where: Installation) -> float:
    """How long the gauges of an active evaluator may be away while another one takes over.

    Its lease has to run out, the next one evaluates and exports, Prometheus scrapes twice.
    """
    return (
        settings.evaluation.lease_seconds
        + settings.evaluation.seconds
        + settings.scheduler.gauges_seconds
        + 2 * where.scrape_seconds
    )


def duration(seconds: float) -> str:
    """As Prometheus writes it, rounded up to whole seconds.

    >>> duration(90), duration(300), duration(7200), duration(259200)
    ('90s', '5m', '2h', '3d')
    """
    whole = math.ceil(seconds)
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if whole and whole % length == 0:
            return f"{whole // length}{unit}"
    return f"{whole}s"
