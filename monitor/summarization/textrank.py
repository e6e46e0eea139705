"""The embedded extractive summarizer: TextRank (Mihalcea & Tarau 2004) by pytextrank.

PageRank over the graph of neighbouring lemmas gives phrases their weight; the sentences
that miss least of the heaviest phrases are the summary, in the order of the document.
Nothing is added to the spaCy pipeline, so one pipeline may serve several stages.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import networkx
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from monitor.errors import ConfigurationError, ModelUnavailable
from monitor.records import Reason, Summary, SummaryTask
from monitor.summarization.answers import unanswered
from monitor.summarization.naming import summarizer_name
from monitor.summarization.prompts import encodable

PHRASES = 10
"""Heaviest phrases that a summary is to hold, as many as pytextrank takes."""


@contextlib.contextmanager
def _quiet_import() -> Iterator[None]:
    """pytextrank looks for its own git history when it is imported: without a `git` program
    it cannot be imported at all, and with one it prints a path to standard output, which
    belongs to results."""
    before = os.environ.get("GIT_PYTHON_REFRESH")
    os.environ["GIT_PYTHON_REFRESH"] = "quiet"
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        if before is None:
            del os.environ["GIT_PYTHON_REFRESH"]
        else:
            os.environ["GIT_PYTHON_REFRESH"] = before


@cache
def _ranking() -> Any:
    """The class that ranks: pytextrank's with its defaults, optionally over some tokens only.

    Made on first use, since pytextrank comes with the extra `embedded` and no other kind of
    summarizer needs it. Raises `ModelUnavailable` where it is not installed.
    """
    try:
        with _quiet_import():
            from pytextrank import BaseTextRank, BaseTextRankFactory, default_scrubber
    except ModuleNotFoundError as error:
        raise ModelUnavailable(
            "summarizer.kind: 'textrank' needs the package pytextrank, which is not installed; "
            "run `pip install 'hss-monitor[embedded]'`, or choose another kind"
        ) from error

    class Ranking(BaseTextRank):  # type: ignore[misc] # pytextrank ships no types
        def __init__(self, doc: Doc, keep: Sequence[bool] | None) -> None:
            super().__init__(
                doc,
                edge_weight=BaseTextRankFactory._EDGE_WEIGHT,
                pos_kept=BaseTextRankFactory._POS_KEPT,
                token_lookback=BaseTextRankFactory._TOKEN_LOOKBACK,
                scrubber=default_scrubber,
                stopwords={},
            )
            self._keep = keep

        def _keep_token(self, token: Token) -> bool:
            if self._keep is not None and not self._keep[token.i]:
                return False
            kept: bool = super()._keep_token(token)
            return kept

    return Ranking


def sentence_distances(
    doc: Doc, *, phrases: int = PHRASES, keep: Sequence[bool] | None = None
) -> list[float]:
    """How far each sentence is from holding all of the `phrases` heaviest phrases.

    With weights w scaled to sum 1, d(s) = √ Σ w_p² over the phrases p that s does not hold;
    0 ≤ d ≤ 1, less is better. Equal to pytextrank's `calc_sent_dist`, which needs a
    component in the pipeline. With `keep` (one flag a token of `doc`) only those tokens are
    in the graph; phrases and sentence borders stay those of the whole parse.
    Raises `networkx.PowerIterationFailedConvergence` where PageRank finds no fixed point.
    """
    heaviest = _ranking()(doc, keep).calc_textrank()[:phrases]
    total = sum(phrase.rank for phrase in heaviest)
    weights = [phrase.rank / total if total > 0 else 0.0 for phrase in heaviest]
    places = [{(chunk.start, chunk.end) for chunk in phrase.chunks} for phrase in heaviest]
    return [
        math.sqrt(
            sum(
                weight**2
                for weight, spans in zip(weights, places, strict=True)
                if not any(start >= sent.start and end <= sent.end for start, end in spans)
            )
        )
        for sent in doc.sents
    ]


def top_sentences(
    doc: Doc, *, sentences: int, phrases: int = PHRASES, keep: Sequence[bool] | None = None
) -> list[Span]:
    """The nearest `sentences` sentences in document order; of equal ones the earlier."""
    distances = sentence_distances(doc, phrases=phrases, keep=keep)
    spans = [
        (distance, place, sent)
        for place, (distance, sent) in enumerate(zip(distances, doc.sents, strict=True))
        if not sent.text.isspace()
    ]
    nearest = sorted(spans, key=lambda entry: entry[:2])[:sentences]
    return [sent for _, _, sent in sorted(nearest, key=lambda entry: entry[1])]


def summary_text(spans: Iterable[Span]) -> str:
    """The sentences as one text, with single spaces for all white space."""
    return " ".join(" ".join(span.text.split()) for span in spans)


class TextRankSummarizer:
    """Extracts `sentences` sentences; deterministic.

    `nlp` is a spaCy pipeline with tagger, parser, lemmatizer and entities. A document longer
    than the pipeline's `max_length` is `too_long`; what is not ranked before `time_limit`
    seconds passed in a call is `summarizer_timeout`. Raises `ConfigurationError`, and
    `ModelUnavailable` without pytextrank.
    """

    deterministic = True
    replays = False

    def __init__(
        self,
        *,
        nlp: Language,
        sentences: int,
        time_limit: float,
        phrases: int = PHRASES,
        batch_size: int = 32,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if sentences < 1 or phrases < 1:
            raise ConfigurationError(
                f"sentences: {sentences!r} with phrases {phrases!r}; set both to 1 or more"
            )
        _ranking()
        self.nlp = nlp
        self.sentences, self.phrases = sentences, phrases
        self._batch_size, self._time_limit = batch_size, time_limit
        self._monotonic = monotonic
        meta = self.nlp.meta
        self.name = summarizer_name(
            "textrank",
            {
                "model": f"{meta['lang']}_{meta['name']}-{meta['version']}",
                "phrases": phrases,
                "sentences": sentences,
            },
        )

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        """See `monitor.ports.Summarizer`; documents are parsed in batches."""
        answers = [self._refused(task.document) for task in tasks]
        open_places = [place for place, answer in enumerate(answers) if answer is None]
        texts = [encodable(tasks[place].document) for place in open_places]
        last = started = self._monotonic()
        parsed = self.nlp.pipe(texts, batch_size=self._batch_size)
        for place in open_places:
            if last - started > self._time_limit:
                answers[place] = unanswered(
                    Reason.SUMMARIZER_TIMEOUT, f"not ranked within {self._time_limit:g} s"
                )
                continue
            answer = self._ranked(next(parsed))
            now = self._monotonic()
            # The first of a parsed batch carries the parsing of all of it.
            answers[place] = replace(answer, seconds=now - last)
            last = now
        return [answer for answer in answers if answer is not None]

    def _ranked(self, doc: Doc) -> Summary:
        try:
            spans = top_sentences(doc, sentences=self.sentences, phrases=self.phrases)
        except networkx.PowerIterationFailedConvergence:
            detail = "PageRank found no fixed point"
            return Summary(text=None, reason=Reason.SUMMARIZER_ERROR, detail=detail)
        text = summary_text(spans)
        return Summary(text=text or None, reason=None if text else Reason.EMPTY_SUMMARY)

    def _refused(self, document: str) -> Summary | None:
        if not document.strip():
            return unanswered(Reason.EMPTY_DOCUMENT)
        if len(document) > self.nlp.max_length:
            detail = f"{len(document)} characters; the pipeline takes {self.nlp.max_length}"
            return unanswered(Reason.TOO_LONG, detail)
        return None
