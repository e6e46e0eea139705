"""Personal data leaves the texts, and the texts still fit together."""

from __future__ import annotations

from datetime import UTC, datetime
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from monitor.errors import ConfigurationError
from monitor.ingest.redaction import Redaction
from monitor.records import CapturedRequest, IncomingRecord, Message

redaction = Redaction()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mail jane.o'neill+x@mail.example.co.uk.", "Mail [EMAIL]."),
        ("Mail 'jane@a.example' or “jane’s@a.example”.", "Mail '[EMAIL]' or “[EMAIL]”."),
        ("https://a.example/?to=jane%40b.example&x=1", "https://a.example/?to=[EMAIL]&x=1"),
        ("jane&#64;b.example, jane＠b.example", "[EMAIL], [EMAIL]"),
        ("mürzl@köln.example", "[EMAIL]"),
        ("<a_b%c@d-e.org>", "<[EMAIL]>"),
        ("Call +353 1 666 0000 now", "Call [PHONE] now"),
        ("Call (01) 666 0000, or 01 666 0000.", "Call [PHONE], or [PHONE]."),
        ("555-867-5309 and 555.867.5309", "[PHONE] and [PHONE]"),
        ("+49 (0)30 1234567", "[PHONE]"),
        ("07911123456", "[PHONE]"),
        ("Tel:+353 1 666 0000,tel/01 666 0000", "Tel:[PHONE],tel/[PHONE]"),
        ("Card 4111 1111 1111 1111, exp. 12/26", "Card [CARD], exp. 12/26"),
        ("5500-0000-0000-0004", "[CARD]"),
        ("378282246310005", "[CARD]"),
    ],
)
def test_personal_data_is_replaced(text: str, expected: str) -> None:
    """Numbers are published test cards, and numbers reserved for fiction or of an office."""
    assert redaction.text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "In December 2000, 22 people; 1,234,567 votes; 12.5 %; 3.14159265.",
        "From 2000-12-25 to 25/12/2000 at 08:30:15.",
        "4111 1111 1111 1112 fails the check, as does 1234567890123456.",
        "Version 10.20.30.40, ISBN 978-3-16-148410-0.",
        "Scores 6-4 6-3 7-5; pages 100-200; 1996-1998.",
        "https://a.example/2026/11/30/0123456789 @ home, a@b",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    """Dates, amounts and results are what a summary is checked for."""
    assert redaction.text(text) == text


def _record(document: str, before: str, after: str) -> IncomingRecord:
    request = CapturedRequest(
        messages=(Message(role="user", content=f"{before}{document}{after}"),),
        model="m",
        parameters={
            "stop": ["a@b.ie"],
            "nested": {"x": "c@d.ie", "e@f.ie": 4111111111111111},
            "n": 2,
        },
    )
    return IncomingRecord(
        id="1",
        document=document,
        summary=document,
        service="s",
        model="m",
        received_at=datetime(2026, 11, 30, tzinfo=UTC),
        request=request,
        alternatives=("x@y.ie",),
    )


_PIECES = st.lists(
    st.sampled_from(["a@b.ie", "+353 1 666 0000", "666 0000", "4111 1111 1111 1111", " ", "x", "1"])
)
_TEXTS = st.builds("".join, _PIECES)


@given(_TEXTS, _TEXTS, _TEXTS)
@example("x", "+353 1 666 0000666 0000", "")
def test_the_document_still_stands_in_its_request(document: str, before: str, after: str) -> None:
    """Or there is none: what reaches over the document's edge must not be stored either."""
    redacted = redaction.record(_record(document, before, after))

    assert redacted.summary == redacted.document
    if redacted.request is not None:
        content = redacted.request.messages[0].content
        assert redacted.document in content
        assert redaction.text(content) == content


def test_a_number_over_the_edge_of_the_document_drops_the_request() -> None:
    """It would be whole again where the two stand side by side."""
    assert redaction.record(_record("666 0000", "+353 1 ", "")).request is None
    assert redaction.record(_record("a text", "+353 1 666 0000 ", "")).request is not None
    own = Redaction(patterns=[r"[A-Z]+-\d+"])
    assert own.record(_record("12", "CASE-", "")).request is None
    assert own.record(_record("a text on CASE-12", "CASE-7: ", "")).request is not None


@given(_TEXTS)
def test_redacting_twice_changes_nothing(text: str) -> None:
    """A text may pass here again when it is ingested from a file."""
    assert redaction.text(redaction.text(text)) == redaction.text(text)


def test_parameters_and_spare_choices_are_redacted_too() -> None:
    """They are stored like the rest."""
    redacted = redaction.record(_record("a text", "", ""))

    assert redacted.request is not None
    assert redacted.request.parameters == {
        "stop": ["[EMAIL]"],
        "nested": {"x": "[EMAIL]", "[EMAIL]": "[CARD]"},
        "n": 2,
    }
    assert redacted.alternatives == ("[EMAIL]",)


def test_own_patterns_are_applied() -> None:
    """Customer numbers look different in every house."""
    own = Redaction(patterns=[r"K-\d+", "x*"])

    assert own.text("K-123 of a@b.ie xx") == "[REDACTED] of [EMAIL] [REDACTED]"
    with pytest.raises(ConfigurationError, match=r"redaction\.patterns holds '\['"):
        Redaction(patterns=["["])


def test_long_texts_are_cut_where_nothing_matches_across() -> None:
    """Whether a match lies at the end of a piece must make no difference."""
    sentence = "Call +353 1 666 0000 or a@b.ie today "
    long = sentence * 3000

    assert redaction.text(long) == redaction.text(sentence) * 3000


@pytest.mark.parametrize(
    "piece", ["a", "a@", "a'", "a%40", "1 ", "(0", "+1", "a.", "a@b.", "1-", ".-"]
)
def test_the_time_is_linear(piece: str) -> None:
    """A hostile document must not stop the sidecar: 4 times the text, about 4 times the time."""

    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        start = process_time()
        redaction.text(text)
        return process_time() - start

    small = min(seconds(25_000) for _ in range(3))
    assert min(seconds(100_000) for _ in range(2)) < 10 * small + 0.05


def test_a_document_that_stands_everywhere_costs_no_more() -> None:
    """A message of a million letters, each of which is the document."""
    start = process_time()
    redacted = redaction.record(_record("e", "e" * 300_000, ""))
    assert redacted.request is not None
    assert process_time() - start < 5
