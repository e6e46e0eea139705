"""Scores as OpenTelemetry events."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from monitor.outlets.evaluation_events import Level, evaluations, export_request
from monitor.outlets.links import record_url


def events(row: Any, clock: Any, **given: Any) -> list[LogRecord]:
    request = export_request(
        [row], levels=given.get("levels", {}), public_url=given.get("public_url"), now=clock.now
    )
    [logs] = request.resource_logs
    [scope] = logs.scope_logs
    return list(scope.log_records)


def attributes(event: LogRecord) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, str(each.value.WhichOneof("value")))
        for each in event.attributes
    }


def test_each_value_is_an_event_beside_the_call_that_it_scores(make_row: Any, clock: Any) -> None:
    """The parent is the span that wrote the summary."""
    row = make_row(seconds=1.5)
    found = events(row, clock)
    assert [attributes(event)["gen_ai.evaluation.name"] for event in found] == [
        "hss",
        "entity_support",
        "number_support",
        "shap_instability",
    ]
    for event in found:
        assert event.event_name == "gen_ai.evaluation.result"
        assert event.trace_id == bytes.fromhex("ab" * 16)
        assert event.span_id == bytes.fromhex("cd" * 8)
        assert event.time_unix_nano == 1_772_366_401_500_000_000
    assert [attributes(event)["gen_ai.evaluation.score.value"] for event in found] == [
        0.25,
        0.75,
        0.5,
        0.3,
    ]


def test_explanations_say_what_the_number_means(make_row: Any) -> None:
    """Who sees the event has no README beside it."""
    told = [each.explanation for each in evaluations(make_row())]
    assert told == [
        "HSS 0.25 (95 % interval 0.10 to 0.40): the summaries of 8 reworded documents moved by "
        "0.200 on average, of which 0.050 is serving noise.",
        "3 of 4 named entities of the summary are in the document.",
        "1 of 2 numbers of the summary are in the document.",
        "SHAP attributions move by 0.30 under rewording; the method's own noise is 0.05.",
    ]


def test_one_number_is_no_numbers(make_row: Any) -> None:
    """Most summaries hold one or none."""
    told = [each.explanation for each in evaluations(make_row(numbers=1, number_support=0.0))]
    assert "0 of 1 number of the summary is in the document." in told


def test_what_was_not_computed_is_no_event(make_row: Any, clock: Any) -> None:
    """An uncalibrated record has no HSS; 0 would be a lie."""
    nothing = dict.fromkeys(("hss", "entity_support", "number_support", "shap_instability"))
    assert events(make_row(**nothing), clock) == []
    [event] = events(make_row(**nothing | {"number_support": 0.5}), clock)
    assert attributes(event)["gen_ai.evaluation.name"] == "number_support"


@pytest.mark.parametrize(
    ("value", "above_fails", "label"),
    [(0.9, True, "pass"), (0.91, True, "fail"), (0.9, False, "fail"), (0.91, False, "pass")],
)
def test_a_label_stands_only_where_a_level_is_configured(
    make_row: Any, clock: Any, value: float, above_fails: bool, label: str
) -> None:
    """The same level, and the same bad side, as the threshold that counts such records."""
    levels = {"number_support": Level(value=0.9, above_fails=above_fails)}
    _, support, numbers, _ = events(make_row(number_support=value), clock, levels=levels)
    assert attributes(numbers)["gen_ai.evaluation.score.label"] == label
    assert "gen_ai.evaluation.score.label" not in attributes(support)


@pytest.mark.parametrize("trace_id", [None, "", "zz", "ab" * 15])
def test_a_record_without_a_span_is_told_without_a_parent(
    make_row: Any, clock: Any, trace_id: str | None
) -> None:
    """Posted records may name no trace, or none of W3C's."""
    event = events(make_row(trace_id=trace_id, span_id=None), clock)[0]
    assert (event.trace_id, event.span_id) == (b"", b"")


def test_the_event_leads_to_the_records_page(make_row: Any, clock: Any) -> None:
    """Ids come from senders: they may hold anything."""
    event = events(make_row("a/b?c#d é"), clock, public_url="https://hss.example/")[0]
    url = "https://hss.example/records/a%2Fb%3Fc%23d%20%C3%A9"
    assert (
        attributes(event)["hss.record.url"] == url == record_url("https://hss.example", "a/b?c#d é")
    )
    assert "hss.record.url" not in attributes(events(make_row(), clock)[0])
