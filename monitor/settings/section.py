"""What every section of the configuration is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

PREFIX = "HSS_MONITOR__"
EMBEDDED = "embedded"
"""As a model's name: the one that `pip install 'hss-monitor[embedded]'` brings."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, le=1e9)]
"""Up to 31 years in seconds: beyond them the arithmetic of times would end in an error."""
Days = Annotated[float, Field(gt=0, le=36_500)]
"""Of keeping something: no date lies further back than year 1."""
Count = Annotated[int, Field(ge=1)]
