"""In `hash_only` mode a database's own files hold no text: tables, indexes and write-ahead log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from monitor.storage.content import AesGcmCipher, ContentCodec, ContentMode, TextHash
from monitor.storage.engine import Database
from monitor.storage.queue import SqlRecordQueue

PLANTED = ("Quillmarsh", "Vexmoorby", "Tarnwhistle", "Brackenfold", "Dunlarkin", "Ostrelwick")


def held(folder: Path, words: tuple[str, ...]) -> set[str]:
    files = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    return {word for word in words for data in files if word.encode() in data}


@pytest.fixture
def folder(database: Database, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where the server, or the library, keeps the database."""
    if database.is_sqlite:
        return tmp_path
    return Path(request.getfixturevalue("postgres_cluster").folder)


def flush(database: Database) -> None:
    """What the server still holds in memory goes to its files."""
    if not database.is_sqlite:
        with database.autocommit() as connection:
            connection.exec_driver_sql("CHECKPOINT")


@pytest.mark.parametrize("mode", [ContentMode.HASH_ONLY, ContentMode.FULL])
def test_planted_words_are_in_the_files_of_full_mode_only(
    database: Database, folder: Path, clock: Any, make_sampled: Any, make_result: Any, mode: Any
) -> None:
    """The second mode shows that the search would find them."""
    words = tuple(f"{word}{mode.value.replace('_', '')}" for word in PLANTED)
    document, summary, spare, reworded, baseline, unsupported = words
    cipher = None if mode.keeps_texts else AesGcmCipher(AesGcmCipher.new_key())
    queue = SqlRecordQueue(
        database,
        clock=clock,
        codec=ContentCodec(mode, cipher),
        text_hash=TextHash(b"a key for tests only"),
    )
    queue.accept([make_sampled(document=document, summary=summary, alternatives=(spare,))])
    [leased] = queue.lease("w", count=1, seconds=60)
    flush(database)
    expected = set() if mode is ContentMode.HASH_ONLY else {document, summary, spare}
    assert held(folder, words) == expected

    result = make_result(baseline_summary=baseline)
    [measured, *others] = result.perturbations
    perturbation = replace(measured.perturbation, document=reworded)
    facts = tuple(replace(fact, text=unsupported) for fact in result.support.unsupported)
    queue.finish(
        leased.lease,
        replace(
            result,
            perturbations=(replace(measured, perturbation=perturbation), *others),
            support=replace(result.support, unsupported=facts),
        ),
    )
    flush(database)
    assert held(folder, words) == (set() if mode is ContentMode.HASH_ONLY else set(words))
