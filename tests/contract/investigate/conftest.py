"""The facts of the pages over a filled database of each kind."""

from __future__ import annotations

import runpy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from monitor.investigate.sources import Sources
from monitor.storage.audit import SqlTextAudit
from monitor.storage.breach_store import SqlBreachStore
from monitor.storage.drift_store import SqlDriftStore
from monitor.storage.engine import Database
from monitor.storage.lease import SqlEvaluatorLease
from monitor.stores import now

_story = runpy.run_path(str(Path(__file__).parents[2] / "browser" / "story.py"))


@pytest.fixture
def story(database: Database) -> Any:
    """A night on call, on this database."""
    return _story["tell"](database, records=40)


@pytest.fixture
def sources(database: Database, story: Any) -> Sources:
    return Sources(
        database=database,
        breaches=SqlBreachStore(database, clock=now),
        drift=SqlDriftStore(database, clock=now),
        audit=SqlTextAudit(database, clock=now),
        evaluator=SqlEvaluatorLease(database, clock=now).current,
        clock=now,
        window=timedelta(hours=1),
        drift_window=timedelta(hours=1),
    )
