"""The stages of the front, as the configuration wants them."""

from __future__ import annotations

from datetime import timedelta

from monitor.ingest.extraction import Extraction
from monitor.ingest.join import JoinBuffer
from monitor.ingest.redaction import Redaction
from monitor.labels import OTHER, LabelPolicy
from monitor.sampling.budget import BudgetPolicy
from monitor.sampling.category import CategoryRule, CategoryRules
from monitor.settings import Settings


def check_stages(settings: Settings) -> None:
    """Raises `ConfigurationError` where a stage of the front could not be made."""
    extraction_of(settings)
    category_rules(settings)
    budget_policy(settings)


def extraction_of(settings: Settings) -> Extraction:
    """Where the document stands in a prompt."""
    wanted = settings.ingest.extraction
    return Extraction(rule=wanted.rule, pattern=wanted.pattern, begin=wanted.begin, end=wanted.end)


def join_buffer(settings: Settings) -> JoinBuffer:
    """Where spans and their content wait for each other."""
    ingest = settings.ingest
    return JoinBuffer(
        seconds=ingest.join_seconds, records=ingest.join_records, bytes=ingest.join_bytes
    )


def redaction_of(settings: Settings) -> Redaction | None:
    """`None` where texts are kept as they came, or not at all."""
    if settings.storage.mode != "redacted":
        return None
    return Redaction(patterns=settings.redaction.patterns)


def category_rules(settings: Settings) -> CategoryRules:
    """What is known of a record's category on arrival."""
    return CategoryRules(
        [
            CategoryRule(
                category=rule.category,
                service=rule.service,
                model=rule.model,
                pattern=rule.pattern,
            )
            for rule in settings.categories.rules
        ],
        # With descriptions the scorer decides, by the nearest one.
        default=None if settings.categories.descriptions else settings.categories.default,
    )


def budget_policy(settings: Settings) -> BudgetPolicy:
    """How sampling rates follow the budget."""
    return BudgetPolicy(
        ceiling=settings.sampling.rate,
        records_per_hour=settings.sampling.budget.records_per_hour,
        epoch_length=timedelta(seconds=settings.sampling.budget.epoch_seconds),
    )


def label_policy(settings: Settings) -> LabelPolicy:
    """Label values come from the configuration; all else is `other`."""
    rules = settings.categories.rules
    return LabelPolicy(
        services=settings.labels.services,
        models=settings.labels.models,
        categories={
            *settings.labels.categories,
            settings.categories.default,
            *settings.categories.descriptions,
            *(rule.category for rule in rules),
        }
        - {OTHER},
    )
