"""How often the interval of HSS holds the value that endless perturbations would give.

Run as `python -m monitor.scoring.coverage`; prints one line for each world below.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from monitor.records import FloatArray, Normalizer, Strength
from monitor.scoring.severity import severity

MIX = (Strength.LOW,) * 3 + (Strength.MODERATE,) * 3 + (Strength.HIGH,) * 2
"""The default mix of K = 8."""


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """How the distances of one document come about."""

    name: str
    means: tuple[float, float, float]
    """Mean D of low, moderate and high strength, where the summary moves at all."""
    concentration: float
    """a + b of the Beta distribution of D/2: high is narrow."""
    still: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Probability that the summary does not move, D = 0, by strength."""


WORLDS = (
    World(name="narrow", means=(0.2, 0.3, 0.4), concentration=60),
    World(name="broad", means=(0.2, 0.4, 0.6), concentration=8),
    World(name="clipped", means=(0.6, 0.8, 1.0), concentration=15),
    World(name="half still", means=(0.3, 0.4, 0.5), concentration=20, still=(0.7, 0.5, 0.3)),
    World(name="mostly still", means=(0.4, 0.5, 0.6), concentration=20, still=(0.95, 0.9, 0.8)),
)


def coverage(world: World, *, records: int, seed: int = 7) -> tuple[float, float]:
    """Share of intervals that hold the truth, and their mean width, for M_c = 0.9."""
    generator = np.random.default_rng(seed)
    scale = Normalizer(category=None, value=0.9, low=None, high=None, documents=100, distances=800)
    sample = _distances(world, generator, 100_000)
    truth = float(np.minimum(sample / scale.value, 1.0).mean())
    held, width = 0, 0.0
    for row in _distances(world, generator, records):
        score = severity(list(zip(MIX, row.tolist(), strict=True)), scale)
        if score.low is not None and score.high is not None:
            # A tolerance, so that rounding does not decide where both are exactly 1.
            held += score.low - 1e-9 <= truth <= score.high + 1e-9
            width += score.high - score.low
    return held / records, width / records


def _distances(world: World, generator: np.random.Generator, records: int) -> FloatArray:
    order = {strength: index for index, strength in enumerate(Strength)}
    columns = [order[strength] for strength in MIX]
    means = np.array(world.means)[columns] / 2
    shape = (records, len(MIX))
    moved = 2 * generator.beta(
        means * world.concentration, (1 - means) * world.concentration, size=shape
    )
    still = generator.random(shape) < np.array(world.still)[columns]
    distances: FloatArray = np.where(still, 0.0, moved)
    return distances


def main(records: int = 20_000) -> None:
    for world in WORLDS:
        share, width = coverage(world, records=records)
        sys.stdout.write(f"{world.name:13s} coverage {share:.1%}  mean width {width:.3f}\n")


if __name__ == "__main__":
    main()
