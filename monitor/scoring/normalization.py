"""M_c: what a category's distances are divided by, from a frozen reference.

A normalizer that followed live traffic would adapt to every degradation, so a calibration
is computed once, from a named window, and never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.errors import MalformedInput
from monitor.records import Calibration, FloatArray, Normalizer

PERCENTILE = 95.0
RESAMPLES = 1000
SEED = 20200
"""Fixed, so that the same reference gives the same interval to the last digit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceDocument:
    """The distances D₁…D_K of one scored record of the reference window."""

    category: str
    distances: tuple[float, ...]
    """Each in [0, 2]; the ones that are missing are left out."""


def normalizer(documents: Sequence[ReferenceDocument], category: str | None) -> Normalizer:
    """The 95th percentile of all distances of the documents, with a 95 % interval.

    The percentile interpolates linearly between order statistics (definition 7 of Hyndman
    & Fan 1996: position 0.95·(n − 1) from the smallest), which is what NumPy, R and
    PostgreSQL's `percentile_cont` do, so that anybody can recompute it from the stored
    distances. The interval is the percentile bootstrap over *documents* (clusters): the K
    distances of one document resemble each other, and resampling distances would pretend
    to K times the information. `None` bounds where there is one document only.

    Raises `MalformedInput` without a distance, or with one outside [0, 2].
    """
    distances, owner = _pooled(documents)
    low, high = (None, None)
    if len(documents) > 1:
        low, high = _interval(distances, owner, len(documents))
    return Normalizer(
        category=category,
        value=float(np.percentile(distances, PERCENTILE)),
        low=low,
        high=high,
        documents=len(documents),
        distances=len(distances),
    )


def normalizer_for(calibration: Calibration, category: str | None) -> Normalizer:
    """The category's own normalizer, else the pooled one (whose category is `None`).

    Raises `MalformedInput` for a calibration without a pooled normalizer.
    """
    entries = {entry.category: entry for entry in calibration.normalizers}
    found = entries.get(category) or entries.get(None)
    if found is None:
        raise MalformedInput(
            f"calibration {calibration.id}.normalizers",
            f"no pooled normalizer, and none of category {category!r}",
            "compute the calibration again",
        )
    return found


def _pooled(documents: Sequence[ReferenceDocument]) -> tuple[FloatArray, NDArray[np.intp]]:
    """All distances in ascending order, and the index of the document of each."""
    values = np.array([value for entry in documents for value in entry.distances], dtype=float)
    if values.size == 0:
        raise MalformedInput("reference", "no distances", "score records first")
    if not bool(np.all((values >= 0.0) & (values <= 2.0))):
        raise MalformedInput(
            "reference",
            f"distances between {values.min():.4g} and {values.max():.4g}",
            "pass raw W₁ distances in [0, 2], without missing values",
        )
    owner = np.repeat(np.arange(len(documents)), [len(entry.distances) for entry in documents])
    order = np.argsort(values, kind="stable")
    return values[order], owner[order]


def _interval(
    distances: FloatArray, owner: NDArray[np.intp], documents: int
) -> tuple[float, float]:
    generator = np.random.default_rng(SEED)
    drawn = generator.multinomial(documents, np.full(documents, 1 / documents), size=RESAMPLES)
    estimates = [
        # Repeating sorted values keeps them sorted: cheap, and no copy of whole documents.
        float(np.percentile(np.repeat(distances, counts[owner]), PERCENTILE))
        for counts in drawn
        if counts[owner].any()
    ]
    low, high = np.percentile(estimates, [2.5, 97.5])
    return float(low), float(high)
