"""A calibration with its references, in the order in which an evaluator may see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.calibrating import Window, calibrate_window, renormalize
from monitor.drift_references import fit_references
from monitor.findings import StoredReference
from monitor.records import Calibration
from monitor.settings import Settings
from monitor.stores import Stores


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalibration:
    """What was made of a window, and stored."""

    calibration: Calibration
    references: Sequence[StoredReference]
    """Of every signal of every series of the window."""
    renormalized: int
    """Scores that were normalized with it."""


def recalibrate(
    stores: Stores,
    window: Window,
    settings: Settings,
    *,
    fingerprint: str | None = None,
    activate: bool = True,
    apply: bool = True,
) -> Recalibration:
    """Freeze normalizers and references of a window.

    `fingerprint` is the beginning of one, where the window holds several. With `apply` the scores
    of the window get the new normalizer, with `activate` all later ones do. Raises `UsageError`
    for a window that nothing can be computed from.
    """
    made = calibrate_window(
        stores, window, fingerprint=fingerprint, min_documents=settings.calibration.min_documents
    )
    stores.calibrations.add(made, activate=False)
    references = fit_references(stores, made, window, settings.drift)
    stores.drift.save_references(references)
    # What nobody is held to must not take the HSS of series that go on as they are.
    changed = renormalize(stores, made, window, kept=activate) if apply else 0
    # Last of all: an evaluator that sees it active finds its references complete.
    if activate:
        stores.calibrations.activate(made.id)
    return Recalibration(calibration=made, references=references, renormalized=changed)
