"""What is in the database of a text, in every mode."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.errors import ConfigurationError
from monitor.records import Reason, RecordState
from monitor.storage.content import AesGcmCipher, ContentCodec, ContentMode, TextHash
from monitor.storage.detail import record_detail
from monitor.storage.engine import Database
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.retention import prune
from monitor.storage.tables import metadata

HASH_KEY = b"a key for tests only"
SECRET_WORDS = ("harbour", "seaport", "council", "approved", "Zanzibar", "agreed", "finances")


def hashed(text: str) -> str:
    return hmac.new(HASH_KEY, text.encode(), hashlib.sha256).hexdigest()


def leaked_words(database: Database) -> set[str]:
    """Words of the texts that stand anywhere in the database, files and log included."""
    found = set()
    with database.read() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(sa.select(table)):
                found |= {word for word in SECRET_WORDS if word in repr(tuple(row))}
    if database.is_sqlite:
        path = str(database.engine.url.database)
        for suffix in ("", "-wal"):
            with open(path + suffix, "rb") as file:  # noqa: PTH123 - a suffix, not a path part
                data = file.read()
            found |= {word for word in SECRET_WORDS if word.encode() in data}
    return found


@pytest.fixture
def make_sealed_queue(database: Database, clock: Any) -> Any:
    def make(key: bytes) -> SqlRecordQueue:
        codec = ContentCodec(ContentMode.HASH_ONLY, AesGcmCipher(key))
        return SqlRecordQueue(database, clock=clock, codec=codec, text_hash=TextHash(HASH_KEY))

    return make


def test_hash_only_never_writes_a_text(
    database: Database, make_sealed_queue: Any, make_sampled: Any, make_result: Any
) -> None:
    """Not while it waits, not while it is leased, not when it is scored."""
    queue = make_sealed_queue(AesGcmCipher.new_key())
    item = make_sampled()
    queue.accept([item])
    assert leaked_words(database) == set()
    [leased] = queue.lease("w", count=1, seconds=60)
    assert leased.record == item.record
    assert leaked_words(database) == set()
    queue.finish(leased.lease, make_result())
    assert leaked_words(database) == set()


def test_hash_only_keeps_hashes_positions_and_numbers(
    database: Database, make_sealed_queue: Any, make_sampled: Any, make_result: Any
) -> None:
    """What is left must still explain the score and find equal texts."""
    queue = make_sealed_queue(AesGcmCipher.new_key())
    item = make_sampled()
    queue.accept([item])
    [leased] = queue.lease("w", count=1, seconds=60)
    result = make_result()
    queue.finish(leased.lease, result)
    detail = record_detail(database, "r1")
    assert detail is not None
    assert detail.score is not None
    assert (detail.document, detail.summary, detail.erased_at) == (
        None,
        None,
        leased.record.received_at,
    )
    assert detail.document_hash == hashed(item.record.document)
    assert detail.summary_hash == hashed(item.record.summary)
    assert detail.score.baseline_hash == hashed(str(result.baseline_summary))
    [measured, unanswered] = detail.perturbations
    expected = result.perturbations[0]
    assert measured.document_hash == hashed(expected.perturbation.document)
    assert measured.summary_hash == hashed(str(expected.summary.text))
    assert unanswered.summary_hash is None
    assert (measured.distance, measured.sentences) == (0.2, None)
    [word] = measured.substitutions
    assert (word.index, word.original, word.replacement, word.start) == (1, None, None, 4)
    [fact] = detail.score.unsupported
    assert (fact.kind, fact.text, fact.start) == ("entity", "", 4)
    assert detail.words is None
    assert detail.score.attribution_spans[1] == (4, 11)
    assert detail.attributions[0].explanations[0].values is not None


def test_a_lost_key_skips_what_waits_and_only_that(
    database: Database, make_sealed_queue: Any, make_sampled: Any
) -> None:
    """The key lives in memory: after a restart the queued texts cannot be read any more."""
    make_sealed_queue(AesGcmCipher.new_key()).accept([make_sampled("old")])
    queue = make_sealed_queue(AesGcmCipher.new_key())
    queue.accept([make_sampled("new", seconds=1)])
    queue._clock.advance(5)
    assert [x.record.id for x in queue.lease("w", count=5, seconds=60)] == ["new"]
    detail = record_detail(database, "old")
    assert detail is not None
    assert (detail.row.state, detail.row.reason) == (RecordState.SKIPPED, Reason.CONTENT_LOST)


def test_sealed_content_opens_for_its_own_record_only() -> None:
    """A sealed text that is moved to another row must not be taken for that row's text."""
    cipher = AesGcmCipher(AesGcmCipher.new_key())
    sealed = cipher.seal(b"text", record_id="a")
    assert cipher.open(sealed, record_id="a") == b"text"
    assert cipher.open(sealed, record_id="b") is None
    assert cipher.seal(b"text", record_id="a") != sealed


