"""The comparators with the models that a configuration or a command names for them."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.factuality.comparator import Comparator, Splitter, available
from monitor.factuality.factcc import FactCC
from monitor.factuality.pair_model import PairModel
from monitor.factuality.summac import SummacZeroShot


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedModel:
    """Where the model of a check comes from."""

    key: str
    """The setting or option that names it, for messages."""
    source: str | None
    """A folder or a hub id; `None` where none is named."""


def comparators(
    split: Splitter, *, summac: NamedModel, factcc: NamedModel, allow_download: bool
) -> list[Comparator]:
    """SummaC and FactCC; each is `unavailable` where its model is not named or not there.

    Raises `ConfigurationError` for a model whose labels do not say which is which.
    """

    def loaded(source: str, key: str) -> PairModel:
        # Brings torch, which nothing needs here where no model is named.
        from monitor.factuality.classifier import load_classifier

        return load_classifier(source, key=key, allow_download=allow_download)

    return [
        available(
            "summac",
            summac.source,
            lambda source: SummacZeroShot(loaded(source, summac.key), split, key=summac.key),
        ),
        available(
            "factcc",
            factcc.source,
            lambda source: FactCC(loaded(source, factcc.key), split, key=factcc.key),
        ),
    ]
