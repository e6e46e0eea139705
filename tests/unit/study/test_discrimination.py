"""Figures of checks over judged summaries, without any model."""

from __future__ import annotations

import json

import pytest

from monitor.errors import MalformedInput
from monitor.factuality.comparator import Unavailable
from monitor.factuality.overlap import Overlap, PrecisionRecall
from monitor.records import FactualScore, Reason, Support
from monitor.study.baselines import length, novel_bigrams
from monitor.study.checks import check_all
from monitor.study.discrimination import figures
from monitor.study.labelled import LabelledSummary, read_labelled, sample


def row(document="one two three four five", summary="one two", *, unfaithful=False, model="m"):
    return LabelledSummary(document=document, summary=summary, model=model, unfaithful=unfaithful)


def scores(*values, reason=Reason.NO_NUMBERS):
    return [FactualScore(value=v, reason=reason if v is None else None) for v in values]


FAITHFUL = [row(summary="two three four"), row("a b c d", "a b c")]
UNFAITHFUL = [
    row(summary="five four three two", unfaithful=True),
    row("a b c d", "a b d e", unfaithful=True),
]
FOUR = [*FAITHFUL, *UNFAITHFUL]


def by_name(rows, checks, **options):
    return {each.check: each for each in figures(rows, checks, **options)}


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("The cat sat.", 0.0),
        ("THE CAT, sat", 0.0),
        ("a dog ran", 1.0),
        # the cat | cat sat | sat up | up the | the cat: "sat up" and "up the" are new.
        ("the cat sat up the cat", 0.4),
        ("cat", None),
        ("", None),
    ],
)
def test_novel_bigrams_by_hand(summary, expected) -> None:
    """Each occurrence counts; case and punctuation do not."""
    assert novel_bigrams("The cat sat on the mat", summary) == expected


def test_length_is_in_words() -> None:
    """Punctuation is no word, so that tokenized and plain texts compare."""
    assert length("It rained , and rained .") == 4


def test_baselines_stand_first_and_point_to_the_unfaithful() -> None:
    """Both unfaithful summaries have new bigrams and are longer than both faithful ones."""
    found = figures(FOUR, {"names": scores(1.0, 0.9, 0.5, 0.2)})
    assert [(each.check, each.baseline, each.auroc) for each in found] == [
        ("novel_bigrams", True, 1.0),
        ("summary_length", True, 1.0),
        ("names", False, 1.0),
    ]


def test_a_check_is_turned_so_that_low_support_points_to_the_unfaithful() -> None:
    """Support that is highest where people found errors is worse than chance."""
    assert by_name(FOUR, {"names": scores(0.1, 0.2, 0.9, 1.0)})["names"].auroc == 0.0


def test_missing_values_are_left_out_and_counted() -> None:
    """A 0 in their place would put the second faithful summary last."""
    figure = by_name(FOUR, {"numbers": scores(0.9, None, 0.5, 1.0)})["numbers"]
    assert (figure.rows, figure.known, figure.share, figure.unfaithful) == (4, 3, 0.75, 2)
    assert figure.auroc == 0.5
    assert figure.missing == {Reason.NO_NUMBERS: 1}


def test_the_baseline_is_stated_over_the_rows_of_the_check() -> None:
    """Over all rows novelty is better than chance; where the check has values it is wrong."""
    rows = [*FOUR, row(summary="one three", unfaithful=False), row(unfaithful=True)]
    found = by_name(rows, {"numbers": scores(None, None, None, None, 1.0, 1.0)})
    # Unfaithful 1, ⅔, 0 against 0, 0, 1: 2½ + 2 + 1 of nine pairs.
    assert found["novel_bigrams"].auroc == pytest.approx(5.5 / 9)
    assert found["numbers"].novel_bigrams == 0.0


def test_pairs_of_two_systems_do_not_count_within_systems() -> None:
    """System b is worse and has lower support; within each system the order is wrong."""
    rows = [
        row(model="a", unfaithful=False),
        row(model="a", unfaithful=True),
        row(model="b", unfaithful=False),
        row(model="b", unfaithful=True),
        row(model="b", unfaithful=True),
    ]
    figure = by_name(rows, {"names": scores(0.8, 0.9, 0.1, 0.2, 0.3)})["names"]
    # Against .8 the last two win, and no other pair is won.
    assert figure.auroc == pytest.approx(2 / 6)
    assert (figure.within, figure.within_pairs) == (0.0, 3)