def test_a_mode_that_was_tightened_erases_what_waited_in_clear(
    database: Database,
    queue: SqlRecordQueue,
    make_sealed_queue: Any,
    make_sampled: Any,
    make_result: Any,
) -> None:
    """Records queued under `full` are still scored, but leave no texts behind."""
    queue.accept([make_sampled()])
    sealed_queue = make_sealed_queue(AesGcmCipher.new_key())
    [leased] = sealed_queue.lease("w", count=1, seconds=60)
    sealed_queue.finish(leased.lease, make_result())
    detail = record_detail(database, "r1")
    assert detail is not None
    assert (detail.document, detail.perturbations[0].document) == (None, None)


@pytest.mark.parametrize("mode", [ContentMode.FULL, ContentMode.REDACTED])
def test_texts_and_their_hashes_are_kept_where_the_mode_allows(
    database: Database, clock: Any, make_sampled: Any, make_result: Any, mode: ContentMode
) -> None:
    """The engineer on call sees what was written; equal texts have equal hashes."""
    queue = SqlRecordQueue(
        database, clock=clock, codec=ContentCodec(mode), text_hash=TextHash(HASH_KEY)
    )
    item = make_sampled()
    queue.accept([item])
    [leased] = queue.lease("w", count=1, seconds=60)
    queue.finish(leased.lease, make_result())
    detail = record_detail(database, "r1")
    assert detail is not None
    assert (detail.content_mode, detail.document) == (mode, item.record.document)
    assert detail.document_hash == hashed(item.record.document)


def test_erased_texts_are_gone_from_every_column_and_file(
    database: Database, queue: SqlRecordQueue, clock: Any, make_sampled: Any, make_result: Any
) -> None:
    """Retention means it: no word is left in JSON, in freed pages or in the log."""
    queue.accept([make_sampled(document="The harbour council approved it. " * 3000)])
    [leased] = queue.lease("w", count=1, seconds=60)
    queue.finish(leased.lease, make_result())
    assert "harbour" in leaked_words(database)
    clock.advance(10)
    report = prune(database, clock=clock, texts_before=clock.now)
    assert report.texts_erased == 1
    assert leaked_words(database) == set()
    detail = record_detail(database, "r1")
    assert detail is not None
    assert detail.score is not None
    assert (detail.row.hss, detail.perturbations[0].distance) == (0.25, 0.2)


@pytest.mark.parametrize("key", [b"", b"short"])
def test_a_weak_hash_key_is_refused(key: bytes) -> None:
    """Short texts behind a guessable key can be tried out."""
    with pytest.raises(ConfigurationError, match="16 random bytes"):
        TextHash(key)


def test_hash_only_without_a_cipher_is_refused() -> None:
    """Better no start than texts in clear."""
    with pytest.raises(ConfigurationError, match="hash_only"):
        ContentCodec(ContentMode.HASH_ONLY)
