"""Structured logs on standard error; standard output belongs to results."""

from __future__ import annotations

import logging
import sys
import traceback

import structlog

from monitor.errors import DatabaseUnavailable


def configure(level: str, format_: str) -> None:
    """Send our events and those of the libraries to standard error, one line each.

    Our events have a stable name and fields, and never hold a document, a summary or a
    secret. Libraries are kept at `warning`: their lower levels may quote what they handle.
    """
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if format_ == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s"
    )
    # APScheduler warns whenever a turn is left out because the last one still runs: that is
    # what coalescing is for.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)


def failure(error: Exception) -> dict[str, object]:
    """The fields that tell of an exception which a loop outlives.

    The message of a foreign one may quote a text, so its kind and its frames have to do. That of
    a database that does not answer quotes none, and is all that whoever repairs it needs.
    """
    kind = type(error).__name__
    if isinstance(error, DatabaseUnavailable):
        return {"error": kind, "problem": str(error)}
    return {"error": kind, "frames": traceback.format_tb(error.__traceback__)}
