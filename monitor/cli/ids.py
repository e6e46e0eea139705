"""Ids as people type them: whole, or so much of the beginning that only one begins so."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.errors import UsageError
from monitor.storage.beginnings import NAMED, breach_ids, record_ids
from monitor.stores import Stores

CUT = "…"
"""Ends an id that a list has cut; taken off where it was copied with it."""


def record_of(stores: Stores, given: str, *, argument: str = "RECORD") -> str:
    """The id of the only record that begins so.

    Raises:
        UsageError: none or several do.
    """
    found = record_if_any(stores, given, argument=argument)
    if found is None:
        raise UsageError(f"{argument}: no record {given!r}; see `hss-monitor records list`")
    return found


def record_if_any(stores: Stores, given: str, *, argument: str) -> str | None:
    """The id of the only record that begins so; `None` where none does.

    Raises:
        UsageError: several do.
    """
    found = record_ids(stores.database, given.removesuffix(CUT))
    return _only(found, given, argument=argument, kind="record")


def breach_of(stores: Stores, given: str) -> str:
    """The id of the only breach that begins so.

    Raises:
        UsageError: none or several do.
    """
    ids = breach_ids(stores.database, given.removesuffix(CUT))
    found = _only(ids, given, argument="BREACH", kind="breach")
    if found is None:
        raise UsageError(f"BREACH: no breach {given!r}; see `hss-monitor breaches list`")
    return found


def contributor_of(stores: Stores, breach: str, given: str) -> str:
    """The id of the only record of the breach that begins so; what was given where none does.

    Not of all records: one that was pruned is still known to its breaches.

    Raises:
        UsageError: several do.
    """
    beginning = given.removesuffix(CUT)
    detail = stores.breaches.breach(breach)
    ids = [] if detail is None else sorted(each.record_id for each in detail.contributors)
    found = [each for each in ids if beginning and each.startswith(beginning)]
    if beginning in found:
        return beginning
    return _only(found[:NAMED], given, argument="RECORD", kind="record") or given


def _only(found: Sequence[str], given: str, *, argument: str, kind: str) -> str | None:
    if len(found) > 1:
        named = ", ".join(found[: NAMED - 1]) + (", …" if len(found) == NAMED else "")
        raise UsageError(
            f"{argument}: {given!r} begins the id of more than one {kind} ({named}); give more of "
            "the id"
        )
    return found[0] if found else None
