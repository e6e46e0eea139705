"""What is kept of a text: everything, what redaction left of it, or only its hash.

In `full` and `redacted` the texts stand in clear (redaction is ingest's work and has
happened before). In `hash_only` a text must never be in the database in clear: while the
record waits, its content is sealed with a key that lives in memory only; when the record
is final it is erased. In every mode documents and summaries have a keyed hash, so that
equal texts can be found without being kept; without the key a hash cannot be tried out
against guessed texts.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from monitor.errors import ConfigurationError
from monitor.records import CapturedRequest, IncomingRecord, Message

_NONCE = 12
MIN_KEY_BYTES = 16


class ContentMode(StrEnum):
    """`storage.content` of the configuration, kept with each record."""

    FULL = "full"
    REDACTED = "redacted"
    HASH_ONLY = "hash_only"

    @property
    def keeps_texts(self) -> bool:
        return self is not ContentMode.HASH_ONLY

    def kept_under(self, present: ContentMode) -> bool:
        """Whether texts that came in under this mode may stay now that another one holds."""
        if self is ContentMode.FULL and present is ContentMode.REDACTED:
            return False
        return self.keeps_texts and present.keeps_texts


class TextHash:
    """HMAC-SHA-256 of a text in UTF-8, as 64 hex digits."""

    def __init__(self, key: bytes) -> None:
        if len(key) < MIN_KEY_BYTES:
            raise ConfigurationError(
                f"hash key: {len(key)} bytes are too few; give at least {MIN_KEY_BYTES} random "
                "bytes"
            )
        self._key = key

    def __call__(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        return hmac.new(self._key, data, hashlib.sha256).hexdigest()


class AesGcmCipher:
    """Seals bytes for one record, by AES-256-GCM with a random nonce, its id authenticated."""

    def __init__(self, key: bytes) -> None:
        if len(key) != 32:
            raise ConfigurationError(f"content key: {len(key)} bytes; AES-256 needs exactly 32")
        self._aead = AESGCM(key)

    @staticmethod
    def new_key() -> bytes:
        return AESGCM.generate_key(bit_length=256)

    def seal(self, data: bytes, *, record_id: str) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._aead.encrypt(nonce, data, record_id.encode("utf-8", "replace"))

    def open(self, sealed: bytes, *, record_id: str) -> bytes | None:
        """The bytes, or None where they were sealed with another key or for another record."""
        nonce, data = sealed[:_NONCE], sealed[_NONCE:]
        try:
            return self._aead.decrypt(nonce, data, record_id.encode("utf-8", "replace"))
        except InvalidTag:
            return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The part of a record that is text."""

    document: str
    summary: str
    request: CapturedRequest | None
    alternatives: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredContent:
    """The same as it stands in the columns of `records`."""

    document: str | None = None
    summary: str | None = None
    request: Any = None
    alternatives: Any = None
    sealed: bytes | None = None

    @property
    def size(self) -> int:
        """Bytes, nearly: code points count as one each."""
        request = json.dumps(self.request) if self.request is not None else ""
        texts = (self.document or "", self.summary or "", *(self.alternatives or ()), request)
        return sum(map(len, texts)) + len(self.sealed or b"")


class ContentCodec:
    """Turns a record's texts into columns and back, as the mode asks for."""

    def __init__(self, mode: ContentMode, cipher: AesGcmCipher | None = None) -> None:
        if mode is ContentMode.HASH_ONLY and cipher is None:
            raise ConfigurationError(
                "storage.content: 'hash_only' needs a content key; hand the codec a cipher"
            )
        self.mode = mode
        self._cipher = cipher

    def store(self, record: IncomingRecord) -> StoredContent:
        request = None if record.request is None else _request_to_json(record.request)
        alternatives = list(record.alternatives) or None
        if self.mode.keeps_texts or self._cipher is None:
            return StoredContent(
                document=record.document,
                summary=record.summary,
                request=request,
                alternatives=alternatives,
            )
        plain = json.dumps([record.document, record.summary, request, alternatives])
        # Deflated first: sealed bytes cannot be compressed any more, and documents can.
        data = zlib.compress(plain.encode("ascii"), level=1)
        return StoredContent(sealed=self._cipher.seal(data, record_id=record.id))

    def load(self, record_id: str, stored: StoredContent) -> Content | None:
        """The content, or None where it was erased or its key is gone."""
        if stored.sealed is not None:
            if self._cipher is None:
                return None
            data = self._cipher.open(stored.sealed, record_id=record_id)
            if data is None:
                return None
            document, summary, request, alternatives = json.loads(zlib.decompress(data))
        else:
            document, summary = stored.document, stored.summary
            request, alternatives = stored.request, stored.alternatives
        if document is None or summary is None:
            return None
        return Content(
            document=document,
            summary=summary,
            request=None if request is None else request_from_json(request),
            alternatives=tuple(alternatives or ()),
        )


def _request_to_json(request: CapturedRequest) -> dict[str, Any]:
    return {
        "messages": [[message.role, message.content] for message in request.messages],
        "model": request.model,
        "parameters": dict(request.parameters),
    }


def request_from_json(value: dict[str, Any]) -> CapturedRequest:
    """A captured request, as `ContentCodec.store` wrote it."""
    return CapturedRequest(
        messages=tuple(Message(role=role, content=content) for role, content in value["messages"]),
        model=value["model"],
        parameters=value["parameters"],
    )
