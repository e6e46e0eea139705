"""Categories: the record's own, then rules, then the nearest description."""

from datetime import UTC, datetime

import numpy as np
import pytest

from monitor.errors import ConfigurationError
from monitor.records import IncomingRecord
from monitor.sampling.category import HEAD, CategoryRule, CategoryRules, NearestCategory


def record(document="text", *, service="desk", model="m-1", category=None):
    return IncomingRecord(
        id="r",
        document=document,
        summary="s",
        service=service,
        model=model,
        received_at=datetime(2025, 1, 1, tzinfo=UTC),
        category=category,
    )


class WordEncoder:
    """Unit vectors by whether a text speaks of courts or of goals; neither is a third axis."""

    name = "words"

    def __init__(self):
        self.calls = 0

    def encode(self, sentences):
        self.calls += 1
        axes = [0 if "court" in text else 1 if "goal" in text else 2 for text in sentences]
        return np.eye(3)[axes]

    def distributions(self, texts):
        raise NotImplementedError


RULES = (
    CategoryRule(category="legal", service="court-*"),
    CategoryRule(category="sport", pattern=r"\bgoals?\b"),
    CategoryRule(category="beta", model="m-2", service="desk"),
)
DESCRIPTIONS = {"sport": "about a goal", "legal": "about a court"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (record(category="own", service="court-7"), "own"),
        (record(category="  "), None),
        (record(service="court-7"), "legal"),
        (record("two goals late"), "sport"),
        (record("goals", service="court-7"), "legal"),
        (record(model="m-2"), "beta"),
        (record(model="m-2", service="other"), None),
        (record(service="Court-7"), None),
    ],
)
def test_first_source_that_tells_decides(given, expected):
    """Own category, then the first rule all of whose parts match, else unknown."""
    assert CategoryRules(RULES)(given) == expected


def test_default_stands_in_where_no_rule_matches():
    """For installations without descriptions."""
    assert CategoryRules(RULES, default="general")(record()) == "general"


def test_rules_look_at_the_beginning_of_a_document_only():
    """The front answers in milliseconds whatever the length of a text."""
    assert CategoryRules(RULES)(record("x " * HEAD + "goal")) is None


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (CategoryRule(category="x", pattern="("), r"rules\[0\]\.pattern: '\('"),
        (CategoryRule(category=" ", service="a"), r"rules\[0\]\.category"),
        (CategoryRule(category="x"), "matches every record"),
    ],
)
def test_broken_rules_are_refused_naming_their_key(rule, message):
    """A broken expression must stop the start, not the first record."""
    with pytest.raises(ConfigurationError, match=message):
        CategoryRules([rule])


def test_nearest_description_decides():
    """In one batch for all documents; an empty document keeps the default."""
    nearest = NearestCategory(DESCRIPTIONS, WordEncoder(), default="general")
    found = nearest.nearest(["a court sat", "", "a late goal", "neither"])
    assert found == ["legal", "general", "sport", "general"]


def test_known_category_is_not_decided_again():
    """No embedding is spent where a rule has told."""
    encoder = WordEncoder()
    nearest = NearestCategory(DESCRIPTIONS, encoder, default="general")
    assert nearest(record("a court sat", category="news")) == "news"
    assert encoder.calls == 0
    assert nearest(record("a court sat")) == "legal"


def test_descriptions_are_embedded_once():
    """They never change while a scorer lives."""
    encoder = WordEncoder()
    nearest = NearestCategory(DESCRIPTIONS, encoder, default="general")
    nearest(record("a court"))
    nearest(record("a goal"))
    assert encoder.calls == 3


def test_without_descriptions_the_default_stands():
    """And nothing is embedded."""
    encoder = WordEncoder()
    assert NearestCategory({}, encoder, default="general")(record()) == "general"
    assert encoder.calls == 0


def test_empty_description_is_refused():
    """Its vector would be noise that attracts documents."""
    with pytest.raises(ConfigurationError, match=r"descriptions\.legal"):
        NearestCategory({"legal": " "}, WordEncoder(), default="general")
