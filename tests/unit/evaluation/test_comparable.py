"""What of stored records is compared with a reference."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.evaluation.comparable import comparable
from monitor.findings import SignalSample


@pytest.fixture
def sample() -> SignalSample:
    """Three records, two of one trace; of the second no version has a distance."""
    return SignalSample(
        ids=("a", "b", "c"),
        times=np.array([1.0, 2.0, 3.0]),
        values=np.array([0.1, 0.2, 0.3]),
        probabilities=np.array([1.0, 0.5, 0.25]),
        traces=("t", "t", "u"),
        shares=np.array([0.1, np.nan, 0.2]),
        releases=(None, None, "v2"),
    )


def test_records_of_one_trace_are_one_draw(sample: SignalSample) -> None:
    """They were sampled together, so that their errors are, too."""
    taken = comparable(sample, "entity_support")
    assert taken.clusters is not None
    assert taken.clusters.tolist() == [0, 0, 1]
    assert taken.probabilities is not None
    assert taken.probabilities.tolist() == [1.0, 0.5, 0.25]


def test_only_what_grows_with_the_share_is_adjusted_for_it(sample: SignalSample) -> None:
    """There a record without a share tells nothing; elsewhere it counts like the others."""
    support, severity = comparable(sample, "entity_support"), comparable(sample, "hss")
    assert (support.values.tolist(), support.shares) == ([0.1, 0.2, 0.3], None)
    assert severity.shares is not None
    assert (severity.values.tolist(), severity.shares.tolist()) == ([0.1, 0.3], [0.1, 0.2])


def test_of_too_many_the_newest_are_compared(sample: SignalSample) -> None:
    """In their order, as blocks of neighbours are dealt."""
    assert comparable(sample, "entity_support", newest=2).values.tolist() == [0.2, 0.3]
