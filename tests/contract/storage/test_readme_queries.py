"""The questions in SQL that the README shows, asked on both databases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.findings import BreachContributor, BreachDetail, BreachRow, Series
from monitor.records import Reason, RecordState, Support
from monitor.storage.breach_store import SqlBreachStore, breach_id
from monitor.storage.engine import Database
from monitor.storage.lease import SqlEvaluatorLease

README = Path(__file__).parents[3] / "README.md"
NEWS = Series(service="news", model="gemma", category="politics")


def _queries() -> dict[str, str]:
    """The question in front of each block, and the block."""
    blocks = re.findall(r"\n([^\n]+\?)\n\n```sql\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    return dict(blocks)


def _support(share: float) -> Support:
    return Support(
        entity_support=share,
        entity_reason=None,
        number_support=None,
        number_reason=Reason.NO_NUMBERS,
        unsupported=(),
        entities=4,
        numbers=0,
    )


@pytest.fixture
def night(database: Database, finish: Any, clock: Any) -> Any:
    """Two releases, a calm liar, two skipped records, one breach with two marks."""
    finish("good", record={"release": "1"}, result={"hss": 0.25, "support": _support(1.0)})
    finish("liar", record={"release": "1"}, result={"hss": 0.25, "support": _support(0.25)})
    worse = {"hss": 0.75, "support": _support(0.75)}
    finish("bad", record={"release": "2", "seconds": 5}, result=worse)
    skipped = {"state": RecordState.SKIPPED, "reason": Reason.TOO_LONG, "severity": None}
    for name in ("long-1", "long-2"):
        finish(name, record={"release": "2", "seconds": 6}, result=skipped)
    store, leases = SqlBreachStore(database, clock=clock), SqlEvaluatorLease(database, clock=clock)
    lease = leases.acquire("front", seconds=60)
    assert lease is not None
    row = BreachRow(
        id=breach_id("hss_mean", NEWS, 1),
        threshold="hss_mean",
        series=NEWS,
        number=1,
        signal="hss",
        statistic="mean",
        comparison="above",
        severity="page",
        state="open",
        exceeded_since=clock.now,
        opened_at=clock.now,
        resolved_at=None,
        value=0.85,
        worst=0.875,
        limit=0.8,
        window_seconds=3600.0,
        records=40,
        acknowledged_at=None,
        acknowledged_by=None,
        note=None,
    )
    contributors = tuple(
        BreachContributor(
            record_id=name,
            value=0.9,
            weight=1.0,
            place=place,
            release="2",
            mark=None,
            marked_by=None,
            marked_at=None,
        )
        for place, name in enumerate(("bad", "good"), start=1)
    )
    store.save(lease, states=[], breaches=[BreachDetail(breach=row, contributors=contributors)])
    store.mark(row.id, "bad", right=True, name="Ada")
    store.mark(row.id, "good", right=False, name="Ada")
    yield row
    leases.close()


def test_every_question_of_the_readme_gets_its_answer(database: Database, night: Any) -> None:
    """A query that people paste at 3 a.m. must run as it stands, on their database."""
    with database.read() as connection:
        answers = {
            question: [dict(row) for row in connection.execute(sa.text(query)).mappings()]
            for question, query in _queries().items()
        }
    releases, unseen, calm, unscored, wolves = answers.values()
    assert [(row["release"], row["records"], row["mean_hss"]) for row in releases] == [
        ("1", 2, 0.25),
        ("2", 1, 0.75),
    ]
    assert [row["mean_entity_support"] for row in releases] == [0.625, 0.75]
    assert [(row["breach_id"], row["worst"]) for row in unseen] == [(night.id, 0.875)]
    assert [row["record_id"] for row in calm] == ["liar"]
    assert [(row["reason"], row["state"], row["records"]) for row in unscored] == [
        ("too_long", "skipped", 2)
    ]
    assert [
        (row["threshold"], row["breaches"], float(row["live_precision"])) for row in wolves
    ] == [("hss_mean", 1, 0.5)]
