"""Attributions and checks, as people and programs get them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from monitor import configuration
from monitor.attribution.segmentation import segment
from monitor.cli.explained import attribution_row, factuality_row, styled_values
from monitor.cli.output import plain
from monitor.records import (
    Attribution,
    Explanation,
    FactualScore,
    MethodResult,
    Reason,
    RecordState,
    ScoredRecord,
)
from monitor.stores import now, open_stores

DOCUMENT = "Rain fell in Oslo."
CUT = segment(DOCUMENT)
SHAP = MethodResult(
    method="shap",
    words=CUT.words,
    original=Attribution(values=np.array([0.5, 0.0, -0.25, 1.0]), evaluations=16),
    perturbed=(Attribution(values=np.array([1.0, 0.0, 0.0, 0.0]), evaluations=16),),
    instability=0.6,
    absolute=0.5,
    one_minus_spearman=0.4,
    one_minus_cosine=0.3,
    noise_floor=0.1,
    compared=1,
    evaluations=48,
    reason=None,
)
LIME = replace(
    SHAP,
    method="lime",
    original=Attribution(values=None, reason=Reason.OVER_BUDGET),
    perturbed=(),
    instability=None,
    noise_floor=None,
    compared=0,
    reason=Reason.OVER_BUDGET,
)
EXPLANATION = Explanation(
    methods=(SHAP, LIME),
    probability=1.0,
    value="similarity",
    versions=(3,),
    spans=tuple(zip(CUT.starts.tolist(), CUT.ends.tolist(), strict=True)),
)
CHECKS = {
    "entity_precision": FactualScore(value=1.0, reason=None),
    "summac": FactualScore(value=None, reason=Reason.UNAVAILABLE, detail="no model"),
}


def test_json_has_a_value_or_a_reason_for_each_method() -> None:
    """The keys are part of the interface."""
    found = plain(attribution_row(EXPLANATION))
    shap, lime = found["shap"], found["lime"]
    keys = {
        "words", "values", "instability", "one_minus_spearman", "one_minus_cosine",
        "noise_floor", "evaluations", "reason",
    }  # fmt: skip
    assert keys <= shap.keys()
    assert keys <= lime.keys()
    assert shap["words"] == ["Rain", "fell", "in", "Oslo"]
    assert shap["values"] == [0.5, 0.0, -0.25, 1.0]
    assert (shap["instability"], shap["noise_floor"], shap["reason"]) == (0.6, 0.1, None)
    assert shap["perturbed"][0]["perturbation"] == 3
    assert (lime["values"], lime["instability"], lime["reason"]) == (None, None, "over_budget")


def test_json_has_a_value_or_a_reason_for_each_check() -> None:
    """An absent model is `unavailable`, with what is missing."""
    assert plain(factuality_row(CHECKS)) == {
        "entity_precision": {"value": 1.0, "reason": None, "detail": ""},
        "summac": {"value": None, "reason": "unavailable", "detail": "no model"},
    }


def test_no_explanation_is_an_empty_object() -> None:
    """A skipped record has none; a consumer finds the key all the same."""
    assert attribution_row(None) == {}


def test_words_are_coloured_by_sign_and_size() -> None:
    """Deep green, plain, pale red, deepest green; the text itself is whole."""
    text = styled_values(DOCUMENT, EXPLANATION.spans, [0.5, 0.0, -0.25, 1.0])
    assert text.plain == DOCUMENT
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert "fell" not in styles
    greens = [int(styles[word][-6:-4], 16) for word in ("Rain", "Oslo")]
    assert greens[0] > greens[1], "a larger value has a deeper colour"
    assert int(styles["in"][-6:-4], 16) > int(styles["in"][-4:-2], 16), "red for a negative value"


def test_a_document_without_weight_stays_plain() -> None:
    """All zero: nothing to divide by."""
    assert styled_values(DOCUMENT, EXPLANATION.spans, [0.0] * 4).spans == []


def test_control_characters_of_a_document_do_not_reach_the_terminal() -> None:
    """Nor anything that looks like markup."""
    document = "[red]\x1b[31mRain"
    cut = segment(document)
    spans = list(zip(cut.starts.tolist(), cut.ends.tolist(), strict=True))
    text = styled_values(document, spans, [1.0] * len(spans))
    assert "\x1b" not in text.plain
    assert text.plain.startswith("[red]")


@pytest.mark.parametrize("methods", ["shap,anchors", "", ","])
def test_an_unknown_method_is_refused_before_models_load(cli: Any, methods: str) -> None:
    """With the ones there are."""
    result = cli("score", "--document", "Rain fell.", "--attribution", methods)
    assert result.code == 2
    assert "'shap', 'lime', 'smile' or 'attention'" in result.err


def test_a_stored_record_shows_both(cli: Any, add_records: Any, config_file: Any) -> None:
    """The page at 3 a.m.: why, and which facts are held."""
    add_records(
        [{"id": "a", "document": DOCUMENT, "summary": "Rain.", "service": "s", "model": "m"}]
    )
    with open_stores(configuration.load(config_file)) as stores:
        [leased] = stores.queue.lease("test", count=1, seconds=60)
        result = ScoredRecord(
            record_id="a",
            state=RecordState.SCORED,
            reason=None,
            detail="",
            category="news",
            scored_at=now(),
            fingerprint="fp",
            explanation=EXPLANATION,
            checks=CHECKS,
        )
        stores.queue.finish(leased.lease, result)
    shown = cli("records", "show", "a").out
    for part in ("shap", "0.600", "over_budget", "summac", "unavailable", DOCUMENT):
        assert part in shown
    [row] = cli("records", "show", "a", "--json").objects
    [shap, _] = row["attributions"]
    assert shap["explanations"][0]["values"] == [0.5, 0.0, -0.25, 1.0]
    assert row["score"]["checks"]["summac"]["reason"] == "unavailable"
