"""The calibration file: a round trip without loss, and refusals that name the field."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from monitor.errors import MalformedInput
from monitor.records import Calibration, Normalizer
from monitor.scoring.provisional import dump, load, provisional

CALIBRATION = Calibration(
    id="20250304-abc",
    fingerprint="f" * 64,
    settings={"encoder": "e", "k": 10},
    created_at=datetime(2025, 3, 4, tzinfo=UTC),
    window="reference",
    since=datetime(2025, 3, 1, tzinfo=UTC),
    until=None,
    provisional=True,
    normalizers=(
        Normalizer(category=None, value=0.7, low=0.6, high=0.8, documents=50, distances=400),
        Normalizer(category="news", value=0.5, low=None, high=None, documents=1, distances=8),
    ),
    warnings=("look at this",),
)


def changed(**fields):
    return json.dumps({**json.loads(dump(CALIBRATION)), **fields})


def test_round_trip_keeps_everything():
    """What was computed is what is shipped."""
    assert load(dump(CALIBRATION)) == CALIBRATION


def test_shipped_calibration_is_marked_provisional_and_has_a_pooled_normalizer():
    """It has to be told apart from one's own wherever it is shown."""
    shipped = provisional()
    if shipped is None:
        pytest.skip("this build ships no provisional calibration")
    assert shipped.provisional
    assert shipped.normalizers[0].category is None
    assert shipped.created_at.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "calibration"),
        (changed(surprise=1), "surprise"),
        (changed(created_at="2025-03-04T00:00:00"), "without a zone"),
        (changed(normalizers=[]), "no pooled entry"),
        (changed(normalizers=[{"category": None}]), "value"),
    ],
)
def test_malformed_files_are_refused_naming_the_field(text, message):
    """A broken file must stop the start, not the first score."""
    with pytest.raises(MalformedInput, match=message):
        load(text)


@pytest.mark.parametrize("value", [0, -1, 3, "x"])
def test_impossible_normalizers_are_refused(value):
    """W₁ never exceeds 2, and 0 cannot be divided by."""
    entry = {
        "category": None,
        "value": value,
        "low": None,
        "high": None,
        "documents": 1,
        "distances": 1,
    }
    with pytest.raises(MalformedInput, match=r"not in \(0, 2\]"):
        load(changed(normalizers=[entry]))
