"""TextRank over the kept tokens of one parse: a masked summarizer that parses once.

The straightforward way masks the text, parses it again and ranks it anew, 0.1 s an
evaluation. Here the document is parsed once; each mask only selects tokens, and ranking and
sentence selection run over the selected ones.

**This is another game than masking text.** Tags, lemmas, noun chunks, entities and sentence
boundaries stay those of the full document, whereas a parser that sees a masked text guesses
them anew from what is left. With most words kept both agree nearly always; at deep masks
(LIME's and SMILE's) they drift apart, because the parser then sees rubble and this does not.
Values of one game must not be compared with values of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from monitor.attribution.segmentation import BoolArray, IntArray, Segmentation
from monitor.attribution.similarity_value import MaskedSummary
from monitor.records import FloatArray

if TYPE_CHECKING:
    from spacy.tokens import Doc

LOOKBACK = 3
"""Words of a sentence that are neighbours in the graph: pytextrank's default."""
TAGS = frozenset({"ADJ", "NOUN", "PROPN", "VERB"})
"""Universal tags of the words that enter the graph: pytextrank's as well."""
DAMPING = 0.85
"""Of PageRank: networkx's, which pytextrank uses."""
TOLERANCE = 1e-6
"""Change of a rank, averaged over the nodes, at which PageRank stops: networkx's as well."""


