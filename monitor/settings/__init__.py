"""Every configuration key with its default, its bounds and one line of explanation.

`monitor.configuration` reads them from a file and the environment. Everything downstream
accepts only the validated, frozen `Settings`.
"""

from __future__ import annotations

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from monitor.settings.access import Access
from monitor.settings.outlets import Outlets
from monitor.settings.running import Execution, Scheduler
from monitor.settings.scoring import (
    Attribution,
    Calibration,
    Embedding,
    Endpoint,
    Factuality,
    Models,
    Perturbation,
    Scoring,
    Strengths,
    Summarizer,
)
from monitor.settings.section import PREFIX, Section
from monitor.settings.traffic import (
    Categories,
    Database,
    Http,
    Ingest,
    Labels,
    Logging,
    Redaction,
    Sampling,
    Storage,
)
from monitor.settings.watching import (
    DEFAULT_THRESHOLDS,
    Drift,
    Evaluation,
    Limit,
    Threshold,
    Windows,
)

__all__ = [
    "PREFIX",
    "Attribution",
    "Endpoint",
    "Limit",
    "Section",
    "Settings",
    "Strengths",
    "Threshold",
]


class Settings(BaseSettings):
    """Every key with its default; see `deploy/hss-monitor.yaml`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    http: Http = Http()
    database: Database = Database()
    logging: Logging = Logging()
    labels: Labels = Labels()
    ingest: Ingest = Ingest()
    redaction: Redaction = Redaction()
    storage: Storage = Storage()
    sampling: Sampling = Sampling()
    categories: Categories = Categories()
    perturbation: Perturbation = Perturbation()
    embedding: Embedding = Embedding()
    summarizer: Summarizer = Summarizer()
    models: Models = Models()
    scoring: Scoring = Scoring()
    attribution: Attribution = Attribution()
    factuality: Factuality = Factuality()
    calibration: Calibration = Calibration()
    execution: Execution = Execution()
    scheduler: Scheduler = Scheduler()
    windows: Windows = Windows()
    evaluation: Evaluation = Evaluation()
    drift: Drift = Drift()
    thresholds: tuple[Threshold, ...] = Field(
        DEFAULT_THRESHOLDS,
        description="Each opens a breach of its own in every series; see Threshold. Of a list "
        "in the file nothing of this default remains.",
    )
    access: Access = Access()
    outlets: Outlets = Outlets()

    @field_validator("thresholds")
    @classmethod
    def _distinct(cls, thresholds: tuple[Threshold, ...]) -> tuple[Threshold, ...]:
        names = [threshold.name for threshold in thresholds]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"name {twice[0]!r} stands twice; give every threshold its own name")
        return thresholds

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # The file arrives as init arguments; the environment has to win over it.
        return env_settings, init_settings
