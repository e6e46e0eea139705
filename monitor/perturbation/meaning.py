"""The guard against replacements that change what a document says.

Word vectors put words side by side that occur in the same places: *rise* and *fall*,
*likely* and *unlikely*, *Monday* and *Tuesday*, *military* and *iraqi*. Exchanging them
makes a false document, and a summarizer that follows it is not unstable but right. Five
rules refuse a replacement: a listed opposite, two members of a closed class (siblings),
a negating prefix or suffix on one side only, an antonym of WordNet (where NLTK and its
data are installed), and a word that names one particular thing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

from monitor.perturbation.antonyms import Antonyms
from monitor.perturbation.lexicon import Lexicon
from monitor.perturbation.negation import negates
from monitor.perturbation.wordlists import ContrastSet, names, opposites, siblings


class Refusal(StrEnum):
    """Why a replacement would change the meaning."""

    OPPOSITE = "opposite"
    SIBLING = "sibling"
    NEGATION = "negation"
    ANTONYM = "antonym"
    NAME = "name"


class MeaningGuard:
    """Decides whether one word may stand for another.

    Words are compared by all their base forms, so *fell* is an opposite of *climbs*, and
    an adverb by its adjective, so *rapidly* is one of *slowly*. It errs on the safe side:
    *left* counts as a form of *leave* and as a side.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        *,
        contrasts: Iterable[ContrastSet] | None = None,
        antonyms: Antonyms | None = None,
    ) -> None:
        self._lexicon = lexicon
        self._proper = names()
        self._antonyms = antonyms
        self._slots: dict[str, dict[int, set[int]]] = defaultdict(dict)
        self._closed: dict[int, str] = {}
        given = [*opposites(), *siblings()] if contrasts is None else list(contrasts)
        for number, contrast in enumerate(given):
            if contrast.kind != "open":
                self._closed[number] = contrast.kind
            for slot, members in enumerate(contrast.slots):
                for word in members:
                    self._slots[word].setdefault(number, set()).add(slot)
        self._opposites = {n for n, c in enumerate(given) if c.name.startswith("opposites")}
        self.keys = lru_cache(100_000)(self._keys)

    def refusal(self, original: str, replacement: str) -> Refusal | None:
        """Why lower-case `replacement` may not stand for `original`; `None` where it may."""
        first, second = self.keys(original), self.keys(replacement)
        if (first | second) & self._proper:
            return Refusal.NAME
        if negates(first, second, self._lexicon):
            return Refusal.NEGATION
        if self._antonyms is not None and self._antonyms.any(first, second):
            return Refusal.ANTONYM
        return self._contrast(first, second)

    def _contrast(self, first: frozenset[str], second: frozenset[str]) -> Refusal | None:
        before, after = self._memberships(first), self._memberships(second)
        found = None
        for number in before.keys() & after.keys():
            # A word may stand in several slots; sharing one of them does not clear it of
            # the others in a list of opposites, but does in a class.
            if number in self._opposites:
                if any(a != b for a in before[number] for b in after[number]):
                    return Refusal.OPPOSITE
            elif not before[number] & after[number]:
                found = Refusal.SIBLING
        for number, kind in self._closed.items():
            entered = number in after and number not in before
            left = kind == "fact" and number in before and number not in after
            if entered or left:
                found = Refusal.SIBLING
        return found

    def _memberships(self, keys: frozenset[str]) -> dict[int, set[int]]:
        found: dict[int, set[int]] = defaultdict(set)
        for key in keys:
            for number, slots in self._slots.get(key, {}).items():
                found[number] |= slots
        return found

    def _keys(self, word: str) -> frozenset[str]:
        """A word's base forms, with the adjective of an adverb in -ly."""
        keys = set(self._lexicon.lemmas(word))
        for form in tuple(keys):
            if form.endswith("ly") and len(form) > 4:
                stem = form[:-2]
                options = {stem, stem + "e", form[:-1] + "e", form[:-2] + "le"}
                if stem.endswith("i"):
                    options.add(stem[:-1] + "y")
                if stem.endswith("al"):
                    options.add(stem[:-2])
                keys |= {o for o in options if self._lexicon.lemmas_as(o, "ADJ")}
        return frozenset(keys)
