"""Scores as OpenTelemetry `gen_ai.evaluation.result` events.

One log record for each value, with the trace and span id of the summarization that was scored:
a tracing UI shows it beside the call. The names are those of the GenAI semantic conventions;
what is ours begins with `hss.`. No text of a record is in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs, SeverityNumber
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

import monitor
from monitor.outlets.links import record_url
from monitor.storage.score_rows import ScoreRow

EVENT = "gen_ai.evaluation.result"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """One value of one record."""

    name: str
    """The signal."""
    value: float
    explanation: str
    """For people."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    """What parts the records that fail from those that pass."""

    value: float
    above_fails: bool
    """Whether the records above it are the bad ones, or all others."""

    def label(self, value: float) -> str:
        """As `share_above` counts: equal is not above.

        >>> Level(value=0.8, above_fails=False).label(0.8)
        'fail'
        """
        return "fail" if (value > self.value) == self.above_fails else "pass"


def evaluations(row: ScoreRow) -> Iterator[Evaluation]:
    """HSS, support of entities and numbers, and SHAP instability of a record, as far as there
    are any."""
    if row.hss is not None:
        interval = (
            f" (95 % interval {row.hss_low:.2f} to {row.hss_high:.2f})"
            if row.hss_low is not None and row.hss_high is not None
            else ""
        )
        noise = (
            f", of which {row.null_distance:.3f} is serving noise"
            if row.null_distance is not None
            else ""
        )
        moved = "" if row.raw_distance is None else f" moved by {row.raw_distance:.3f} on average"
        yield Evaluation(
            name="hss",
            value=row.hss,
            explanation=f"HSS {row.hss:.2f}{interval}: the summaries of {row.distances} reworded "
            f"documents{moved}{noise}.",
        )
    for name, support, count, one, several in (
        ("entity_support", row.entity_support, row.entities, "named entity", "named entities"),
        ("number_support", row.number_support, row.numbers, "number", "numbers"),
    ):
        if support is not None:
            held = round(support * (count or 0))
            yield Evaluation(
                name=name,
                value=support,
                explanation=f"{held} of {count} {one if count == 1 else several} of the summary "
                f"{'is' if count == 1 else 'are'} in the document.",
            )
    if row.shap_instability is not None:
        floor = (
            f"; the method's own noise is {row.shap_noise_floor:.2f}"
            if row.shap_noise_floor is not None
            else ""
        )
        yield Evaluation(
            name="shap_instability",
            value=row.shap_instability,
            explanation=f"SHAP attributions move by {row.shap_instability:.2f} under "
            f"rewording{floor}.",
        )


def export_request(
    rows: Sequence[ScoreRow],
    *,
    levels: Mapping[str, Level],
    public_url: str | None,
    now: datetime,
) -> ExportLogsServiceRequest:
    """The OTLP request with the events of some records.

    `levels` say by signal what the label `fail` or `pass` is; a signal without one has no label.
    """
    events = [
        _event(row, each, level=levels.get(each.name), public_url=public_url, now=now)
        for row in rows
        for each in evaluations(row)
    ]
    scope = InstrumentationScope(name="hss-monitor", version=monitor.__version__)
    resource = Resource(attributes=_attributes({"service.name": "hss-monitor"}))
    logs = ResourceLogs(resource=resource, scope_logs=[ScopeLogs(scope=scope, log_records=events)])
    return ExportLogsServiceRequest(resource_logs=[logs])


def _event(
    row: ScoreRow, each: Evaluation, *, level: Level | None, public_url: str | None, now: datetime
) -> LogRecord:
    url = None if public_url is None else record_url(public_url, row.record_id)
    return LogRecord(
        time_unix_nano=_nanoseconds(row.finished_at),
        observed_time_unix_nano=_nanoseconds(now),
        severity_number=SeverityNumber.SEVERITY_NUMBER_INFO,
        severity_text="INFO",
        event_name=EVENT,
        trace_id=_id(row.trace_id, 16),
        span_id=_id(row.span_id, 8),
        attributes=_attributes(
            {
                # Receivers from before `event_name` was a field look for it here.
                "event.name": EVENT,
                "gen_ai.evaluation.name": each.name,
                "gen_ai.evaluation.score.value": each.value,
                "gen_ai.evaluation.score.label": None if level is None else level.label(each.value),
                "gen_ai.evaluation.explanation": each.explanation,
                "gen_ai.response.model": row.model,
                "hss.service": row.service,
                "hss.category": row.category or None,
                "hss.release": row.release,
                "hss.record.id": row.record_id,
                "hss.record.url": url,
                "hss.sampling.probability": row.probability,
            }
        ),
    )


def _attributes(values: Mapping[str, str | float | None]) -> list[KeyValue]:
    return [
        KeyValue(key=key, value=_value(value)) for key, value in values.items() if value is not None
    ]


def _value(value: str | float) -> Any:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    return AnyValue(double_value=value)


def _id(hex_digits: str | None, size: int) -> bytes:
    """The bytes of an id; empty for one that is missing or none of W3C's."""
    try:
        found = bytes.fromhex(hex_digits or "")
    except ValueError:
        return b""
    return found if len(found) == size else b""


def _nanoseconds(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(microseconds=1) * 1000
