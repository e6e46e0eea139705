"""Where an instability says nothing."""

from __future__ import annotations

import pytest

from monitor.investigate.noise_floor import above_floor
from monitor.records import AttributionMethod, MethodResult


@pytest.mark.parametrize(
    ("instability", "floor", "above"),
    [(0.3, 0.2, True), (0.2, 0.2, False), (0.1, 0.2, False), (0.1, None, True), (None, 0.2, True)],
)
def test_only_what_is_above_the_floor_says_anything(
    instability: float | None, floor: float | None, above: bool
) -> None:
    """At the floor explaining the same document twice gives as much; unknown is no verdict."""
    method = MethodResult(
        **dict.fromkeys(MethodResult.__slots__)  # type: ignore[arg-type]
        | {
            "method": AttributionMethod.SHAP,
            "instability": instability,
            "noise_floor": floor,
        }
    )
    assert above_floor(method) is above
