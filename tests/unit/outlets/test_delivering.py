"""Which front of a fleet tells others: the one whose evaluator judges, so each thing once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from monitor.front import Front
from monitor.settings import Settings
from monitor.stores import open_stores

TOLD = "webhook_since"
"""Settled by the first turn that a webhook really takes."""


@pytest.fixture
def make_front(tmp_path: Path) -> Iterator[Any]:
    """A front with a webhook, on a database of its own."""
    with ExitStack() as opened:

        def make(*, evaluates: bool) -> Front:
            settings = Settings(
                database={"url": f"sqlite:///{tmp_path / 'hss.db'}"},  # type: ignore[arg-type]  # pydantic validates them
                storage={"hash_key_file": tmp_path / "key"},  # type: ignore[arg-type]
                evaluation={"enabled": evaluates},  # type: ignore[arg-type]
                outlets={"webhook": {"url": "http://127.0.0.1:9/", "secret": "s"}},  # type: ignore[arg-type]
            )
            return Front(settings, opened.enter_context(open_stores(settings)))

        yield make


def test_the_front_whose_evaluator_judges_tells(make_front: Any) -> None:
    """All others would tell the same once more."""
    front = make_front(evaluates=True)
    (webhook,) = front.outlets
    webhook.run()
    assert front.stores.facts.get(TOLD) is None, "nobody judges yet, but somebody will"
    other = front.stores.lease.acquire("another", seconds=60)
    webhook.run()
    assert front.stores.facts.get(TOLD) is None
    front.stores.lease.release(other)
    front.stores.lease.acquire(front.name, seconds=60)
    webhook.run()
    assert front.stores.facts.get(TOLD) is not None


def test_without_any_evaluator_each_front_tells(make_front: Any) -> None:
    """There is nobody else to do it, and the database hands each event out once."""
    front = make_front(evaluates=False)
    (webhook,) = front.outlets
    webhook.run()
    assert front.stores.facts.get(TOLD) is not None
