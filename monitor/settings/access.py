"""The section about who may do what over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from monitor.settings.section import Positive, Section


class Access(Section):
    """Where no token is configured, every route is open to whoever reaches the port."""

    ingest_token: SecretStr | None = Field(None, description="Bearer token that may send records.")
    ingest_token_file: Path | None = Field(None, description="File that holds it instead.")
    viewer_token: SecretStr | None = Field(
        None, description="Bearer token that may read pages and the API."
    )
    viewer_token_file: Path | None = Field(None, description="File that holds it instead.")
    investigator_token: SecretStr | None = Field(
        None, description="Bearer token that may also see all texts, acknowledge and mark."
    )
    investigator_token_file: Path | None = Field(None, description="File that holds it instead.")
    metrics_token: SecretStr | None = Field(None, description="Bearer token that may scrape.")
    metrics_token_file: Path | None = Field(None, description="File that holds it instead.")
    texts: Literal["viewer", "investigator"] = Field(
        "viewer", description="The least role that is shown documents and summaries."
    )
    session_hours: Positive = Field(
        12, description="How long a browser stays signed in after a token was entered."
    )