def test_an_unavailable_check_has_its_reason_and_no_figure() -> None:
    """Never 0 and never one half, which would say that it was tried."""
    absent = Unavailable("summac", "no model is configured for summac")
    figure = by_name(FOUR, {"summac": absent.check([("", "")] * 4)})["summac"]
    assert (figure.auroc, figure.interval, figure.known) == (None, None, 0)
    assert (figure.reason, figure.detail) == (
        Reason.UNAVAILABLE,
        "no model is configured for summac",
    )


def test_one_label_among_the_known_rows_has_its_reason() -> None:
    """There is no pair to put in order."""
    figure = by_name(FOUR, {"names": scores(1.0, 0.5, None, None)})["names"]
    assert (figure.auroc, figure.reason) == (None, Reason.TOO_FEW_RUNS)
    assert figure.detail == "the 2 known rows do not hold both labels"


def test_summaries_of_one_document_are_one_draw() -> None:
    """Half of all draws hold one document twice and the other not at all."""
    figure = by_name(FOUR, {"names": scores(1.0, 0.2, 0.5, 0.1)}, resamples=400)["names"]
    assert figure.documents == 2
    # .5 and .1 against 1 and .2: the first document alone 1, the second alone 1, both ¾.
    assert (figure.auroc, figure.interval.low, figure.interval.high) == (0.75, 0.75, 1.0)


def test_a_check_with_another_number_of_scores_is_refused() -> None:
    """Scores would go to the wrong rows."""
    with pytest.raises(MalformedInput, match=r"checks\.names: 2 scores for 4 rows"):
        figures(FOUR, {"names": scores(1.0, 0.5)})


def line(**changes):
    item = {"document": "d", "summary": "s", "model": "m", "label": 1, "id": "x"}
    return json.dumps({**item, **changes})


def test_lines_become_rows() -> None:
    """Blank lines and other keys do not matter."""
    read = read_labelled([line(), "", line(label=0, model="n")], name="f")
    assert read == [row("d", "s", unfaithful=True), row("d", "s", model="n")]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("{", "f, line 2: no JSON"),
        ("[1]", "f, line 2: no object"),
        (line(summary=None), "f, line 2: summary: is of type NoneType"),
        (line(label=None), "f, line 2: label: is of type NoneType"),
        (line(label="secret text"), "f, line 2: label: is of type str"),
        (line(label=2), "f, line 2: label: is of type int"),
        (line(label=[1]), "f, line 2: label: is of type list"),
    ],
)
def test_a_bad_line_is_named_without_its_content(bad, message) -> None:
    """A missing label is no 0, and texts stay out of messages."""
    with pytest.raises(MalformedInput, match=message) as caught:
        read_labelled([line(), bad], name="f")
    assert "secret" not in str(caught.value)


def test_a_sample_is_drawn_once_from_all_rows_in_their_order() -> None:
    """The first rows of a file that is ordered by domain would be one domain."""
    rows = [row(summary=str(number)) for number in range(100)]
    drawn = [int(each.summary) for each in sample(rows, 20, seed=3)]
    assert drawn == sorted(set(drawn))
    assert len(drawn) == 20
    assert drawn[-1] > 60
    assert [int(each.summary) for each in sample(rows, 20, seed=3)] == drawn
    assert sample(rows, 100) == sample(rows, None) == rows


class CountedOverlap:
    """Stands in for the language model."""

    def check(self, pairs):
        return [
            Support(
                entity_support=0.5,
                entity_reason=None,
                number_support=None,
                number_reason=Reason.NO_NUMBERS,
                unsupported=(),
                entities=2,
                numbers=0,
            )
            for _ in pairs
        ]

    def overlaps(self, pairs):
        known = PrecisionRecall(precision=0.25, recall=None, f1=None)
        absent = PrecisionRecall(precision=None, recall=None, f1=None)
        read = Overlap(content_words=known, entities=absent, numbers=absent)
        return [read if summary else Reason.EMPTY_SUMMARY for _, summary in pairs]


def test_every_check_has_one_score_a_row_over_all_batches() -> None:
    """40 rows are three batches; an empty text in their midst keeps its place and reason."""
    rows = [row(summary="" if number == 20 else "one two") for number in range(40)]
    found = check_all(rows, CountedOverlap(), [Unavailable("factcc", "none")])
    assert {name: len(each) for name, each in found.items()} == dict.fromkeys(
        [
            "entity_support",
            "number_support",
            "content_word_precision",
            "entity_precision",
            "number_precision",
            "factcc",
        ],
        40,
    )
    values = [each.value for each in found["content_word_precision"]]
    assert values == [0.25] * 20 + [None] + [0.25] * 19
    assert found["content_word_precision"][20].reason is Reason.EMPTY_SUMMARY
    assert found["entity_precision"][0].reason is Reason.NO_ENTITIES
