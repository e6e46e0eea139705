"""Made-up traffic on which drift detectors are compared.

Every stream is a signal in [0, 1] with its own fresh reference before it, as in production:
the limits are estimated, not known. Unless its name says otherwise a stream is Beta(2, 8)
(mean 0.2, standard deviation 0.12), independent, ten records an hour, from a random hour
of the day on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter
from scipy.special import betaincinv, ndtr

from monitor.drift.cycle import HOUR
from monitor.records import FloatArray

REFERENCE = 500
"""Reference records of each stream."""
_BETA = (2.0, 8.0)

Draw = Callable[[np.random.Generator, FloatArray, FloatArray], FloatArray]
"""(generator, hour of day (streams, n), records since the change (streams, n), negative
before it and −∞ where none comes) → values (streams, n), not yet clipped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Streams:
    """The streams of a scenario, references in front."""

    values: FloatArray
    """(streams, 500 + records) in [0, 1]."""
    times: FloatArray
    """The same shape: seconds, ascending."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """One kind of traffic."""

    name: str
    about: str
    records: int
    """Watched records of a stream, after its reference."""
    change: int | None
    """Watched records before the change begins; `None` where nothing changes. In the middle of
    a window of 200, so that tests on such windows are met neither early nor late."""
    draw: Draw
    rate: float = 10.0
    """Records an hour."""

    def streams(self, count: int, *, seed: int) -> Streams:
        """`count` streams, the same ones for the same seed."""
        rng = np.random.default_rng([seed, *self.name.encode()])
        steps = np.arange(REFERENCE + self.records)
        start = rng.uniform(0, 24, (count, 1))
        hours = start + steps / self.rate
        since = np.full(hours.shape, -np.inf)
        if self.change is not None:
            since[:] = steps - REFERENCE - self.change
        values = np.clip(self.draw(rng, hours, since), 0.0, 1.0)
        return Streams(values=values, times=hours * HOUR)


def _stable(rng: np.random.Generator, hours: FloatArray, since: FloatArray) -> FloatArray:
    return rng.beta(*_BETA, hours.shape)


def _shift(rng: np.random.Generator, hours: FloatArray, since: FloatArray) -> FloatArray:
    return _stable(rng, hours, since) + 0.1 * (since >= 0)


def _cycle(rng: np.random.Generator, hours: FloatArray, since: FloatArray) -> FloatArray:
    return _shift(rng, hours, since) + 0.05 * np.sin(2 * np.pi * hours / 24)


def _slow(rng: np.random.Generator, hours: FloatArray, since: FloatArray) -> FloatArray:
    return _stable(rng, hours, since) + 0.1 * np.clip(since / 1000, 0.0, 1.0)


def _spread(rng: np.random.Generator, hours: FloatArray, since: FloatArray) -> FloatArray:
    wide = rng.beta(0.8, 3.2, hours.shape)
    return np.where(since >= 0, wide, _stable(rng, hours, since))


def _autocorrelated(rng: np.random.Generator, hours: FloatArray, since: FloatArray) -> FloatArray:
    rho, warm_up = 0.5, 50
    noise = rng.normal(size=(len(hours), hours.shape[1] + warm_up))
    normal = lfilter([np.sqrt(1 - rho**2)], [1.0, -rho], noise, axis=1)[:, warm_up:]
    return np.asarray(betaincinv(*_BETA, ndtr(normal)), dtype=np.float64)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="stable", about="nothing changes", records=5000, change=None, draw=_stable),
    Scenario(
        name="stable_ar",
        about="nothing changes, but each record resembles the one before it (AR(1), ρ = 0.5)",
        records=5000,
        change=None,
        draw=_autocorrelated,
    ),
    Scenario(name="shift", about="the mean rises by 0.1", records=3000, change=1100, draw=_shift),
    Scenario(
        name="cycle",
        about="a daily cycle of ±0.05, no change",
        records=5000,
        change=None,
        draw=_cycle,
    ),
    Scenario(
        name="cycle_shift",
        about="a daily cycle of ±0.05, and the mean rises by 0.1",
        records=3000,
        change=1100,
        draw=_cycle,
    ),
    Scenario(
        name="slow",
        about="the mean rises by 0.1 over 1,000 records",
        records=4000,
        change=1100,
        draw=_slow,
    ),
    Scenario(
        name="spread",
        about="the same mean, one and a half times the standard deviation",
        records=3000,
        change=1100,
        draw=_spread,
    ),
    Scenario(
        name="sparse_stable",
        about="five records an hour, nothing changes",
        records=2000,
        change=None,
        draw=_stable,
        rate=5.0,
    ),
    Scenario(
        name="sparse",
        about="five records an hour, and the mean rises by 0.1",
        records=1500,
        change=500,
        draw=_shift,
        rate=5.0,
    ),
)
