"""Who was shown which texts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from monitor.storage.audit import SqlTextAudit, TextView
from monitor.storage.engine import Database


@pytest.fixture
def audit(database: Database, clock: Any) -> SqlTextAudit:
    return SqlTextAudit(database, clock=clock)


def test_a_view_says_who_when_what_and_how(audit: SqlTextAudit, clock: Any) -> None:
    """That is what somebody will ask after a leak."""
    audit.viewed("r1", role="investigator", viewer="session 0a1b", channel="page")
    assert audit.views() == [
        TextView(
            viewed_at=clock.now,
            role="investigator",
            viewer="session 0a1b",
            record_id="r1",
            channel="page",
        )
    ]


def test_every_view_is_a_row_also_of_the_same_record_at_the_same_time(
    audit: SqlTextAudit,
) -> None:
    """Two people may look at once."""
    for _ in range(2):
        audit.viewed("r1", "r2", role="anybody", viewer="anybody", channel="api")
    assert sorted(view.record_id for view in audit.views()) == ["r1", "r1", "r2", "r2"]
    assert [view.record_id for view in audit.views(record_id="r2")] == ["r2", "r2"]
    audit.viewed(role="anybody", viewer="anybody", channel="api")
    assert len(audit.views()) == 4


def test_views_come_newest_first_within_their_time(audit: SqlTextAudit, clock: Any) -> None:
    """The list is long; what happened last night is asked for."""
    start = clock.now
    for name in ("a", "b", "c"):
        audit.viewed(name, role="viewer", viewer="token", channel="cli")
        clock.advance(60)
    assert [view.record_id for view in audit.views(limit=2)] == ["c", "b"]
    later = audit.views(since=start + timedelta(seconds=60), until=start + timedelta(seconds=120))
    assert [view.record_id for view in later] == ["b"]


def test_old_views_are_pruned_and_others_stay(audit: SqlTextAudit, clock: Any) -> None:
    """The audit is personal data, too."""
    audit.viewed(*(f"r{n}" for n in range(1100)), role="viewer", viewer="token", channel="export")
    clock.advance(60)
    audit.viewed("new", role="viewer", viewer="token", channel="page")
    assert audit.prune(before=clock.now) == 1100
    assert [view.record_id for view in audit.views()] == ["new"]
    assert audit.prune(before=clock.now) == 0
