"""The section about what is told to other tools."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from monitor.settings.section import Positive, Section


class Webhook(Section):
    url: str | None = Field(
        None, description="Where a signed JSON body is posted when a breach opens or resolves."
    )
    secret: SecretStr | None = Field(None, description="Key of the HMAC-SHA256 signature.")
    secret_file: Path | None = Field(None, description="File that holds it instead.")
    timeout_seconds: Positive = Field(10, description="Time limit of one try.")


class Events(Section):
    url: str | None = Field(
        None,
        description="OTLP/HTTP endpoint (…/v1/logs) that gets a gen_ai.evaluation.result event "
        "for every score, beside the span of the call.",
    )
    headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="Headers of these requests, such as authorization."
    )
    timeout_seconds: Positive = Field(10, description="Time limit of one try.")


class Outlets(Section):
    public_url: str | None = Field(
        None,
        pattern=r"^https?://[^\s/]+",
        description="Address of these pages as people reach it; links of alerts, webhooks and "
        "events begin with it. null: links are left out.",
    )
    webhook: Webhook = Webhook()
    events: Events = Events()
