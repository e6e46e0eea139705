"""Windows of records that the tests of breaches share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from monitor.breaches.window import Records


@pytest.fixture
def records() -> Callable[..., Records]:
    """Records r0, r1 … with given values, and weight 1 unless told otherwise."""

    def make(values: Sequence[float], weights: Sequence[float] | None = None) -> Records:
        return Records(
            values=np.array(values, dtype=float),
            weights=np.ones(len(values)) if weights is None else np.array(weights, dtype=float),
            ids=tuple(f"r{index}" for index in range(len(values))),
        )

    return make
