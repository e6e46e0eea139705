"""Other drift detectors, behind one shape, for the comparison in `simulate`.

All of them get the same reference in front: river's detectors see it as their warm-up
(alarms there are not counted), the windowed tests compare with it. None of them knows about
the hour of the day. "Tuned" means: set by hand for this traffic, which a user whose traffic
is not known beforehand cannot do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, kolmogorov

from monitor.drift.psi import BINS, EMPTY, psi_of_shares
from monitor.errors import DependencyUnavailable
from monitor.records import FloatArray

WINDOW = 200
"""Records that PSI and KS compare with the reference at a time; windows do not overlap."""

FirstAlarm = Callable[[FloatArray, FloatArray], int | None]
"""(reference, stream) → index of the stream's record at which the first alarm comes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rival:
    """A detector of others."""

    name: str
    first_alarm: FirstAlarm
    slow: bool = False
    """Takes a quarter of a millisecond a record, so it runs on fewer streams."""


def rivals() -> tuple[Rival, ...]:
    """river's detectors with default and tuned settings, PSI and KS likewise.

    Raises `DependencyUnavailable` where river is not installed.
    """
    # river is a development dependency that only this comparison needs.
    try:
        from river import drift as river_drift
    except ImportError as error:
        raise DependencyUnavailable(
            "river: not installed, and `drift simulate` compares with its detectors; "
            "install the development dependencies"
        ) from error
    drift: Any = river_drift  # river is only partly typed
    return (
        Rival(name="adwin", first_alarm=_river(drift.ADWIN)),
        Rival(name="adwin_tuned", first_alarm=_river(lambda: drift.ADWIN(delta=0.02, clock=4))),
        Rival(name="kswin", first_alarm=_river(lambda: drift.KSWIN(seed=1)), slow=True),
        Rival(
            name="kswin_tuned",
            first_alarm=_river(
                lambda: drift.KSWIN(alpha=1e-6, window_size=300, stat_size=100, seed=1)
            ),
            slow=True,
        ),
        Rival(name="page_hinkley", first_alarm=_river(drift.PageHinkley)),
        Rival(
            name="page_hinkley_tuned",
            first_alarm=_river(lambda: drift.PageHinkley(threshold=3, delta=0.04)),
        ),
        Rival(name="psi", first_alarm=_windowed(lambda r, c: psi_value(r, c) > 0.25)),
        Rival(name="psi_tuned", first_alarm=_windowed(lambda r, c: _psi_p(r, c) < 1e-4)),
        Rival(name="ks", first_alarm=_windowed(lambda r, c: ks_p(r, c) < 0.05)),
        Rival(name="ks_tuned", first_alarm=_windowed(lambda r, c: ks_p(r, c) < 1e-4)),
    )


def psi_value(reference: FloatArray, current: FloatArray) -> float:
    """PSI as it is usually computed: unweighted, deciles of the reference."""
    edges = np.quantile(reference, np.arange(1, BINS) / BINS)
    shares = []
    for sample in (reference, current):
        counts = np.bincount(np.searchsorted(edges, sample), minlength=BINS) + EMPTY
        shares.append(counts / counts.sum())
    return float(psi_of_shares(shares[0], shares[1]))


def _psi_p(reference: FloatArray, current: FloatArray) -> float:
    scale = 1 / len(reference) + 1 / len(current)
    return float(chdtrc(BINS - 1, psi_value(reference, current) / scale))


def ks_p(reference: FloatArray, current: FloatArray) -> float:
    """The textbook p-value: asymptotic, and as if records were independent."""
    points = np.sort(np.concatenate([reference, current]))
    gap = _distribution(reference, points) - _distribution(current, points)
    size = len(reference) * len(current) / (len(reference) + len(current))
    return float(kolmogorov(np.sqrt(size) * np.abs(gap).max()))


def _distribution(sample: FloatArray, points: FloatArray) -> FloatArray:
    return np.searchsorted(np.sort(sample), points, side="right") / len(sample)


def _windowed(alarms: Callable[[FloatArray, FloatArray], bool]) -> FirstAlarm:
    def first_alarm(reference: FloatArray, stream: FloatArray) -> int | None:
        for end in range(WINDOW, len(stream) + 1, WINDOW):
            if alarms(reference, stream[end - WINDOW : end]):
                return end - 1
        return None

    return first_alarm


def _river(create: Callable[[], Any]) -> FirstAlarm:
    def first_alarm(reference: FloatArray, stream: FloatArray) -> int | None:
        detector = create()
        for value in reference.tolist():
            detector.update(value)
        for index, value in enumerate(stream.tolist()):
            detector.update(value)
            if detector.drift_detected:
                return index
        return None

    return first_alarm