class MaskedTextRank:
    """Extractive summaries of masked versions of one parsed document.

    With every word kept it selects what pytextrank's `summary()` selects: a graph of lemmas
    that stand within `LOOKBACK` of each other in a sentence, PageRank over it, noun chunks
    and entities ranked by √(Σ ranks / (length + function words)) with a discount for
    function words, and the `sentences` sentences that miss least of the best `phrases`
    phrases, in document order (Mihalcea & Tarau 2004, in pytextrank 3.3's form, its quirks
    included; a sentence without any word is the one exception, it is never selected).

    With words masked, their tokens are absent from the graph, from the phrases and from
    the sentences' text; a sentence without a kept word cannot be selected.
    """

    def __init__(
        self, *, doc: Doc, segmentation: Segmentation, sentences: int, phrases: int
    ) -> None:
        """`doc` is the parse of `segmentation.document`, with tags, lemmas, noun chunks,
        entities and sentences."""
        self._limit_sentences = sentences
        self._limit_phrases = phrases
        self._texts = [token.text for token in doc]
        self._spaced = [token.text_with_ws for token in doc]
        self._first, self._last = _words_of_tokens(doc, segmentation)
        content = np.array([token.pos_ in TAGS for token in doc], dtype=bool)
        self._content = content
        lemmas = [(token.lemma_, token.pos_) for token in doc]
        numbers = {lemma: i for i, lemma in enumerate(dict.fromkeys(lemmas))}
        self._node = np.array([numbers[lemma] for lemma in lemmas], dtype=np.int64)
        self._nodes = len(numbers)
        self._sentences = [(sentence.start, sentence.end) for sentence in doc.sents]
        self._sentence = np.repeat(
            np.arange(len(self._sentences)), [end - start for start, end in self._sentences]
        )
        spans = [*doc.noun_chunks, *doc.ents]
        self._spans = [(span.start, span.end) for span in spans]
        self._span_texts = [span.text.replace("'", "") for span in spans]
        lengths = [end - start for start, end in self._spans]
        self._span_of = np.repeat(np.arange(len(spans)), lengths)
        self._span_token = np.array(
            [i for start, end in self._spans for i in range(start, end)], dtype=np.int64
        )
        self._span_length = np.array(lengths, dtype=np.int64)

    def summarize(self, masks: BoolArray) -> list[MaskedSummary]:
        return [self._summarize(mask) for mask in masks]

    def _summarize(self, mask: BoolArray) -> MaskedSummary:
        kept_before = np.concatenate([[0], np.cumsum(mask)])
        in_word = self._first >= 0
        worded = kept_before[self._last + 1] > kept_before[self._first]
        kept = np.where(in_word, worded, True)
        candidates = np.flatnonzero(
            np.bincount(self._sentence[kept & in_word], minlength=len(self._sentences))
        )
        phrases = self._phrases(kept, self._ranks(kept))
        total = sum(rank for rank, _ in phrases)
        distances = []
        for candidate in candidates:
            missed = [
                (rank / total) ** 2 for rank, where in phrases if total and candidate not in where
            ]
            distances.append(sum(missed))
        order = candidates[np.argsort(distances, kind="stable")][: self._limit_sentences]
        sentences = tuple(self._text(number, kept) for number in sorted(order.tolist()))
        return MaskedSummary(text=" ".join(sentences), sentences=sentences)

    def _text(self, number: int, kept: BoolArray) -> str:
        start, end = self._sentences[number]
        text = "".join(self._spaced[i] for i in range(start, end) if kept[i])
        return " ".join(text.split())

    def _ranks(self, kept: BoolArray) -> FloatArray:
        """PageRank of each lemma over the kept content tokens; 0 for absent ones."""
        tokens = np.flatnonzero(kept & self._content)
        ranks = np.zeros(self._nodes)
        if len(tokens) == 0:
            return ranks
        present, node = np.unique(self._node[tokens], return_inverse=True)
        left, right, weight = self._edges(node, self._sentence[tokens], len(present))
        ranks[present] = _pagerank(left, right, weight, len(present))
        return ranks

    def _edges(
        self, node: IntArray, sentence: IntArray, count: int
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Undirected edges with weights.

        pytextrank counts (a, b) and (b, a) apart and lets the one that was seen last
        overwrite the other; the same is done here, for else the sentences would differ.
        """
        hops, starts = [], []
        for hop in range(1, LOOKBACK + 1):
            pairs = np.flatnonzero(sentence[:-hop] == sentence[hop:])
            starts.append(pairs)
            hops.append(np.full(len(pairs), hop))
        start, hop_of = np.concatenate(starts), np.concatenate(hops)
        seen = np.lexsort((start, hop_of, sentence[start]))
        start, hop_of = start[seen], hop_of[seen]
        a, b = node[start], node[start + hop_of]
        directed, first, times = np.unique(a * count + b, return_index=True, return_counts=True)
        a, b = directed // count, directed % count
        undirected = np.minimum(a, b) * count + np.maximum(a, b)
        newest = np.lexsort((-first, undirected))
        _, where = np.unique(undirected[newest], return_index=True)
        final = newest[where]
        return a[final], b[final], times[final].astype(np.float64)

    def _phrases(self, kept: BoolArray, ranks: FloatArray) -> list[tuple[float, set[int]]]:
        """The best phrases, each with its rank and the sentences that hold it whole."""
        if not self._spans:
            return []
        in_span = kept[self._span_token]
        of, token = self._span_of[in_span], self._span_token[in_span]
        count = len(self._spans)
        length = np.bincount(of, minlength=count)
        content = self._content[token]
        function_words = length - np.bincount(of[content], minlength=count)
        mass = np.bincount(of[content], weights=ranks[self._node[token[content]]], minlength=count)
        with_kept = np.maximum(length, 1)
        rank = np.sqrt(mass / (with_kept + function_words))
        rank *= with_kept / (with_kept + 2.0 * function_words + 1.0)
        best: dict[str, tuple[float, set[int]]] = {}
        for i in np.flatnonzero(length).tolist():
            start, end = self._spans[i]
            text = self._span_texts[i]
            if length[i] < self._span_length[i]:
                text = " ".join(self._texts[j] for j in range(start, end) if kept[j])
            highest, where = best.setdefault(text, (0.0, set()))
            if self._sentence[start] == self._sentence[end - 1]:
                where.add(int(self._sentence[start]))
            best[text] = (max(highest, float(rank[i])), where)
        ordered = sorted(best.items(), key=lambda entry: (-entry[1][0], entry[0]))
        return [phrase for _, phrase in ordered[: self._limit_phrases]]


def _pagerank(left: IntArray, right: IntArray, weight: FloatArray, count: int) -> FloatArray:
    """PageRank of an undirected weighted graph by power iteration, as networkx does it."""
    loops = left == right
    source = np.concatenate([left, right[~loops]])
    target = np.concatenate([right, left[~loops]])
    weights = np.concatenate([weight, weight[~loops]])
    out = np.bincount(source, weights=weights, minlength=count)
    dangling = out == 0
    share = weights / out[source]
    rank = np.full(count, 1.0 / count)
    for _ in range(100):
        last = rank
        moved = np.bincount(target, weights=last[source] * share, minlength=count)
        rank = DAMPING * (moved + last[dangling].sum() / count) + (1.0 - DAMPING) / count
        if np.abs(rank - last).sum() < count * TOLERANCE:
            break
    return rank


def _words_of_tokens(doc: Doc, segmentation: Segmentation) -> tuple[IntArray, IntArray]:
    """First and last word that each token overlaps, −1 and −2 for punctuation and space."""
    starts = np.array([token.idx for token in doc], dtype=np.int64)
    ends = np.array([token.idx + len(token) for token in doc], dtype=np.int64)
    first = np.searchsorted(segmentation.ends, starts, "right")
    last = np.searchsorted(segmentation.starts, ends, "left") - 1
    none = last < first
    return np.where(none, -1, first), np.where(none, -2, last)
