"""What is asked of a classifier of (text, statement) pairs, and which of its outputs is which."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from monitor.errors import ConfigurationError, choices
from monitor.records import FloatArray


class PairModel(Protocol):
    """Classifies pairs of a text and a statement about it."""

    labels: Sequence[str]
    """Names of the outputs in the model's own order."""
    room: int
    """Tokens that text and statement may have together."""

    def tokens(self, text: str) -> int:
        """Length of a text alone, without special tokens."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """(pairs, labels), rows sum to 1; never cuts: the pairs fit into `room`."""


def label_index(
    labels: Sequence[str], wanted: Mapping[str, Collection[str]], *, key: str
) -> dict[str, int]:
    """Which output is which, by the names in the model's own configuration.

    `wanted` holds, by meaning, the spellings that say so without doubt. A guess would turn
    the score upside down for half of all models, since their orders differ; so
    `ConfigurationError` is raised unless each meaning is named exactly once.

    >>> label_index(["CORRECT", "INCORRECT"], {"yes": {"correct"}}, key="k")
    {'yes': 0}
    """
    plain = [label.strip().casefold().replace("_", " ").replace("-", " ") for label in labels]
    found: dict[str, int] = {}
    for meaning, spellings in wanted.items():
        places = [index for index, label in enumerate(plain) if label in spellings]
        if len(places) != 1:
            raise ConfigurationError(
                f"{key}: the model's labels {list(labels)} name {meaning!r} {len(places)} times "
                f"(known as {choices(sorted(spellings))}); set id2label in its config.json"
            )
        found[meaning] = places[0]
    return found
