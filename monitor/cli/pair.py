"""Two records side by side: as one JSON object and for a terminal."""

from __future__ import annotations

from typing import Any

from monitor.cli.output import facts as facts_table
from monitor.cli.output import interval, note, number
from monitor.cli.record_words import unstable, unstable_words, unsupported_of
from monitor.investigate.record_parts import MethodFacts, RecordFacts

HEAD = 300
"""Characters of a text that are shown; `records show` has all of it."""


def pair_fields(first: RecordFacts, second: RecordFacts) -> dict[str, Any]:
    """The object that `--json` prints: keys and order are part of the interface."""
    return {
        "first": _fields(first),
        "second": _fields(second),
        "warnings": _warnings(first, second),
    }


def _fields(facts: RecordFacts) -> dict[str, Any]:
    row, score = facts.record, facts.score
    return {
        "id": row.id,
        "service": row.service,
        "model": row.model,
        "category": row.category,
        "release": row.release,
        "received_at": row.received_at,
        "state": row.state,
        "reason": row.reason,
        "hss": row.hss,
        "hss_low": row.hss_low,
        "hss_high": row.hss_high,
        "raw_distance": row.raw_distance,
        "null_distance": row.null_distance,
        "excess": row.excess,
        "entity_support": row.entity_support,
        "entity_reason": score and score.entity_reason,
        "number_support": row.number_support,
        "number_reason": score and score.number_reason,
        "unsupported": score.unsupported if score else [],
        "baseline": score and score.baseline,
        "fingerprint": score and score.fingerprint,
        "calibration": row.calibration_id,
        "attributions": {
            method.method: {
                "instability": method.instability,
                "noise_floor": method.noise_floor,
                "reason": method.reason,
                "unstable_words": [
                    {
                        "start": word.start,
                        "end": word.end,
                        "text": word.text,
                        "instability": word.instability,
                    }
                    for word in unstable(method)
                ],
            }
            for method in facts.methods
        },
        "distances": [version.distance for version in facts.versions],
        "document_hash": facts.document_hash,
        "missing": facts.missing,
    }


def print_pair(first: RecordFacts, second: RecordFacts) -> None:
    """One line a fact, one column a record."""
    pair = (first, second)
    rows: list[tuple[str, Any, Any]] = [
        _line("service", [facts.record.service for facts in pair]),
        _line("model", [facts.record.model for facts in pair]),
        _line("release", [facts.record.release for facts in pair]),
        _line("category", [facts.record.category for facts in pair]),
        _line("received", [facts.record.received_at for facts in pair]),
        _line("state", [facts.record.state for facts in pair]),
        _line("reason", [facts.record.reason for facts in pair]),
        _line("HSS", [_hss(facts) for facts in pair]),
        _line("raw distance", [facts.record.raw_distance for facts in pair]),
        _line("null distance", [facts.record.null_distance for facts in pair]),
        _line("excess", [facts.record.excess for facts in pair]),
        _line("entity support", [_support(facts, "entity") for facts in pair]),
        _line("number support", [_support(facts, "number") for facts in pair]),
        _line("not in the document", [_unsupported(facts) for facts in pair]),
        _line("baseline", [facts.score and facts.score.baseline for facts in pair]),
        _line("calibration", [facts.record.calibration_id for facts in pair]),
        _line("distances", [_distances(facts) for facts in pair]),
    ]
    for name in dict.fromkeys(method.method for facts in pair for method in facts.methods):
        found = [_method(facts, name) for facts in pair]
        rows.append(_line(f"{name} instability", [_instability(method) for method in found]))
        rows.append(_line(f"{name} unstable words", [_words(method) for method in found]))
    rows.append(_line("document", [_begin(facts.document) for facts in pair]))
    rows.append(_line("summary", [_begin(facts.summary) for facts in pair]))
    facts_table(rows, columns=["", first.record.id, second.record.id])
    for warning in _warnings(first, second):
        note(warning)


def _line(name: str, values: list[Any]) -> tuple[str, Any, Any]:
    return name, values[0], values[1]


def _begin(text: str | None) -> str:
    if text is None:
        return "not kept"
    return text if len(text) <= HEAD else f"{text[:HEAD]} …"


def _hss(facts: RecordFacts) -> str | None:
    row = facts.record
    if row.hss is None:
        return None if facts.score is None else str(facts.score.hss_reason or "unknown")
    return interval(row.hss, row.hss_low, row.hss_high)


def _support(facts: RecordFacts, kind: str) -> float | str | None:
    value: float | None = getattr(facts.record, f"{kind}_support")
    if value is not None or facts.score is None:
        return value
    return str(getattr(facts.score, f"{kind}_reason") or "unknown")


def _unsupported(facts: RecordFacts) -> str | None:
    if facts.score is None:
        return None
    return unsupported_of(facts.score.unsupported) or "nothing"


def _distances(facts: RecordFacts) -> str | None:
    known = [version.distance for version in facts.versions]
    return " ".join("–" if value is None else f"{value:.2f}" for value in known) or None


def _method(facts: RecordFacts, name: str) -> MethodFacts | None:
    return next((method for method in facts.methods if method.method == name), None)


def _instability(method: MethodFacts | None) -> str | None:
    if method is None or method.instability is None:
        return None if method is None else str(method.reason or "unknown")
    floor = "unknown" if method.noise_floor is None else number(method.noise_floor)
    return f"{number(method.instability)} (noise floor {floor})"


def _words(method: MethodFacts | None) -> str | None:
    return None if method is None else unstable_words(method)


def _warnings(first: RecordFacts, second: RecordFacts) -> list[str]:
    warnings = []
    if first.document_hash == second.document_hash:
        warnings.append("both summarize the same document")
    prints = {facts.score.fingerprint for facts in (first, second) if facts.score is not None}
    if len(prints) > 1:
        warnings.append("they were scored under different settings: distances do not compare")
    elif first.record.calibration_id != second.record.calibration_id:
        warnings.append("HSS was normalized by different calibrations: compare raw distances")
    return warnings
