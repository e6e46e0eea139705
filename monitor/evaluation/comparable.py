"""Stored records as drift compares them."""

from __future__ import annotations

import numpy as np

from monitor.drift.comparison import Sample
from monitor.drift.hajek import cluster_index
from monitor.drift.signals import REWORDED
from monitor.findings import SignalSample
from monitor.records import FloatArray


def adjustable(found: SignalSample, signal: str) -> SignalSample:
    """The records that can be held against a reference.

    A signal that grows with the share of replaced words is adjusted for it, so that a record
    whose share is unknown tells nothing: one NaN among the evidence would silence a detector
    for good.
    """
    return found.with_share() if signal in REWORDED else found


def shares_of(sample: SignalSample, signal: str) -> FloatArray | None:
    """The shares that a signal is adjusted for; `None` where it does not depend on them."""
    return sample.shares if signal in REWORDED else None


def comparable(found: SignalSample, signal: str, *, newest: int | None = None) -> Sample:
    """What can be compared with a reference, or the newest of it, as the tests take it."""
    sample = adjustable(found, signal)
    if newest is not None and len(sample) > newest:
        sample = sample.at(range(len(sample))[-newest:])
    return Sample(
        values=sample.values,
        times=sample.times,
        probabilities=sample.probabilities,
        clusters=cluster_index(np.array(sample.traces), len(sample)),
        shares=shares_of(sample, signal),
    )
