"""Which words a language has: base forms and parts of speech.

Read from the lookup tables of spaCy's rule lemmatizer. A tagger guesses the part of
speech of any string from its neighbours, so it alone would take *iraqi* for a noun or
*melbourne* for a verb where the sentence wants one; the lexicon does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from spacy.language import Language

_PARTS = ("noun", "verb", "adj", "adv")
_CACHE = 100_000


class Lexicon:
    """Base forms of words, by part of speech (`NOUN`, `VERB`, `ADJ`, `ADV`)."""

    def __init__(
        self,
        *,
        index: Mapping[str, frozenset[str]],
        exceptions: Mapping[str, Mapping[str, tuple[str, ...]]],
        rules: Mapping[str, tuple[tuple[str, str], ...]],
    ) -> None:
        self._index = index
        self._exceptions = exceptions
        self._rules = rules
        self._irregular = {part: _inverted(exceptions.get(part, {})) for part in _PARTS}
        # Bound here and not by decorator, so that the cache ends with the lexicon.
        self.lemmas_as = lru_cache(_CACHE)(self._lemmas_as)
        self.lemmas = lru_cache(_CACHE)(self._lemmas)

    @property
    def known(self) -> bool:
        """Whether there are tables at all; without them no word is refused for its class."""
        return any(self._index.values())

    def irregular(self, lemma: str, part: str) -> tuple[str, ...]:
        """Irregular forms of a base form: `irregular("take", "VERB")` holds `took`."""
        return self._irregular[part.lower()].get(lemma, ())

    def _lemmas_as(self, word: str, part: str) -> frozenset[str]:
        """Base forms of a lower-case word as a part of speech; empty where it is none."""
        key = part.lower()
        index = self._index.get(key, frozenset())
        found = set(self._exceptions.get(key, {}).get(word, ()))
        if word in index:
            found.add(word)
        for ending, replacement in self._rules.get(key, ()):
            if word.endswith(ending):
                base = word[: len(word) - len(ending)] + replacement
                if base in index:
                    found.add(base)
        return frozenset(found)

    def _lemmas(self, word: str) -> frozenset[str]:
        """Base forms as any part of speech, with the word itself."""
        return frozenset({word}).union(*(self.lemmas_as(word, part) for part in _PARTS))


def load_lexicon(language: Language) -> Lexicon:
    """The lexicon inside a spaCy pipeline; an empty one where its lemmatizer has no tables."""
    lookups = getattr(
        language.get_pipe("lemmatizer") if language.has_pipe("lemmatizer") else None,
        "lookups",
        None,
    )
    tables = {
        name: lookups.get_table(name, {}) if lookups is not None else {}
        for name in ("lemma_index", "lemma_exc", "lemma_rules")
    }
    return Lexicon(
        index={p: frozenset(tables["lemma_index"].get(p, ())) for p in _PARTS},
        exceptions={
            p: {word: tuple(bases) for word, bases in tables["lemma_exc"].get(p, {}).items()}
            for p in _PARTS
        },
        rules={
            p: tuple((old, new) for old, new in tables["lemma_rules"].get(p, ())) for p in _PARTS
        },
    )


def _inverted(exceptions: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    forms: dict[str, list[str]] = {}
    for word, bases in exceptions.items():
        for base in bases:
            if word != base:
                forms.setdefault(base, []).append(word)
    return {base: tuple(sorted(words)) for base, words in forms.items()}
