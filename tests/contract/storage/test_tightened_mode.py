"""What was queued in clear, when a stricter mode has come to hold."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.records import RecordState
from monitor.storage.content import AesGcmCipher, ContentCodec, ContentMode, TextHash
from monitor.storage.detail import record_detail
from monitor.storage.engine import Database
from monitor.storage.queue import SqlRecordQueue

HASH_KEY = b"a key for tests only"


@pytest.fixture
def queue_of(database: Database, clock: Any) -> Any:
    def make(mode: ContentMode) -> SqlRecordQueue:
        cipher = AesGcmCipher(AesGcmCipher.new_key()) if not mode.keeps_texts else None
        codec = ContentCodec(mode, cipher)
        text_hash = TextHash(HASH_KEY)
        return SqlRecordQueue(
            database, clock=clock, codec=codec, text_hash=text_hash, max_attempts=1
        )

    return make


@pytest.mark.parametrize(
    ("before", "now", "kept"),
    [
        (ContentMode.FULL, ContentMode.FULL, True),
        (ContentMode.FULL, ContentMode.REDACTED, False),
        (ContentMode.FULL, ContentMode.HASH_ONLY, False),
        (ContentMode.REDACTED, ContentMode.FULL, True),
        (ContentMode.REDACTED, ContentMode.REDACTED, True),
        (ContentMode.REDACTED, ContentMode.HASH_ONLY, False),
    ],
)
def test_texts_stay_only_where_both_modes_allow(
    database: Database,
    queue_of: Any,
    make_sampled: Any,
    make_result: Any,
    before: ContentMode,
    now: ContentMode,
    kept: bool,
) -> None:
    """They are still scored, but what came in unredacted must not outlive that."""
    queue_of(before).accept([make_sampled()])
    queue = queue_of(now)
    [leased] = queue.lease("w", count=1, seconds=60)
    queue.finish(leased.lease, make_result())
    detail = record_detail(database, "r1")
    assert detail is not None
    found = (detail.document, detail.summary, detail.perturbations[0].summary)
    assert [text is not None for text in found] == [kept] * 3


def test_what_is_given_up_leaves_no_texts_behind_either(
    database: Database, queue_of: Any, make_sampled: Any, clock: Any
) -> None:
    """A record whose attempts are used up is final, too."""
    queue_of(ContentMode.FULL).accept([make_sampled()])
    queue = queue_of(ContentMode.HASH_ONLY)
    queue.lease("w", count=1, seconds=60)
    clock.advance(61)
    assert queue.lease("w", count=1, seconds=60) == []
    detail = record_detail(database, "r1")
    assert detail is not None
    assert (detail.row.state, detail.document) == (RecordState.FAILED, None)
