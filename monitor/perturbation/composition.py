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

from spacy.language import Language
from spacy.tokens import Doc, Span

from monitor.ports import Encoder
from monitor.records import FloatArray

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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Verdict:
    """What the checks found out about a variant."""

    wrong_tags: tuple[int, ...]
    """Offsets of replaced tokens that are tagged otherwise than the originals."""
    cosine: float | None
    """With the original sentence; `None` where the tags were wrong already."""
    shift: FloatArray | None
    """(d,) new embedding − old embedding, both of unit length; `None` as above."""


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
        self._originals: dict[int, FloatArray] = {}

    def judge(self, variants: Iterable[Variant]) -> dict[Variant, Verdict]:
        """The verdict on each variant."""
        wanted = list(dict.fromkeys(variants))
        fresh = [variant for variant in wanted if variant not in self._verdicts]
        wrong = dict(zip(fresh, self._retag(fresh), strict=True))
        passed = [variant for variant in fresh if not wrong[variant]]
        vectors = self._embed(passed)
        for variant in fresh:
            vector = vectors.get(variant)
            original = self._originals.get(variant[0])
            if vector is None or original is None:
                verdict = Verdict(wrong_tags=wrong[variant], cosine=None, shift=None)
            else:
                cosine = float((original * vector).sum())
                verdict = Verdict(wrong_tags=(), cosine=cosine, shift=vector - original)
            self._verdicts[variant] = verdict
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

    def original(self, number: int) -> FloatArray:
        """The embedding of an unchanged sentence that was judged before."""
        return self._originals[number]

    def _embed(self, variants: Sequence[Variant]) -> dict[Variant, FloatArray]:
        new = sorted({number for number, _ in variants} - self._originals.keys())
        texts = [self._sentences[number].text() for number in new]
        texts += [self._sentences[number].text(dict(replaced)) for number, replaced in variants]
        if not texts:
            return {}
        vectors = self._encoder.encode(texts)
        self._originals.update(zip(new, vectors, strict=False))
        return dict(zip(variants, vectors[len(new) :], strict=True))
