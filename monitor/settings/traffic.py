"""Sections about live traffic: taking it in, keeping it, choosing what is scored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import jmespath
from pydantic import Field, field_validator, model_validator

from monitor.settings.section import Count, Days, Positive, Section


class Http(Section):
    host: str = Field("127.0.0.1", description="Address that the sidecar listens on.")
    port: int = Field(8318, ge=0, le=65535, description="Its one port; 0 takes a free one.")
    max_body: int = Field(
        16 * 2**20, ge=1024, description="Greatest body in bytes, counted after decompression."
    )
    backlog_limit: Count = Field(
        100_000, description="Queued records above which ingest answers 503 with Retry-After."
    )

    @property
    def url(self) -> str:
        """How this machine reaches it; an address that means all of them is asked at home."""
        home = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 -- asked, not bound
        host = home.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


class Database(Section):
    url: str = Field(
        "sqlite:///hss-monitor.db",
        description="SQLAlchemy URL: SQLite, or postgresql+psycopg://user:password@host/name.",
    )


class Logging(Section):
    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least level that is written to standard error."
    )
    format: Literal["console", "json"] = Field(
        "json", description="One JSON object a line, or text."
    )


class Labels(Section):
    services: tuple[str, ...] = Field(
        (), description="Service names that may become metric labels; others become `other`."
    )
    models: tuple[str, ...] = Field(
        (), description="Model names that may become metric labels; others become `other`."
    )
    categories: tuple[str, ...] = Field(
        (),
        description="Categories that senders name and that may become metric labels, beside those "
        "of `categories`; others become `other`.",
    )


class Extraction(Section):
    rule: Literal["last_user_message", "regex", "delimiters"] = Field(
        "last_user_message",
        description="Where the document stands in a prompt: the last user message without its "
        "instruction paragraph, the group `document` of a pattern, or between two delimiters.",
    )
    pattern: str | None = Field(
        None, description="For `regex`: a pattern with a group named `document`."
    )
    begin: str | None = Field(None, description="For `delimiters`: text before the document.")
    end: str | None = Field(None, description="For `delimiters`: text after the document.")

    @model_validator(mode="after")
    def _complete(self) -> Extraction:
        if self.rule == "regex" and "(?P<document>" not in (self.pattern or ""):
            raise ValueError("rule 'regex' needs a `pattern` with a group (?P<document>...)")
        if self.rule == "delimiters" and not (self.begin and self.end):
            raise ValueError("rule 'delimiters' needs both `begin` and `end`")
        return self


class Tail(Section):
    file: Path | None = Field(None, description="Log of JSON lines that is followed; null: none.")
    position_file: Path = Field(
        Path("hss-monitor.position"), description="Where it is kept up to where that was read."
    )
    fields: dict[str, str] = Field(
        default_factory=dict,
        description="Record field: JMESPath of it in a line, as in summary: answer.text or "
        "service: \"'newsroom'\"; empty: a line is a record as POST /v1/records takes it.",
    )
    poll_seconds: Positive = Field(1, description="How often the log is looked at.")

    @field_validator("fields")
    @classmethod
    def _compiled(cls, fields: dict[str, str]) -> dict[str, str]:
        for name, path in fields.items():
            try:
                jmespath.compile(path)
            except jmespath.exceptions.ParseError:
                raise ValueError(f"{name}: {path!r} is no JMESPath expression") from None
        missing = {"document", "summary", "service", "model"} - set(fields)
        if fields and missing:
            raise ValueError(f"{sorted(missing)[0]} is missing; say where a line holds it")
        return fields


class Ingest(Section):
    extraction: Extraction = Extraction()
    join_seconds: Positive = Field(
        30.0, description="How long a span waits for content that comes in /v1/logs, and back."
    )
    join_records: Count = Field(2_000, description="Most spans and events waiting at a time.")
    join_bytes: Count = Field(16 * 2**20, description="Most bytes of content waiting at a time.")
    tail: Tail = Tail()


class Redaction(Section):
    patterns: tuple[str, ...] = Field(
        (), description="More regular expressions whose matches are redacted."
    )

    @field_validator("patterns")
    @classmethod
    def _compile(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(
                    f"{pattern!r}: {error}; give regular expressions of Python's `re`"
                ) from None
        return patterns


SQLITE_BYTES = 10 * 2**30
"""`storage.max_database_bytes` where it is not set and the database shares its disk with the
service: some 200,000 scored news articles."""


class Storage(Section):
    mode: Literal["full", "redacted", "hash_only"] = Field(
        "full", description="What is kept of texts: all, redacted, or keyed hashes only."
    )
    hash_key_file: Path = Field(
        Path("hss-monitor.key"),
        description="Key of the text hashes; made on the first start. Share it in a fleet.",
    )
    keep_texts_days: Days = Field(14, description="Days after which texts are erased.")
    keep_records_days: Days = Field(90, description="Days after which records are deleted.")
    max_database_bytes: int | None = Field(
        None,
        ge=2**20,
        description="Oldest records are deleted above this size. null: 10 GiB with SQLite, no "
        "limit with PostgreSQL.",
    )

    def most_bytes(self, *, beside: bool) -> int | None:
        """The limit, or its default: `beside` says that the database is a file of this machine."""
        if self.max_database_bytes is not None:
            return self.max_database_bytes
        return SQLITE_BYTES if beside else None


class Budget(Section):
    records_per_hour: Positive | None = Field(
        None, description="Records to score in an hour over all replicas; null: no budget."
    )
    epoch_seconds: Positive = Field(300, description="How long sampling rates stay the same.")


class Sampling(Section):
    rate: float = Field(
        1.0, gt=0, le=1, description="Greatest share of the traffic that is scored."
    )
    salt: str = Field(
        "hss-monitor",
        min_length=1,
        description="Makes our choice independent of other samplers' choices.",
    )
    budget: Budget = Budget()


class CategoryRule(Section):
    category: str = Field(description="Category of the records that match all that follows.")
    service: str | None = Field(None, description="Shell pattern of the service name.")
    model: str | None = Field(None, description="Shell pattern of the model name.")
    pattern: str | None = Field(
        None, description="Regular expression searched in the document's first 2,000 characters."
    )


class Categories(Section):
    default: str = Field("general", description="Category where nothing else decides.")
    rules: tuple[CategoryRule, ...] = Field(
        (), description="The first rule that matches decides; see CategoryRule."
    )
    descriptions: dict[str, str] = Field(
        default_factory=dict,
        description="Category: a sentence that describes it; the nearest one decides last.",
    )

    @field_validator("descriptions")
    @classmethod
    def _described(cls, descriptions: dict[str, str]) -> dict[str, str]:
        for name, text in descriptions.items():
            if not text.strip():
                raise ValueError(f"{name}: describe such documents in a sentence")
        return descriptions
