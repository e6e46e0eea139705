"""Which names may become the values of metric labels.

Only those that the configuration lists: names come from traffic, and each new value of a label
is another time series for Prometheus to keep.
"""

from __future__ import annotations

from collections.abc import Collection

OTHER = "other"
"""Stands for every name that is not listed."""


class LabelPolicy:
    """Keeps label values to those that the configuration names; all else is `other`.

    >>> LabelPolicy(services=["news"], models=[], categories=["law"]).stratum("news", "x", "law")
    ('news', 'other', 'law')
    """

    def __init__(
        self, *, services: Collection[str], models: Collection[str], categories: Collection[str]
    ) -> None:
        self._services = frozenset(services)
        self._models = frozenset(models)
        self._categories = frozenset(categories)

    def service(self, value: str) -> str:
        return value if value in self._services else OTHER

    def model(self, value: str) -> str:
        return value if value in self._models else OTHER

    def category(self, value: str) -> str:
        return value if value in self._categories else OTHER

    def stratum(self, service: str, model: str, category: str) -> tuple[str, str, str]:
        return self.service(service), self.model(model), self.category(category)
