"""SummaC and FactCC on hand-made matrices: values by hand, blocks, reasons and refusals."""

import numpy as np
import pytest

from monitor.errors import ConfigurationError, ModelUnavailable
from monitor.factuality.blocks import blocks
from monitor.factuality.comparator import available
from monitor.factuality.factcc import FactCC
from monitor.factuality.summac import SummacZeroShot
from monitor.records import Reason


def split(texts):
    return [[part.strip() for part in text.split(".") if part.strip()] for text in texts]


def words(text):
    return len(text.split())


class Table:
    """A pair model that answers from a table, and keeps what it was asked."""

    def __init__(self, labels, rows, *, room=100):
        self.labels = labels
        self.room = room
        self._rows = rows
        self.asked = []

    def tokens(self, text):
        return words(text)

    def probabilities(self, pairs):
        self.asked += pairs
        return np.array([self._rows(text, statement) for text, statement in pairs])


NLI = ("entailment", "neutral", "contradiction")
# P(entailment), P(neutral), P(contradiction) of document sentences d1–d3 and claims s1, s2.
MATRIX = {
    ("d1", "s1"): (0.7, 0.2, 0.1),
    ("d2", "s1"): (0.9, 0.0, 0.1),
    ("d3", "s1"): (0.1, 0.1, 0.8),
    ("d1", "s2"): (0.2, 0.2, 0.6),
    ("d2", "s2"): (0.1, 0.7, 0.2),
    ("d3", "s2"): (0.3, 0.1, 0.6),
}


def test_summac_is_the_mean_of_the_best_differences():
    """By hand: s1 has 0.6, 0.8, −0.7; s2 has −0.4, −0.1, −0.3; mean of 0.8 and −0.1."""
    check = SummacZeroShot(Table(NLI, lambda d, s: MATRIX[d, s]), split)
    (score,) = check.check([("d1. d2. d3.", "s1. s2.")])
    assert score.sentences == pytest.approx((0.8, -0.1))
    assert score.value == pytest.approx(0.35)
    assert score.reason is None


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 0, 2), (0, 2, 1)])
def test_label_order_is_read_from_the_model(order):
    """Published models differ in it; the value must not."""
    table = Table(
        tuple(NLI[index].upper() for index in order),
        lambda d, s: [MATRIX[d, s][index] for index in order],
    )
    (score,) = SummacZeroShot(table, split).check([("d1. d2. d3.", "s1. s2.")])
    assert score.value == pytest.approx(0.35)


@pytest.mark.parametrize(
    "labels",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("entailment", "not_entailment"),
        ("entailment", "entails", "contradiction"),
    ],
)
def test_ambiguous_nli_labels_are_refused(labels):
    """A guess would turn the score upside down for half of all models."""
    with pytest.raises(ConfigurationError, match="id2label"):
        SummacZeroShot(Table(labels, None), split, key="factuality.summac")


@pytest.mark.parametrize("labels", [("LABEL_0", "LABEL_1"), ("correct", "neutral")])
def test_ambiguous_factcc_labels_are_refused(labels):
    """Both outputs have to be named."""
    with pytest.raises(ConfigurationError, match=r"factuality\.factcc: the model's labels"):
        FactCC(Table(labels, None), split, key="factuality.factcc")


def test_long_documents_are_read_in_runs_of_sentences():
    """Five sentences and at most two blocks: runs of three and two."""
    table = Table(NLI, lambda d, s: (1.0, 0.0, 0.0))
    SummacZeroShot(table, split, max_blocks=2).check([("a. b. c. d. e.", "s1.")])
    assert table.asked == [("a b c", "s1"), ("d e", "s1")]


def test_factcc_is_the_mean_of_the_best_blocks():
    """By hand: room 6 minus a claim of 1 leaves blocks of 5 words; best 0.9 and 0.4."""
    rows = {
        ("a b c d", "s1"): (0.1, 0.9),
        ("e f g", "s1"): (0.8, 0.2),
        ("a b c d", "s2"): (0.7, 0.3),
        ("e f g", "s2"): (0.6, 0.4),
    }
    table = Table(("INCORRECT", "CORRECT"), lambda d, s: rows[d, s], room=6)
    (score,) = FactCC(table, split).check([("a b. c d. e f g.", "s1. s2.")])
    assert score.sentences == pytest.approx((0.9, 0.4))
    assert score.value == pytest.approx(0.65)


@pytest.mark.parametrize("kind", [SummacZeroShot, FactCC])
@pytest.mark.parametrize(
    ("document", "summary", "reason"),
    [
        ("", "s1.", Reason.EMPTY_DOCUMENT),
        ("d1.", " ", Reason.EMPTY_SUMMARY),
        ("d1.", "s " * 60, Reason.TOO_LONG),
    ],
)
def test_unusable_pairs_give_a_reason(kind, document, summary, reason):
    """Never 0, which is a possible value."""
    labels = NLI if kind is SummacZeroShot else ("correct", "incorrect")
    (score,) = kind(Table(labels, None), split).check([(document, summary)])
    assert (score.value, score.reason) == (None, reason)


def test_absent_model_is_unavailable_with_its_reason():
    """A check that cannot run must not look like a perfect or a failed one."""

    def absent(source):
        raise ModelUnavailable(f"factuality.summac: {source!r} is not there")

    (score,) = available("summac", "folder", absent).check([("d1.", "s1.")])
    assert (score.value, score.reason) == (None, Reason.UNAVAILABLE)
    assert score.detail == "factuality.summac: 'folder' is not there"
    (unset,) = available("factcc", None, absent).check([("d1.", "s1.")])
    assert (unset.reason, unset.detail) == (
        Reason.UNAVAILABLE,
        "no model is configured for factcc",
    )


def test_wrong_model_is_not_hidden_as_unavailable():
    """Ambiguous labels have to stop the start."""

    def ambiguous(source):
        return SummacZeroShot(Table(("LABEL_0", "LABEL_1"), None), split)

    with pytest.raises(ConfigurationError):
        available("summac", "folder", ambiguous)


def test_blocks_leave_nothing_out():
    """A sentence beyond the limit is cut between words, a word between letters."""
    tokens = lambda text: len(text.replace(" ", ""))  # noqa: E731 -- letters as tokens
    made = blocks(
        ["ab", "c", "defg hi", "jklmnop", ""], tokens=tokens, room=3, sentences_per_block=None
    )
    assert all(tokens(block) <= 3 for block in made)
    assert "".join(made).replace(" ", "") == "abcdefghijklmnop"
