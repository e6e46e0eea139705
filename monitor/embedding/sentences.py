"""Splitting texts into sentences, the points of a summary distribution.

The pipeline's sentence recognizer decides inside a line, so that abbreviations,
initials and decimals do not end a sentence. A blank line, a bullet or a numbered point
always does: summaries are often lists, and a list is not one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•‣·–—]|\(?\d{1,2}[.)])\s)|(?<=[.!?:;…])\s*\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BULLET = re.compile(r"^\s*(?:[-*•‣·–—]|\(?\d{1,2}[.)])\s+")
_CLOSERS = re.compile(r"^[\s\"'”’)\]}»]*$")

_BATCH = 64
BLOCK_LIMIT = 100_000
"""Code points given to the model at once; a longer run is cut at white space."""


class SentenceSplitter:
    """Sentences of many texts in one pass of the model.

    Uses the pipeline's `senter` where it has one (a tenth of the parser's cost), else its
    parser. Deterministic; keeps every word; joins of white space are not kept.
    """

    def __init__(self, language: Language) -> None:
        # Called directly and not through the pipeline: the sentence recognizer ships
        # disabled, because the parser splits as well, and no shared state is toggled.
        names = language.component_names
        chosen = ["senter"] if "senter" in names else ["tok2vec", "parser"]
        self._tokenize = language.make_doc
        self._pipes: list[Any] = [language.get_pipe(name) for name in chosen if name in names]

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """The sentences of each text, in order; none for a text without a letter or digit."""
        blocks: list[str] = []
        owners: list[int] = []
        for owner, text in enumerate(texts):
            for block in _blocks(text):
                blocks.append(block)
                owners.append(owner)
        sentences: list[list[str]] = [[] for _ in texts]
        if not blocks:
            return sentences
        docs: Iterable[Doc] = map(self._tokenize, blocks)
        for pipe in self._pipes:
            docs = pipe.pipe(docs, batch_size=_BATCH)
        for owner, doc in zip(owners, docs, strict=True):
            _extend(sentences[owner], [sentence.text for sentence in doc.sents])
        return sentences


def _blocks(text: str) -> list[str]:
    """Stretches that surely begin and end a sentence, single-spaced, without bullets."""
    found = []
    for block in _BLOCK.split(_plain(text)):
        flat = " ".join(_BULLET.sub("", block).split())
        while flat:
            piece = flat
            if len(flat) > BLOCK_LIMIT:
                end = flat.rfind(" ", 1, BLOCK_LIMIT)
                piece = flat[: end if end > 0 else BLOCK_LIMIT]
            if any(map(str.isalnum, piece)):
                found.append(piece)
            flat = flat[len(piece) :].lstrip()
    return found


def _plain(text: str) -> str:
    """Without what the model cannot take: NUL, lone surrogates, two-character line ends."""
    return _SURROGATE.sub("\ufffd", text).replace("\x00", " ").replace("\r\n", "\n")


def _extend(sentences: list[str], found: Sequence[str]) -> None:
    """Append the sentences of one block; a lone closing quote joins the one before it."""
    first = True
    for sentence in found:
        text = sentence.strip()
        if not text:
            continue
        if not first and (_CLOSERS.match(text) or not any(map(str.isalnum, text))):
            sentences[-1] += text
        elif any(map(str.isalnum, text)):
            sentences.append(text)
            first = False
