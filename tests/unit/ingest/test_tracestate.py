"""What a trace state tells of replays and of upstream sampling."""

from __future__ import annotations

import pytest

from monitor.ingest.tracestate import is_replay, upstream_probability


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("", False),
        ("hss=replay", True),
        ("a=b , hss=replay", True),
        ("hss=replayed", False),
        ("xhss=replay", False),
        ("a=hss=replay", False),
    ],
)
def test_only_our_own_member_marks_a_replay(state: str, expected: bool) -> None:
    """A false positive would hide real traffic, a false negative score a replay."""
    assert is_replay(state) is expected


@pytest.mark.parametrize(
    ("state", "probability"),
    [
        ("", 1.0),
        ("ot=th:0", 1.0),
        ("ot=th:8", 0.5),
        ("ot=th:c;rv:12345678901234", 0.25),
        ("ot=rv:12345678901234;th:e", 0.125),
        ("x=1,ot=th:fd70a3d70a3d71", 0.01),
        ("ot=p:0", 1.0),
        ("ot=r:7;p:5", 1 / 32),
        ("ot=p:63", 1.0),
        ("ot=p:99999999999", 1.0),
        ("ot=th:xyz", 1.0),
        ("ot=th:", 1.0),
        ("ot=th:123456789abcdef", 1.0),
    ],
)
def test_the_threshold_is_a_share_of_rejected_traces(state: str, probability: float) -> None:
    """T of th is a hex fraction with zeros cut off on the right; what is invalid says nothing."""
    assert upstream_probability(state) == pytest.approx(probability, rel=1e-12)
