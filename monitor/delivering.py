"""Wiring the outlets: what tells other systems about scores and breaches, as periodic jobs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

import httpx

from monitor.access.policy import secret_of
from monitor.errors import ConfigurationError
from monitor.outlets.evaluation_events import Level
from monitor.outlets.events import EventOutlet
from monitor.outlets.webhook import WebhookOutlet
from monitor.scheduler import Job
from monitor.settings import Settings
from monitor.storage.deliveries import SqlDeliveries
from monitor.storage.score_feed import SqlScoreFeed
from monitor.stores import Stores, now
from monitor.telemetry import Telemetry

WEBHOOK_SECONDS = 2.0
EVENTS_SECONDS = 5.0
_WEBHOOK_SINCE = "webhook_since"
_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)


def outlet_jobs(
    settings: Settings, stores: Stores, telemetry: Telemetry, *, active: Callable[[], bool]
) -> list[Job]:
    """A job for each outlet that is configured; it does its work while `active()`.

    Of several fronts the one whose evaluator judges is active, so that each thing is told once.
    Raises `ConfigurationError` for an address or a secret that cannot work.
    """
    jobs = []
    for name, seconds, run in (
        ("webhook", WEBHOOK_SECONDS, _webhook(settings, stores, telemetry)),
        ("events", EVENTS_SECONDS, _events(settings, stores, telemetry)),
    ):
        if run is not None:
            jobs.append(Job(name=name, seconds=seconds, run=_while(active, run)))
    return jobs


def check_outlets(settings: Settings) -> None:
    """Raises `ConfigurationError` for an address or a secret that cannot work."""
    outlets = settings.outlets
    if outlets.webhook.url is not None or outlets.events.url is not None:
        _client(1.0).close()
    if outlets.webhook.url is not None:
        _address("outlets.webhook.url", outlets.webhook.url)
        _webhook_secret(settings)
    if outlets.events.url is not None:
        _address("outlets.events.url", outlets.events.url)
        _headers(settings)


def _webhook_secret(settings: Settings) -> str:
    webhook = settings.outlets.webhook
    secret = secret_of("outlets.webhook.secret", webhook.secret, webhook.secret_file)
    if secret is None:
        raise ConfigurationError(
            "outlets.webhook.secret: it is missing, and a receiver could not tell our requests "
            "from anybody's; set outlets.webhook.secret_file, such as `openssl rand -hex 32` fills"
        )
    return secret


def _webhook(
    settings: Settings, stores: Stores, telemetry: Telemetry
) -> Callable[[], object] | None:
    webhook = settings.outlets.webhook
    count = _counter(telemetry, "webhook")
    if webhook.url is None:
        return None
    secret = _webhook_secret(settings)

    def since() -> datetime:
        return datetime.fromisoformat(stores.facts.settle(_WEBHOOK_SINCE, now().isoformat()))

    return WebhookOutlet(
        SqlDeliveries(stores.database, clock=now),
        _client(webhook.timeout_seconds),
        url=_address("outlets.webhook.url", webhook.url),
        secret=secret,
        public_url=settings.outlets.public_url,
        timeout_seconds=webhook.timeout_seconds,
        since=since,
        clock=now,
        count=count,
    ).run


def _events(
    settings: Settings, stores: Stores, telemetry: Telemetry
) -> Callable[[], object] | None:
    events = settings.outlets.events
    count = _counter(telemetry, "events")
    if events.url is None:
        return None
    return EventOutlet(
        SqlScoreFeed(stores.database, "events", clock=now),
        _client(events.timeout_seconds),
        url=_address("outlets.events.url", events.url),
        headers=_headers(settings),
        levels=labelling_levels(settings),
        public_url=settings.outlets.public_url,
        clock=now,
        count=count,
    ).run


def labelling_levels(settings: Settings) -> dict[str, Level]:
    """What makes a record a bad one, by signal: the first threshold that says so."""
    levels: dict[str, Level] = {}
    for threshold in settings.thresholds:
        if threshold.level is not None and threshold.level.value is not None:
            level = Level(value=threshold.level.value, above_fails=threshold.comparison == "above")
            levels.setdefault(threshold.signal, level)
    return levels


def _client(timeout_seconds: float) -> httpx.Client:
    """A client that takes proxies and certificates from the environment, as others on it do."""
    try:
        return httpx.Client(timeout=timeout_seconds)
    except (OSError, ImportError, ValueError, httpx.InvalidURL) as error:
        # The kind only: the address of a proxy may hold a password.
        raise ConfigurationError(
            "environment: a proxy (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY) or a certificate "
            f"(SSL_CERT_FILE, SSL_CERT_DIR) cannot be used ({type(error).__name__}); correct or "
            "unset it; SOCKS takes `pip install 'httpx[socks]'`"
        ) from None


def _address(key: str, url: str) -> str:
    """The URL as it was given; a message does not repeat it, as it may hold a secret."""
    try:
        parsed = httpx.URL(url)
        parsed.host.encode("idna")  # as the look-up of its address will
    except (httpx.InvalidURL, UnicodeError):
        parsed = httpx.URL("")
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigurationError(f"{key}: it is no http:// or https:// address; correct it")
    return url


def _headers(settings: Settings) -> dict[str, str]:
    """The headers of events; a message does not repeat their values, which may be secrets."""
    headers = {}
    for name, value in settings.outlets.events.headers.items():
        text = value.get_secret_value().strip()
        if _HEADER_NAME.fullmatch(name) is None or not (text.isascii() and text.isprintable()):
            raise ConfigurationError(
                f"outlets.events.headers: {name!r} has a character in its name or value that no "
                "header carries; use letters and digits of ASCII"
            )
        headers[name] = text
    return headers


def _counter(telemetry: Telemetry, outlet: str) -> Callable[[str], None]:
    for outcome in ("taken", "retried", "refused"):
        # From 0 on: the first failure is an increase, too.
        telemetry.count("hss_outlet_requests_total", outlet, outcome, by=0)
    return lambda outcome: telemetry.count("hss_outlet_requests_total", outlet, outcome)


def _while(active: Callable[[], bool], run: Callable[[], object]) -> Callable[[], object]:
    return lambda: run() if active() else None
