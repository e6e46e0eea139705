"""The words that may stand for a word, best first: neighbours that keep its meaning.

Everything that does not depend on the sentence is decided here, once for a word and its
tag: another base form, the same part of speech, the same inflection, no opposite, no
name. What depends on the sentence (its tags, its meaning as a whole) is decided when a
rewording is tried.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from monitor.perturbation.inflection import inflect, same_family
from monitor.perturbation.lexicon import Lexicon
from monitor.perturbation.meaning import MeaningGuard, Refusal
from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.planes import Kinds
from monitor.perturbation.wordlists import synonyms
from monitor.ports import Encoder


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """A word as it is looked up: what all its occurrences with one tag have in common."""

    key: str
    """The vocabulary's spelling."""
    tag: str
    """Fine-grained tag, which tells the inflection."""
    part: str
    """`NOUN`, `VERB`, `ADJ` or `ADV`."""
    lemma: str
    """The pipeline's base form, lower case."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A word that may stand for another."""

    word: str
    """Lower case, inflected like the original."""
    similarity: float
    """Cosine of the two word vectors, ≥ τ."""
    closeness: float
    """Cosine of the two words' sentence embeddings: the better judge of meaning, because
    the encoder was trained on paraphrases and the vectors on neighbourhoods."""
    vouched: bool
    """Listed in `synonyms.tsv`: taken before the others, as of harm in its sentence only."""
    reserve: bool
    """Of the same stem (*fire*, *firing*): keeps the meaning and hardly rewords, so it is
    used only where a band is not reached without it."""


