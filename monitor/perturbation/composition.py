"""Reworded sentences, and the checks that one must pass.

A variant is a sentence with some of its tokens replaced. It is accepted where every
replaced token keeps its fine-grained tag in the new sentence, and where the new
sentence's embedding stays close to the old one's. All variants of a round are tagged in
one pass and embedded in one batch, over all versions of a document together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span

from monitor.perturbation.candidates import Candidate
from monitor.ports import Encoder

Choice = Mapping[int, Candidate]
"""Token offset in the sentence → its replacement, already in the right capitals."""
Variant = tuple[int, tuple[tuple[int, str], ...]]
"""Number of a sentence, and its replaced tokens with what replaces them, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """One sentence of a document, as plain values."""

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    tags: tuple[str, ...]
    first: int
    """Index of its first token in the document, white space not counted."""

    def text(self, replaced: Mapping[int, str] | None = None) -> str:
        """The sentence with tokens replaced by offset; outer white space is not part of it."""
        changed = replaced or {}
        return "".join(
            changed.get(offset, word) + (" " if space else "")
            for offset, (word, space) in enumerate(zip(self.words, self.spaces, strict=True))
        ).strip()


def sentence_of(span: Span, first: int) -> Sentence:
    """The plain values of a parsed sentence."""
    return Sentence(
        words=tuple(token.text for token in span),
        spaces=tuple(bool(token.whitespace_) for token in span),
        tags=tuple(token.tag_ for token in span),
        first=first,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the checks found out about a variant."""

    wrong_tags: tuple[int, ...]
    """Offsets of replaced tokens that are tagged otherwise than the originals."""
    cosine: float | None
    """With the original sentence; `None` where the tags were wrong already."""


class Checks:
    """Tries variants of the sentences of one document; remembers every verdict."""

    def __init__(
        self, sentences: Sequence[Sentence], *, language: Language, encoder: Encoder
    ) -> None:
        self._sentences = sentences
        self._language = language
        self._encoder = encoder
        names = language.pipe_names
        chosen = [name for name in names if name in {"tok2vec", "transformer", "tagger"}]
        self._pipes: list[Any] = [language.get_pipe(name) for name in chosen]
        self._verdicts: dict[Variant, Verdict] = {}

    def judge(self, variants: Iterable[Variant]) -> dict[Variant, Verdict]:
        """The verdict on each variant."""
        wanted = list(dict.fromkeys(variants))
        fresh = [variant for variant in wanted if variant not in self._verdicts]
        wrong = dict(zip(fresh, self._retag(fresh), strict=True))
        passed = [variant for variant in fresh if not wrong[variant]]
        cosines = dict(zip(passed, self._compare(passed), strict=True))
        for variant in fresh:
            self._verdicts[variant] = Verdict(
                wrong_tags=wrong[variant], cosine=cosines.get(variant)
            )
        return {variant: self._verdicts[variant] for variant in wanted}

    def _retag(self, variants: Sequence[Variant]) -> list[tuple[int, ...]]:
        docs: Iterable[Doc] = (self._doc(variant) for variant in variants)
        for pipe in self._pipes:
            docs = pipe.pipe(docs, batch_size=64)
        return [
            tuple(
                offset
                for offset, _ in replaced
                if doc[offset].tag_ != self._sentences[number].tags[offset]
            )
            for (number, replaced), doc in zip(variants, docs, strict=True)
        ]

    def _doc(self, variant: Variant) -> Doc:
        number, replaced = variant
        sentence = self._sentences[number]
        words = list(sentence.words)
        for offset, word in replaced:
            words[offset] = word
        return Doc(self._language.vocab, words=words, spaces=list(sentence.spaces))

    def _compare(self, variants: Sequence[Variant]) -> list[float]:
        if not variants:
            return []
        numbers = sorted({number for number, _ in variants})
        texts = [self._sentences[number].text() for number in numbers]
        texts += [self._sentences[number].text(dict(replaced)) for number, replaced in variants]
        vectors = self._encoder.encode(texts)
        row = {number: index for index, number in enumerate(numbers)}
        originals = vectors[[row[number] for number, _ in variants]]
        cosines: list[float] = np.einsum("ij,ij->i", originals, vectors[len(numbers) :]).tolist()
        return cosines
