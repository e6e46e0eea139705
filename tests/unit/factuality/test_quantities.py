"""Numbers, dates and times by value: what supports what, decided by hand."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.factuality.quantities import offered, quantities


def unsupported(summary, document):
    offers = offered(document)
    return [q.text for q in quantities(summary) if q.demands and not q.demands & offers]


SAME = [
    ("1,000", "1000"),
    ("1000", "one thousand"),
    ("1,234", "one thousand two hundred and thirty-four"),
    ("10,500.50", "10500.5"),
    ("205", "two hundred and five"),
    ("2,300,000", "two million three hundred thousand"),
    ("5m people", "5 million people"),
    ("5m long", "5 metres long"),
    ("1.5bn", "1,500,000,000"),
    ("half a million", "500,000"),
    ("a dozen", "12"),
    ("two dozen", "24"),
    ("20%", "20 per cent"),
    ("twenty percent", "20%"),
    ("20-percent", "20pc"),
    ("50%", "half of them"),
    ("third", "3rd"),
    ("twenty-first", "21st"),
    ("3", "the third"),
    ("$5m", "5 million dollars"),
    ("$5m", "five million US dollars"),
    ("£10m", "ten million pounds"),
    ("£ 5", "5 pounds"),
    ("€100m", "100 million euros"),
    ("$10m", "$5-10m"),
    ("$5m", "$5-10m"),
    ("5 million", "between 5 and 10 million"),
    ("14 March", "March 14th, 2013"),
    ("14 March 2013", "2013-03-14"),
    ("the 14th of March", "Mar. 14"),
    ("11 September 2001", "9/11/2001"),
    ("July 1776", "July 4, 1776"),
    ("in May", "on May 3"),
    ("7.30pm", "19:30"),
    ("7 p.m.", "7pm"),
    ("7 o'clock", "19:00"),
    ("10%", "between 5 and 10 per cent"),
    ("5%", "between 5 and 10 per cent"),
    ("1990s", "the '90s"),
    ("Monday", "on monday"),
    ("30 mph", "30mph"),
    ("two-year-old", "aged 2"),
]


@pytest.mark.parametrize(("summary", "document"), SAME)
def test_equal_values_are_supported(summary, document):
    """Another spelling is no error; and there has to be something to support."""
    assert any(quantity.demands for quantity in quantities(summary))
    assert unsupported(summary, document) == []


@pytest.mark.parametrize(
    ("summary", "document", "expected"),
    [
        ("1,012", "1,000", ["1,012"]),
        ("20%", "20 people", ["20%"]),
        ("£5m", "$5m", ["£5m"]),
        ("5 million", "5 thousand", ["5 million"]),
        ("15 March", "14 March, day 15", ["15 March"]),
        ("14 May", "14 March", ["14 May"]),
        ("in June", "in July", ["June"]),
        ("March 2014", "March 2013", ["2014"]),
        ("Tuesday", "Monday", ["Tuesday"]),
        ("7pm", "7am", ["7pm"]),
        ("fourth", "third", ["fourth"]),
        ("twenty-two", "20 and 2", ["twenty-two"]),
        ("2 and 9", "2 and 3", ["9"]),
        ("1980s", "1990s", ["1980s"]),
        ("5", "", ["5"]),
    ],
)
def test_other_values_are_reported(summary, document, expected):
    """A changed number is the commonest factual error."""
    assert unsupported(summary, document) == expected


@pytest.mark.parametrize(
    "summary",
    [
        "one of them",
        "no one",
        "May I",
        "they may march",
        "wait a second",
        "G20",
        "3f2a9",
        "hundreds of millions",
        "a quarter",
    ],
)
def test_words_that_are_too_often_no_number_are_not_demanded(summary):
    """A false alarm for every "one of" would make the list useless."""
    assert [q.text for q in quantities(summary) if q.demands] == []


def test_offsets_count_code_points():
    """Pages mark the fact in the summary."""
    text = "😀 On 14 March 1,000 paid $5m, seven of them twice."
    spans = [(q.text, text[q.start : q.end]) for q in quantities(text)]
    assert spans == [(name, name) for name in ("14 March", "1,000", "$5m", "seven")]


def test_list_of_number_words_is_several_numbers():
    """ "two three" is not five."""
    assert [q.text for q in quantities("two three twenty-one")] == ["two", "three", "twenty-one"]


texts = st.text(alphabet="0123456789 ,.-/:%$£pmkbnst\n'’", max_size=40) | st.lists(
    st.sampled_from(
        ["one", "two", "third", "hundred", "million", "and", "half", "a", "5", "May", "3rd", "%"]
    ),
    max_size=8,
).map(" ".join)


@given(texts)
def test_every_text_supports_itself(text):
    """A copied sentence must never be reported, whatever it looks like."""
    assert unsupported(text, text) == []


@given(st.text(max_size=60))
def test_facts_lie_in_order_inside_the_text(text):
    """No crash on any input, and no overlapping or empty span."""
    end = 0
    for quantity in quantities(text):
        assert text[quantity.start : quantity.end] == quantity.text != ""
        assert quantity.start >= end
        end = quantity.end


def test_hostile_input_takes_linear_time():
    """A summary of 200,000 digits or number words must not stop a scorer."""
    begun = time.process_time()
    for text in ("1" * 200_000, "1," * 100_000, "one and " * 25_000, "$ " * 100_000):
        quantities(text)
    assert time.process_time() - begun < 10