class Candidates:
    """Looks up candidates for all words of a document in one product and one batch."""

    def __init__(
        self,
        neighbours: Neighbours,
        *,
        lexicon: Lexicon,
        guard: MeaningGuard,
        kinds: Kinds,
        encoder: Encoder,
        is_function_word: Callable[[str], bool],
        floor: float,
        cache_size: int = 50_000,
    ) -> None:
        self._neighbours = neighbours
        self._lexicon = lexicon
        self._guard = guard
        self._kinds = kinds
        self._encoder = encoder
        self._is_function_word = is_function_word
        self._floor = floor
        self._synonyms = synonyms()
        self._cache: OrderedDict[Word, tuple[Candidate, ...]] = OrderedDict()
        self._cache_size = cache_size

    def of(self, words: Iterable[Word]) -> dict[Word, tuple[Candidate, ...]]:
        """The candidates of each word, closest meaning first; maybe none."""
        wanted = list(dict.fromkeys(words))
        missing = [word for word in wanted if word not in self._cache]
        forms = self._forms(missing)
        closeness = self._closeness(forms)
        for word in missing:
            ranked = [
                Candidate(
                    word=form,
                    similarity=similarity,
                    closeness=closeness[word.key, form],
                    vouched=self._vouched(word, form),
                    reserve=same_family(word.key.lower(), form),
                )
                for form, similarity in forms[word].items()
                if closeness[word.key, form] >= self._floor or self._vouched(word, form)
            ]
            ranked.sort(key=lambda c: (not c.vouched, -c.closeness, c.word))
            self._cache[word] = tuple(ranked)
        found = {}
        for word in wanted:
            found[word] = self._cache[word]
            self._cache.move_to_end(word)
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)
        return found

    def _forms(self, words: Sequence[Word]) -> dict[Word, dict[str, float]]:
        """Acceptable inflected neighbours of each word, with their cosine."""
        near = self._neighbours.of([word.key for word in words])
        rows: dict[Word, dict[str, float]] = {}
        for word in words:
            forms: dict[str, float] = {}
            for neighbour in near[word.key]:
                for form in self._inflected(neighbour.word, word):
                    if form not in forms and self._keeps_meaning(word, form):
                        similarity = (
                            neighbour.similarity
                            if form == neighbour.word
                            else self._neighbours.similarity(word.key, form)
                        )
                        if similarity >= self._neighbours.tau:
                            forms[form] = similarity
            rows[word] = forms
        proper = self._kinds.names(sorted({form for forms in rows.values() for form in forms}))
        for word, forms in rows.items():
            other = self._of_other_kind(word, list(forms))
            rows[word] = {
                f: s
                for f, s in forms.items()
                if self._vouched(word, f) or (f not in proper and f not in other)
            }
        return rows

    def _vouched(self, word: Word, form: str) -> bool:
        """Whether the list of synonyms has the two, in the word's part of speech."""
        own = self._lexicon.lemmas_as(word.key.lower(), word.part) | {word.lemma}
        return any(
            not self._synonyms.get((word.part, lemma), frozenset()).isdisjoint(
                self._lexicon.lemmas_as(form, word.part) | {form}
            )
            for lemma in own
        )

    def _of_other_kind(self, word: Word, forms: Sequence[str]) -> frozenset[str]:
        """People for a thing, or things for a person; told by singulars, as the examples are."""
        if word.part != "NOUN" or not forms:
            return frozenset()
        own, *singular = (self._singular(form) for form in (word.key.lower(), *forms))
        differing = self._kinds.differ(own, singular)
        return frozenset(f for f, s in zip(forms, singular, strict=True) if s in differing)

    def _singular(self, form: str) -> str:
        lemmas = sorted(
            self._lexicon.lemmas_as(form, "NOUN"), key=lambda lemma: (len(lemma), lemma)
        )
        known = (lemma for lemma in lemmas if lemma in self._neighbours.vocabulary)
        return next(known, form)

    def _inflected(self, neighbour: str, word: Word) -> list[str]:
        """A neighbour in the inflection of the word, where it is another word of its class."""
        if not neighbour.isalpha() or neighbour != neighbour.lower() or len(neighbour) < 2:
            # In vectors that keep capitals, a capitalized neighbour is a name.
            return []
        if not self._lexicon.known:
            return [neighbour]
        own = self._lexicon.lemmas_as(word.key.lower(), word.part) | {word.lemma}
        lemmas = self._lexicon.lemmas_as(neighbour, word.part)
        if lemmas & own:
            return []
        vocabulary = self._neighbours.vocabulary
        return [
            form
            for lemma in sorted(lemmas)
            for form in inflect(lemma, word.tag, word.part, self._lexicon)
            if form in vocabulary and form != word.key.lower()
        ]

    def _keeps_meaning(self, word: Word, form: str) -> bool:
        return (
            form.isalpha()
            and not self._is_function_word(form)
            and not (word.part == "NOUN" and self._is_gerund(form, word.key.lower()))
            and self._allowed(word, form)
        )

    def _allowed(self, word: Word, form: str) -> bool:
        refusals = {self._guard.refusal(own, form) for own in (word.key.lower(), word.lemma)}
        refusals.discard(None)
        # A word stands in lists for all its senses: *jail* is a building and a sentence, and
        # *major* was a prime minister.
        listed = {Refusal.SIBLING, Refusal.NAME}
        return not refusals or (refusals <= listed and self._vouched(word, form))

    def _is_gerund(self, form: str, original: str) -> bool:
        """*sitting* for *room*: a noun by the lexicon, but read as a verb by everybody."""
        return (
            form.endswith("ing")
            and not original.endswith("ing")
            and bool(self._lexicon.lemmas_as(form, "VERB") - {form})
        )

    def _closeness(self, forms: dict[Word, dict[str, float]]) -> dict[tuple[str, str], float]:
        pairs = sorted({(word.key, form) for word, found in forms.items() for form in found})
        if not pairs:
            return {}
        texts = sorted({text for pair in pairs for text in pair})
        rows = {text: row for row, text in enumerate(texts)}
        vectors = self._encoder.encode(texts)
        cosines = np.einsum(
            "ij,ij->i",
            vectors[[rows[first] for first, _ in pairs]],
            vectors[[rows[second] for _, second in pairs]],
        )
        return dict(zip(pairs, cosines.tolist(), strict=True))
