"""Fingerprints: stable over spelling, sensitive to content."""

import hashlib

import pytest

from monitor.errors import MalformedInput
from monitor.records import Strength
from monitor.scoring.fingerprint import canonical, fingerprint


def test_fingerprint_is_the_hash_of_canonical_json():
    """Computed with hashlib on a text written by hand, so that any tool can check it."""
    text = '{"K":8,"strengths":["low","high"],"tau":0.6}'
    settings = {"tau": 0.6, "strengths": (Strength.LOW, Strength.HIGH), "K": 8.0}
    assert fingerprint(settings) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("change", [{"k": 11}, {"tau": 0.61}, {"encoder": "f"}, {"new": None}])
def test_any_change_of_a_setting_changes_the_fingerprint(change):
    """Scores under another setting must not share a normalizer."""
    settings = {"k": 10, "tau": 0.6, "encoder": "e"}
    assert fingerprint({**settings, **change}) != fingerprint(settings)


def test_truth_values_are_not_numbers():
    """`true` and 1 are different settings."""
    assert canonical({"a": True}) != canonical({"a": 1})


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"a": {"b": float("nan")}}, r"settings\.a\.b"),
        ({"a": [1, object()]}, r"settings\.a\[1\]"),
        ({"a": b"bytes"}, r"settings\.a"),
        ({1: "x"}, "settings"),
    ],
)
def test_values_without_canonical_form_are_refused_with_their_path(settings, path):
    """repr() of an object would differ from process to process."""
    with pytest.raises(MalformedInput, match=path):
        fingerprint(settings)
