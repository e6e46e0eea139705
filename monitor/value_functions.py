"""The three value functions, made for the documents of one record; part of the scorer's
composition root, because they join stages that do not know each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from monitor.attribution.segmentation import Segmentation, segment
from monitor.attribution.similarity_value import MaskedSummarizer, SimilarityEvaluator, TextMasking
from monitor.attribution.textrank_value import MaskedTextRank
from monitor.attribution.value import Evaluator
from monitor.ports import Encoder, Summarizer
from monitor.records import IncomingRecord, Summary, SummaryDistribution, SummaryTask
from monitor.scoring.transport import transport
from monitor.summarization.causal import CausalSummarizer
from monitor.summarization.prompts import encodable
from monitor.summarization.seq2seq import Seq2SeqSummarizer
from monitor.summarization.textrank import TextRankSummarizer

Evaluators = Callable[[IncomingRecord, Sequence[tuple[str, str]]], list[Evaluator]]
"""One evaluator a (document, summary); the documents are a record's and its versions."""

_MARK = "\ufdd0"
"""A noncharacter: it stands in no document, and no chat template writes it."""


def textrank(summarizer: TextRankSummarizer, encoder: Encoder) -> Evaluators:
    """Similarity over the tokens of one parse a document (see `textrank_value`)."""

    def make(_: IncomingRecord, texts: Sequence[tuple[str, str]]) -> list[Evaluator]:
        # One character stands for a lone surrogate, so offsets hold.
        parsed = summarizer.nlp.pipe([encodable(document) for document, _ in texts])
        made: list[Evaluator] = []
        for (document, summary), doc in zip(texts, parsed, strict=True):
            starts = [sentence.start_char for sentence in doc.sents]
            cut = segment(document, sentence_starts=starts)
            masked = MaskedTextRank(
                doc=doc,
                segmentation=cut,
                sentences=summarizer.sentences,
                phrases=summarizer.phrases,
            )
            (whole,) = masked.summarize(np.ones((1, len(cut.words)), dtype=bool))
            baseline = None
            if whole.text == summary and whole.sentences:
                # The parser's own sentences, so that v(all words) is exactly 1.
                baseline = SummaryDistribution(
                    sentences=whole.sentences, embeddings=encoder.encode(whole.sentences)
                )
            made.append(_similar(cut, summary, baseline, masked, encoder))
        return made

    return make


def similarity(summarizer: Summarizer, encoder: Encoder) -> Evaluators:
    """Similarity by way of the summarizer port: each evaluation is a summary of its own."""

    def make(record: IncomingRecord, texts: Sequence[tuple[str, str]]) -> list[Evaluator]:
        def summarize(masked: Sequence[str]) -> Sequence[Summary]:
            return summarizer.summarize(
                [
                    SummaryTask(
                        document=text, original_document=record.document, request=record.request
                    )
                    for text in masked
                ]
            )

        made: list[Evaluator] = []
        for document, summary in texts:
            cut = segment(document)
            masking = TextMasking(segmentation=cut, summarize=summarize)
            made.append(_similar(cut, summary, None, masking, encoder))
        return made

    return make


def likelihood(summarizer: Seq2SeqSummarizer | CausalSummarizer) -> Evaluators:
    """Likelihood of each summary under the model that is loaded here."""
    # Brings torch's model code, which the other value functions do not need.
    from monitor.attribution.likelihood_value import LikelihoodEvaluator

    prefix = suffix = ""
    if isinstance(summarizer, CausalSummarizer):
        prefix, _, suffix = summarizer.render(_MARK).partition(_MARK)

    def make(_: IncomingRecord, texts: Sequence[tuple[str, str]]) -> list[Evaluator]:
        return [
            LikelihoodEvaluator(
                segmentation=segment(encodable(document)),
                summary=encodable(summary),
                model=summarizer.loaded.model,
                tokenizer=summarizer.loaded.tokenizer,
                limit=summarizer.loaded.input_limit,
                prefix=prefix,
                suffix=suffix,
            )
            for document, summary in texts
        ]

    return make


def _similar(
    cut: Segmentation,
    summary: str,
    baseline: SummaryDistribution | None,
    masked: MaskedSummarizer,
    encoder: Encoder,
) -> SimilarityEvaluator:
    if baseline is None:
        (baseline,) = encoder.distributions([summary])
    if baseline is None:
        # A summary without words: the explainer refuses it before anything is evaluated.
        baseline = SummaryDistribution(sentences=(), embeddings=np.empty((0, 0)))
    return SimilarityEvaluator(
        segmentation=cut,
        summary=summary,
        baseline=baseline,
        summarizer=masked,
        encoder=encoder,
        distance=lambda a, b: transport(a, b).distance,
    )
