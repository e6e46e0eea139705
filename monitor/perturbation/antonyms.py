"""WordNet's antonyms, where NLTK and its data happen to be installed. Never downloaded."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any


class Antonyms:
    """Antonyms of base forms from a WordNet reader such as `nltk.corpus.wordnet`."""

    def __init__(self, wordnet: Any) -> None:
        self._wordnet = wordnet
        self._of = lru_cache(50_000)(self._look_up)

    def any(self, first: Iterable[str], second: Iterable[str]) -> bool:
        """Whether a word of `second` is an antonym of one of `first`, or the other way round."""
        left, right = frozenset(first), frozenset(second)
        return any(self._of(word) & right for word in left) or any(
            self._of(word) & left for word in right
        )

    def _look_up(self, word: str) -> frozenset[str]:
        return frozenset(
            antonym.name().lower()
            for synset in self._wordnet.synsets(word)
            for lemma in synset.lemmas()
            for antonym in lemma.antonyms()
        )


def load_antonyms() -> Antonyms | None:
    """Antonyms of the WordNet on this machine, `None` where there is none."""
    try:
        # Optional, and heavy: loaded only when a perturber is built.
        wordnet = import_module("nltk.corpus").wordnet
        wordnet.ensure_loaded()
    except (ImportError, LookupError):
        return None
    return Antonyms(wordnet)
