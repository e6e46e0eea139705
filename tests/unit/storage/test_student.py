"""The quantile of the pages' intervals against SciPy's."""

from __future__ import annotations

import pytest
from scipy.special import stdtrit

from monitor.storage.student import t_quantile


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 6, 10, 30, 100, 10_000])
def test_the_quantile_is_students(degrees: int) -> None:
    """With few traces the normal quantile makes an interval much too narrow."""
    assert t_quantile(degrees) == pytest.approx(stdtrit(degrees, 0.975), abs=0.003)
