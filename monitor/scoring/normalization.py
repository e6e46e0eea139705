"""M_c: what a category's distances are divided by, from a frozen reference.

A normalizer that followed live traffic would adapt to every degradation, so a calibration
is computed once, from a named window, and never changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import structlog
from numpy.typing import NDArray

from monitor.errors import MalformedInput, UsageError
from monitor.records import Calibration, FloatArray, Normalizer
from monitor.scoring.fingerprint import canonical, fingerprint
from monitor.scoring.stability import unstable_halves

log = structlog.get_logger(__name__)

PERCENTILE = 95.0
SMALLEST = 1e-3
"""A normalizer below this would turn the rounding noise of float32 embeddings into HSS."""
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


def calibrate(
    reference: Sequence[ReferenceDocument],
    *,
    settings: Mapping[str, Any],
    window: str,
    clock: Callable[[], datetime],
    since: datetime | None = None,
    until: datetime | None = None,
    release: str | None = None,
    provisional: bool = False,
    min_documents: int = 20,
    min_distances: int = 100,
) -> Calibration:
    """A calibration from a reference in the order in which it was received.

    The pooled normalizer stands first, then one for each category with at least
    `min_documents` documents and `min_distances` distances; the other categories fall
    back to the pooled one, and `warnings` names them. A warning also says where the first
    and the second half of the reference differ: then the window holds a change, and the
    normalizer is an average of two states.

    Raises `UsageError` where the whole reference is too small, or so stable that its
    95th percentile is 0: every later tremor would be an HSS of 1.
    """
    documents = [document for document in reference if document.distances]
    distances = sum(len(document.distances) for document in documents)
    if len(documents) < min_documents or distances < min_distances:
        raise UsageError(
            f"window {window!r}: {len(documents)} documents with {distances} distances; "
            f"a calibration needs at least {min_documents} and {min_distances}: "
            "widen the window, or wait until more records are scored"
        )
    pooled = normalizer(documents, None)
    if pooled.value < SMALLEST:
        raise UsageError(
            f"window {window!r}: the 95th percentile of {distances} distances is "
            f"{pooled.value:.2g}; a reference that never moves normalizes nothing: ask for "
            "stronger perturbations, or check that the summarizer reads its document"
        )
    normalizers, warnings = [pooled], []
    parts: dict[str | None, list[ReferenceDocument]] = {None: documents}
    for document in documents:
        parts.setdefault(document.category, []).append(document)
    for category in sorted(name for name in parts if name is not None):
        own = normalizer(parts[category], category)
        if own.documents < min_documents or own.distances < min_distances:
            warnings.append(
                f"category {category!r}: only {own.documents} documents with {own.distances} "
                f"distances (at least {min_documents} and {min_distances} are needed); "
                "the pooled normalizer stands in"
            )
        elif own.value < SMALLEST:
            warnings.append(
                f"category {category!r}: its 95th percentile is {own.value:.2g}, no distance "
                "to divide by; the pooled normalizer stands in"
            )
        else:
            normalizers.append(own)
    kept = {entry.category for entry in normalizers}
    warnings += unstable_halves(
        {name: [part.distances for part in parts[name]] for name in parts if name in kept}
    )
    created_at = clock()
    made_of = {
        "settings": settings,
        "window": window,
        "created_at": created_at.isoformat(),
        "values": [[entry.category, entry.value, entry.distances] for entry in normalizers],
    }
    digest = hashlib.sha256(canonical(made_of).encode("ascii")).hexdigest()
    calibration = Calibration(
        id=f"{created_at:%Y%m%d}-{digest[:12]}",
        fingerprint=fingerprint(settings),
        settings=dict(settings),
        created_at=created_at,
        window=window,
        since=since,
        until=until,
        provisional=provisional,
        normalizers=tuple(normalizers),
        warnings=tuple(warnings),
        release=release,
    )
    log.info(
        "calibration_computed",
        calibration=calibration.id,
        documents=len(documents),
        distances=distances,
        normalizers=len(normalizers),
        warnings=len(warnings),
    )
    return calibration


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
