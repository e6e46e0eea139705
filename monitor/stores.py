"""Opening what is kept: the database and its stores; shared by both composition roots."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from monitor.errors import ConfigurationError
from monitor.settings import Settings
from monitor.storage.audit import SqlTextAudit
from monitor.storage.breach_store import SqlBreachStore
from monitor.storage.calibrations import SqlCalibrationStore
from monitor.storage.content import MIN_KEY_BYTES, AesGcmCipher, ContentCodec, ContentMode, TextHash
from monitor.storage.drift_store import SqlDriftStore
from monitor.storage.engine import Database, connect, require_file
from monitor.storage.epochs import SharedFacts, SqlEpochStore
from monitor.storage.lease import SqlEvaluatorLease
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.repository import Repository
from monitor.storage.retention import PruneReport, prune
from monitor.storage.schema import prepare

KEY_BYTES = 32


def now() -> datetime:
    """The clock of both composition roots: aware UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stores:
    database: Database
    queue: SqlRecordQueue
    repository: Repository
    calibrations: SqlCalibrationStore
    epochs: SqlEpochStore
    facts: SharedFacts
    drift: SqlDriftStore
    breaches: SqlBreachStore
    lease: SqlEvaluatorLease
    audit: SqlTextAudit


@contextmanager
def open_stores(
    settings: Settings, *, content_key: bytes | None = None, create: bool = True
) -> Iterator[Stores]:
    """Connect, bring the schema up to date (SQLite) or insist on it (PostgreSQL), and close.

    `content_key` seals queued texts in `hash_only` mode; without one a fresh key is made,
    which can read nothing that was queued before. Without `create` a SQLite file that is
    missing stays so: who asks what is stored asked in the wrong folder, as a rule, and a scorer
    that starts again must not put an empty file where a front's was deleted. Raises
    `DatabaseUnavailable`, `SchemaOutdated` or `ConfigurationError`.
    """
    if not create:
        require_file(settings.database.url)
    mode = ContentMode(settings.storage.mode)
    cipher = None if mode.keeps_texts else AesGcmCipher(content_key or AesGcmCipher.new_key())
    text_hash = TextHash(hash_key(settings.storage.hash_key_file))
    database = connect(settings.database.url)
    lease = SqlEvaluatorLease(database, clock=now)
    try:
        prepare(database)
        yield Stores(
            database=database,
            queue=SqlRecordQueue(
                database,
                clock=now,
                codec=ContentCodec(mode, cipher),
                text_hash=text_hash,
                max_attempts=settings.execution.max_attempts,
            ),
            repository=Repository(database, clock=now),
            calibrations=SqlCalibrationStore(database),
            epochs=SqlEpochStore(database),
            facts=SharedFacts(database),
            drift=SqlDriftStore(database, clock=now),
            breaches=SqlBreachStore(database, clock=now),
            lease=lease,
            audit=SqlTextAudit(database, clock=now),
        )
    finally:
        lease.close()
        database.close()


def prune_by(settings: Settings, database: Database) -> PruneReport:
    """Erase and delete what is older, or more, than the configuration keeps."""
    keep = settings.storage
    return prune(
        database,
        clock=now,
        texts_before=now() - timedelta(days=keep.keep_texts_days),
        records_before=now() - timedelta(days=keep.keep_records_days),
        max_bytes=keep.most_bytes(beside=database.is_sqlite),
    )


def require_shared_queue(settings: Settings) -> None:
    """For scorers that no front started: they have to be able to read what is queued.

    Raises `ConfigurationError` where only the front and its children can.
    """
    if not ContentMode(settings.storage.mode).keeps_texts:
        raise ConfigurationError(
            f"storage.mode: {settings.storage.mode!r} keeps the key of queued texts in the memory "
            "of the front that took them in, so that only its own scorers read them; set "
            "execution.backend: local there, or storage.mode: redacted"
        )


def hash_key(path: Path) -> bytes:
    """The key of the text hashes, made on the first start, readable by its owner only.

    Two processes that start at once agree: the file appears whole or not at all.
    """
    try:
        return _long_enough(path, path.read_bytes())
    except FileNotFoundError:
        pass
    except OSError as error:
        raise ConfigurationError(
            f"storage.hash_key_file: {str(path)!r} cannot be read ({error.strerror}); "
            "name a file that this user may read"
        ) from None
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        # A hard link appears at once and never replaces the key of a process that was first.
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    except OSError as error:
        raise ConfigurationError(
            f"storage.hash_key_file: {str(path)!r} cannot be made ({error.strerror}); "
            "name a file in a folder that this user may write"
        ) from None
    return path.read_bytes()


def _long_enough(path: Path, key: bytes) -> bytes:
    if len(key) < MIN_KEY_BYTES:
        raise ConfigurationError(
            f"storage.hash_key_file: {str(path)!r} holds {len(key)} bytes; it takes at least "
            f"{MIN_KEY_BYTES} random ones: put the key back, or delete the file and a new one is "
            "made, under which no hash matches an earlier one"
        )
    return key
