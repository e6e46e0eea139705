"""From stored distances to a calibration, and from a calibration back to stored scores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from monitor.errors import UsageError
from monitor.findings import Series
from monitor.records import Calibration, Severity
from monitor.scoring.calibration import calibrate
from monitor.scoring.normalization import ReferenceDocument, normalizer_for
from monitor.scoring.severity import severity
from monitor.storage.reference_documents import ReferenceWindow
from monitor.stores import Stores, now

FACT = "fingerprint:"
"""Prefix of the shared facts in which scorers note what their fingerprints are made of."""
PAGE = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Window(ReferenceWindow):
    """Which stored scores make the reference, and what people call them."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A series whose reference stays, because the new window holds nothing of it."""

    series: Series
    origin: Calibration
    """The one whose window its reference is of."""

    @property
    def window(self) -> Window:
        """Its reference records."""
        return Window(
            name=self.origin.window,
            since=self.origin.since,
            until=self.origin.until or self.origin.created_at,
            service=self.series.service,
            model=self.series.model,
            category=self.series.category,
            release=self.origin.release,
        )


def kept_series(stores: Stores, window: Window, *, fingerprint: str) -> list[Kept]:
    """Series of the active calibration that a window holds no document of, by name.

    A calibration of one service takes the place of the one of all: the others keep what they are
    held to, or nobody would watch them any more. To be asked before the new one is active.
    """
    replaced = stores.calibrations.active(fingerprint)
    if replaced is None or replaced.provisional:
        return []
    references = stores.drift.references(replaced.id)
    origins = {each.series: each.origin or replaced.id for each in references if each.records}
    fresh = stores.repository.measured_series(window, fingerprint=fingerprint)
    kept = []
    for series in sorted(origins.keys() - fresh):
        origin = stores.calibrations.get(origins[series])
        if origin is not None:
            kept.append(Kept(series=series, origin=origin))
    return kept


def note_fingerprint(stores: Stores, fingerprint: str, made_of: Mapping[str, Any]) -> None:
    """Store what a fingerprint stands for, so that `calibrate` needs no model to know it."""
    stores.facts.settle(f"{FACT}{fingerprint}", json.dumps(made_of, sort_keys=True))


def calibrate_window(
    stores: Stores, window: Window, *, fingerprint: str | None, min_documents: int
) -> Calibration:
    """A calibration from the scores of a window, in the order in which they were received.

    Without a fingerprint the window must hold scores of one only: distances measured under
    different settings do not mix. Raises `UsageError` where it holds none, several, or too
    few documents.
    """
    found = stores.repository.fingerprints(window)
    fingerprint = _only(found, window) if fingerprint is None else _named(found, fingerprint)
    kept = kept_series(stores, window, fingerprint=fingerprint)
    made_of = stores.facts.get(f"{FACT}{fingerprint}")
    if made_of is None:
        raise UsageError(
            f"fingerprint {fingerprint[:12]}: no scorer has noted what it is made of; "
            "start a scorer on this database once, then calibrate again"
        )
    made = calibrate(
        _documents(stores, window, fingerprint),
        kept=[one for each in kept for one in _documents(stores, each.window, fingerprint)],
        settings=json.loads(made_of),
        window=window.name,
        clock=now,
        since=window.since,
        until=window.until,
        release=window.release,
        min_documents=min_documents,
    )
    return replace(made, warnings=(*made.warnings, *map(_told, kept)))


def _only(found: Mapping[str, int], window: Window) -> str:
    """The one fingerprint of a window; `found` counts the records of each."""
    if not found:
        raise UsageError(
            f"window {window.name!r} holds no scored record; widen --since and --until, "
            "or check the filters"
        )
    if len(found) > 1:
        several = ", ".join(f"{mark[:12]} ({count} records)" for mark, count in found.items())
        raise UsageError(
            f"window {window.name!r} holds scores of several settings: {several}; "
            "name one with --fingerprint"
        )
    (fingerprint,) = found
    return fingerprint


def _named(found: Mapping[str, int], wanted: str) -> str:
    """The fingerprint of a window that begins with what was asked for."""
    matches = [mark for mark in found if mark.startswith(wanted)]
    if len(matches) != 1:
        raise UsageError(
            f"--fingerprint: {wanted!r} matches {len(matches)} settings of the window; "
            "see `hss-monitor calibrations list`, or leave it out"
        )
    return matches[0]


def _documents(stores: Stores, window: Window, fingerprint: str) -> list[ReferenceDocument]:
    return [
        ReferenceDocument(category=document.category, distances=document.distances)
        for document in stores.repository.reference_distances(window, fingerprint=fingerprint)
    ]


def _told(kept: Kept) -> str:
    series = kept.series
    name = " · ".join((series.service, series.model, series.category or "no category"))
    return f"{name}: nothing of it is in this window, so it keeps its reference of {kept.origin.id}"


def severities_of(stores: Stores, calibration: Calibration, window: Window) -> dict[str, Severity]:
    """The HSS that a calibration gives to the records of a window, by record."""
    return {
        document.record_id: severity(
            list(zip(document.strengths, document.distances, strict=True)),
            normalizer_for(calibration, document.category),
        )
        for document in stores.repository.reference_distances(
            window, fingerprint=calibration.fingerprint
        )
    }


def renormalize(
    stores: Stores, calibration: Calibration, window: Window, *, kept: bool = True
) -> int:
    """Give the scores of a window the HSS of a calibration; returns how many changed.

    Of every release, and with `kept` also of series that keep their reference, from there to the
    end of the window: HSS of two calibrations do not compare, neither with a reference nor beside
    each other. Raw distances stay as they are: they are what everything can be recomputed from. To
    be called before the calibration is active.
    """
    found = severities_of(stores, calibration, replace(window, release=None))
    own = kept_series(stores, window, fingerprint=calibration.fingerprint) if kept else []
    for each in own:
        since = replace(each.window, until=window.until, release=None)
        found |= severities_of(stores, calibration, since)
    severities = iter(found.items())
    changed = 0
    while page := dict(islice(severities, PAGE)):
        changed += stores.repository.apply_normalization(calibration.id, page)
    return changed
