"""Support of entities and numbers, and precision, recall and F1 on hand-counted pairs."""

import pytest
import spacy

from monitor.errors import ConfigurationError
from monitor.factuality.overlap import OverlapCheck
from monitor.records import Reason

DOCUMENT = (
    "Angela Merkel visited Paris on 14 March 2013. The chancellor met 1,000 workers of "
    "Siemens in France and promised 20 per cent more money, or five million euros."
)


@pytest.fixture(scope="module")
def check(language):
    return OverlapCheck(language)


def support(check, summary, document=DOCUMENT):
    return check.check([(document, summary)])[0]


def test_faithful_summary_is_fully_supported(check):
    """Other spellings of the same names and values are no errors."""
    found = support(
        check,
        "Angela Merkel met one thousand workers in Paris on March 14 and promised €5m, 20% more.",
    )
    assert (found.entity_support, found.number_support) == (1.0, 1.0)
    assert (found.entities, found.numbers, found.unsupported) == (2, 4, ())


def test_invented_facts_are_listed_with_their_places(check):
    """By hand: Berlin of Merkel and Berlin, 15 March and 2014 of three numbers."""
    summary = "Angela Merkel visited Berlin on 15 March 2014 with 1,000 workers."
    found = support(check, summary)
    facts = [
        (fact.kind, fact.text, summary[fact.start :][: len(fact.text)])
        for fact in found.unsupported
    ]
    assert facts == [
        ("entity", "Berlin", "Berlin"),
        ("number", "15 March", "15 March"),
        ("number", "2014", "2014"),
    ]
    assert found.entity_support == pytest.approx(1 / 2)
    assert found.number_support == pytest.approx(1 / 3)


def test_offsets_count_code_points(check):
    """An emoji is one code point, whatever its width elsewhere."""
    summary = "🙂🙂 Angela Merkel visited London."
    (fact,) = support(check, summary).unsupported
    assert summary[fact.start : fact.start + len(fact.text)] == "London"


def test_each_mention_counts(check):
    """By hand: Paris twice, Berlin once."""
    found = support(check, "She left Paris. She came back to Paris. She went to Berlin.")
    assert (found.entities, found.entity_support) == (3, pytest.approx(2 / 3))


def test_without_names_and_numbers_support_is_undefined(check):
    """Neither 0 nor 1: nothing was claimed."""
    found = support(check, "There was a visit.")
    assert (found.entity_support, found.entity_reason) == (None, Reason.NO_ENTITIES)
    assert (found.number_support, found.number_reason) == (None, Reason.NO_NUMBERS)


@pytest.mark.parametrize(
    ("document", "summary", "reason"),
    [
        (DOCUMENT, " \n", Reason.EMPTY_SUMMARY),
        ("", "Merkel left.", Reason.EMPTY_DOCUMENT),
        (DOCUMENT, "Merkel " * 200_000, Reason.TOO_LONG),
    ],
)
def test_unusable_texts_give_a_reason(check, document, summary, reason):
    """spaCy raises for texts beyond its limit; a scorer must not stop for one."""
    found = support(check, summary, document)
    assert (found.entity_support, found.entity_reason, found.number_reason) == (
        None,
        reason,
        reason,
    )


def test_order_of_a_batch_is_kept(check):
    """Unusable pairs do not shift the others."""
    found = check.check([(DOCUMENT, "Merkel left Paris."), (DOCUMENT, ""), (DOCUMENT, "In Rome.")])
    assert [each.entity_support for each in found] == [1.0, None, 0.0]
    assert check.check([]) == []


def test_pipeline_without_entity_recognizer_is_refused():
    """It would find nothing to check in every summary, and look perfect."""
    with pytest.raises(ConfigurationError, match="no entity recognizer"):
        OverlapCheck(spacy.blank("en"))


# Ten pairs counted by hand: for content words, entities and numbers (shared as seen from the
# summary, the summary's, shared as seen from the document, the document's).
PAIRS = [
    # 1: equal texts; the content words are obama, visit and paris.
    (
        "Obama visited Paris in 2013.",
        "Obama visited Paris in 2013.",
        (3, 3, 3, 3),
        (2, 2, 2, 2),
        (1, 1, 1, 1),
    ),
    # 2: nothing shared.
    (
        "Obama visited Paris in 2013.",
        "Merkel left Berlin in 2014.",
        (0, 3, 0, 3),
        (0, 2, 0, 2),
        (0, 1, 0, 1),
    ),
    # 3: one of two names, another verb.
    ("Obama visited Paris in 2013.", "Obama left Paris.", (2, 3, 2, 3), (2, 2, 2, 2), (0, 0, 0, 1)),
    # 4: inflection is no difference: dog chase cat / dogs chased cats.
    ("The dogs chased cats.", "The dog chased a cat.", (3, 3, 3, 3), (0, 0, 0, 0), (0, 0, 0, 0)),
    # 5: the summary keeps one half: dog sleep / dog sleep cat run.
    ("The dog slept. The cat ran.", "The dog slept.", (2, 2, 2, 4), (0, 0, 0, 0), (0, 0, 0, 0)),
    # 6: numbers by value: 1,000 and 20 % shared, 7 not; words pay worker cent / pay worker week.
    (
        "They paid 1,000 workers 20 per cent more.",
        "They paid one thousand workers 20% more for 7 weeks.",
        (2, 3, 2, 3),
        (0, 0, 0, 0),
        (2, 3, 2, 2),
    ),
    # 7: a surname; the full name of the document is not in the summary.
    (
        "Barack Obama visited Paris.",
        "Obama visited Paris.",
        (3, 3, 3, 4),
        (2, 2, 1, 2),
        (0, 0, 0, 0),
    ),
    # 8: a repeated name and number count once.
    (
        "Obama left Paris. Obama left in 2013.",
        "Obama left in 2013. Obama left in 2013.",
        (2, 2, 2, 3),
        (1, 1, 1, 2),
        (1, 1, 1, 1),
    ),
    # 9: the summary has nothing countable.
    ("Obama visited Paris in 2013.", "It was so.", (0, 0, 0, 3), (0, 0, 0, 2), (0, 0, 0, 1)),
    # 10: the document has no name and no number.
    ("The dog slept.", "Obama slept in 2013.", (1, 2, 1, 2), (0, 1, 0, 0), (0, 1, 0, 0)),
]


def figures(shared, own, seen, all_):
    precision = shared / own if own else None
    recall = seen / all_ if all_ else None
    if precision is None or recall is None:
        return precision, recall, None
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


@pytest.mark.parametrize(("document", "summary", "words", "names", "numbers"), PAIRS)
def test_precision_recall_and_f1_are_those_counted_by_hand(
    check, document, summary, words, names, numbers
):
    """Ten pairs; None where a text has nothing of the kind."""
    (found,) = check.overlaps([(document, summary)])
    for got, counted in (
        (found.content_words, words),
        (found.entities, names),
        (found.numbers, numbers),
    ):
        assert (got.precision, got.recall, got.f1) == pytest.approx(figures(*counted))
