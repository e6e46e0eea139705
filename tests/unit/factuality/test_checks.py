"""All checks of a record together: a value or a reason each."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.factuality.checks import FactualChecks
from monitor.factuality.comparator import Unavailable
from monitor.factuality.overlap import OverlapCheck
from monitor.records import Reason

DOCUMENT = "Anna Berg sold 40 cars in Oslo. The buyers paid in cash."


@pytest.fixture(scope="module")
def checks(language: Any) -> FactualChecks:
    absent = [Unavailable("summac", "no model"), Unavailable("factcc", "no model")]
    return FactualChecks(OverlapCheck(language), absent)


def test_overlap_figures_are_counted_by_hand(checks: FactualChecks) -> None:
    """Summary: 2 names of which Oslo is held; 1 number of 1; the document has 2 names, 1 number."""
    found = checks.check(DOCUMENT, "Carl Lund sold 40 cars in Oslo.")
    assert found["entity_precision"].value == pytest.approx(1 / 2)
    assert found["entity_recall"].value == pytest.approx(1 / 2)
    assert found["number_precision"].value == 1.0
    # carl lund sell car oslo against anna berg sell car oslo buyer pay cash.
    assert found["content_word_precision"].value == pytest.approx(3 / 5)
    assert found["content_word_recall"].value == pytest.approx(3 / 8)
    assert found["content_word_f1"].value == pytest.approx(2 * 3 / (5 + 8))


def test_an_absent_model_is_unavailable_and_never_zero(checks: FactualChecks) -> None:
    """With the reason, beside the checks that need no model."""
    found = checks.check(DOCUMENT, "Cars were sold.")
    for name in ("summac", "factcc"):
        assert (found[name].value, found[name].reason) == (None, Reason.UNAVAILABLE)
        assert found[name].detail == "no model"


@pytest.mark.parametrize(
    ("summary", "name", "reason"),
    [
        ("Cars were sold.", "entity_precision", Reason.NO_ENTITIES),
        ("Cars were sold.", "number_f1", Reason.NO_NUMBERS),
        ("", "content_word_precision", Reason.EMPTY_SUMMARY),
    ],
)
def test_what_is_not_defined_has_its_reason(
    checks: FactualChecks, summary: str, name: str, reason: Reason
) -> None:
    """A summary without names is neither faithful nor unfaithful in them."""
    found = checks.check(DOCUMENT, summary)
    assert (found[name].value, found[name].reason) == (None, reason)
    assert all((score.value is None) != (score.reason is None) for score in found.values())


@pytest.mark.parametrize(
    ("document", "summary"), [(DOCUMENT, "long " * 20), ("long " * 20, "Oslo")]
)
def test_a_text_beyond_the_language_model_is_too_long(
    checks: FactualChecks,
    language: Any,
    monkeypatch: pytest.MonkeyPatch,
    document: str,
    summary: str,
) -> None:
    """Read as empty, its summary would look invented from end to end; the others keep theirs."""
    monkeypatch.setattr(language, "max_length", 80)
    refused, read = checks.check_pairs([(document, summary), (DOCUMENT, "Oslo sold 40 cars.")])
    assert refused["content_word_precision"].reason is Reason.TOO_LONG
    assert refused["number_precision"].reason is Reason.TOO_LONG
    assert read["number_precision"].value == 1.0
