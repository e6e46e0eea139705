"""A calibration: the normalizers of one frozen reference, for scores of one fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import structlog

from monitor.errors import UsageError
from monitor.records import Calibration, Normalizer
from monitor.scoring.fingerprint import canonical, fingerprint
from monitor.scoring.normalization import ReferenceDocument, normalizer
from monitor.scoring.stability import unstable_halves

log = structlog.get_logger(__name__)

SMALLEST = 1e-3
"""A normalizer below this would turn the rounding noise of float32 embeddings into HSS."""


def calibrate(
    reference: Sequence[ReferenceDocument],
    *,
    kept: Sequence[ReferenceDocument] = (),
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

    `kept` are documents of earlier windows that the reference holds nothing in place of: they
    make the normalizers, too, and are no part of the halves.

    Raises `UsageError` where the reference is too small, whatever is kept beside it, or all of
    it so stable that its 95th percentile is 0: every later tremor would be an HSS of 1.
    """
    fresh = [document for document in reference if document.distances]
    # What is kept is no reason to hold others to a handful of documents.
    _require(fresh, window, min_documents, min_distances)
    documents = [*fresh, *(document for document in kept if document.distances)]
    pooled = _of_all(documents, window)
    own, warnings = _of_categories(_by_category(documents), min_documents, min_distances)
    normalizers = (pooled, *own)
    groups: list[tuple[str | None, list[ReferenceDocument]]] = [
        (None, fresh),
        *_by_category(fresh).items(),
    ]
    used = {entry.category for entry in normalizers}
    warnings += unstable_halves(
        {name: [part.distances for part in group] for name, group in groups if name in used}
    )
    created_at = clock()
    calibration = Calibration(
        id=_id(settings, window, created_at, normalizers),
        fingerprint=fingerprint(settings),
        settings=dict(settings),
        created_at=created_at,
        window=window,
        since=since,
        until=until,
        provisional=provisional,
        normalizers=normalizers,
        warnings=tuple(warnings),
        release=release,
    )
    log.info(
        "calibration_computed",
        calibration=calibration.id,
        documents=pooled.documents,
        distances=pooled.distances,
        normalizers=len(normalizers),
        warnings=len(warnings),
    )
    return calibration


def _by_category(
    documents: Sequence[ReferenceDocument],
) -> dict[str, list[ReferenceDocument]]:
    parts: dict[str, list[ReferenceDocument]] = {}
    for document in documents:
        parts.setdefault(document.category, []).append(document)
    return parts


def _require(
    documents: Sequence[ReferenceDocument], window: str, min_documents: int, min_distances: int
) -> None:
    """Raises `UsageError` for too small a reference."""
    distances = sum(len(document.distances) for document in documents)
    if len(documents) < min_documents or distances < min_distances:
        raise UsageError(
            f"window {window!r}: {len(documents)} documents with {distances} distances; "
            f"a calibration needs at least {min_documents} and {min_distances}: "
            "widen the window, or wait until more records are scored"
        )


def _of_all(documents: Sequence[ReferenceDocument], window: str) -> Normalizer:
    """The pooled normalizer; raises `UsageError` where there is none."""
    pooled = normalizer(documents, None)
    if pooled.value < SMALLEST:
        raise UsageError(
            f"window {window!r}: the 95th percentile of {pooled.distances} distances is "
            f"{pooled.value:.2g}; a reference that never moves normalizes nothing: ask for "
            "stronger perturbations, or check that the summarizer reads its document"
        )
    return pooled


def _of_categories(
    parts: Mapping[str, Sequence[ReferenceDocument]], min_documents: int, min_distances: int
) -> tuple[list[Normalizer], list[str]]:
    """The categories' own normalizers, and why others have none."""
    normalizers, warnings = [], []
    for category in sorted(parts):
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
    return normalizers, warnings


def _id(
    settings: Mapping[str, Any],
    window: str,
    created_at: datetime,
    normalizers: Sequence[Normalizer],
) -> str:
    """Other distances give another id, the same give the same."""
    made_of = {
        "settings": settings,
        "window": window,
        "created_at": created_at.isoformat(),
        "values": [[entry.category, entry.value, entry.distances] for entry in normalizers],
    }
    digest = hashlib.sha256(canonical(made_of).encode("ascii")).hexdigest()
    return f"{created_at:%Y%m%d}-{digest[:12]}"
