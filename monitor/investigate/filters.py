"""What an address asks for, as the filters of the stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from monitor.errors import UsageError, choices
from monitor.findings import BREACH_STATES, Series
from monitor.investigate.moments import moment
from monitor.labels import OTHER
from monitor.records import Reason, RecordState
from monitor.storage.breach_list import BreachFilter
from monitor.storage.queries import RecordFilter

RECORD_FIELDS = (
    "service",
    "model",
    "category",
    "release",
    "state",
    "reason",
    "since",
    "until",
    "min_hss",
    "trace_id",
    "text",
)
BREACH_FIELDS = ("service", "model", "category", "threshold", "state", "since", "until")
DRIFT_FIELDS = ("service", "model", "category", "state")
_NAMES = ("service", "model", "category")
WordT = TypeVar("WordT", bound=StrEnum)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfolded:
    """An address without the names that only metrics have."""

    query: Mapping[str, str]
    folded: tuple[str, ...]
    """Fields that were left out."""


def unfolded(query: Mapping[str, str], known: Callable[[], Sequence[Series]]) -> Unfolded:
    """What the link of a panel asks for.

    In metrics `other` stands for every name that `labels` of the configuration does not list.
    Panels cannot leave it out of their links, and no record has it, unless one of the `known`
    series is really called so.
    """
    fields = [field for field in _NAMES if query.get(field) == OTHER]
    if fields:
        series = known()
        fields = [
            field for field in fields if all(getattr(each, field) != OTHER for each in series)
        ]
    return Unfolded(
        query={field: value for field, value in query.items() if field not in fields},
        folded=tuple(fields),
    )


def asked(query: Mapping[str, str], fields: tuple[str, ...]) -> dict[str, str]:
    """The fields as they were sent; empty where they were not."""
    return {field: query.get(field, "").strip() for field in fields}


def record_filter(query: Mapping[str, str], *, now: datetime) -> RecordFilter:
    """Raises `UsageError` for a value that cannot be."""
    return RecordFilter(
        service=query.get("service") or None,
        model=query.get("model") or None,
        category=query.get("category") or None,
        release=query.get("release") or None,
        state=_word(RecordState, "state", query.get("state")),
        reason=_word(Reason, "reason", query.get("reason")),
        since=moment("since", query.get("since", "").strip() or None, now=now),
        until=moment("until", query.get("until", "").strip() or None, now=now),
        min_hss=_share("min_hss", query.get("min_hss")),
        trace_id=query.get("trace_id") or None,
    )


def breach_filter(query: Mapping[str, str], *, now: datetime) -> BreachFilter:
    """Raises `UsageError` for a value that cannot be."""
    state = query.get("state") or None
    if state is not None and state not in BREACH_STATES:
        raise UsageError(f"state: {state!r} is none of {choices(BREACH_STATES)}")
    return BreachFilter(
        service=query.get("service") or None,
        model=query.get("model") or None,
        category=query.get("category") or None,
        threshold=query.get("threshold") or None,
        state=state,
        since=moment("since", query.get("since", "").strip() or None, now=now),
        until=moment("until", query.get("until", "").strip() or None, now=now),
    )


def _word(words: type[WordT], field: str, value: str | None) -> WordT | None:
    if not value:
        return None
    try:
        return words(value)
    except ValueError:
        raise UsageError(f"{field}: {value!r} is none of {choices(words)}") from None


def _share(field: str, value: str | None) -> float | None:
    if not value:
        return None
    try:
        number = float(value.replace(",", "."))
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise UsageError(f"{field}: {value!r} is no number from 0 to 1")
    return number
