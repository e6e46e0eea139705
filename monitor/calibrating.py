"""From stored distances to a calibration, and from a calibration back to stored scores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from monitor.errors import UsageError
from monitor.records import Calibration, Severity
from monitor.scoring.calibration import calibrate
from monitor.scoring.normalization import ReferenceDocument, normalizer_for
from monitor.scoring.severity import severity
from monitor.stores import Stores, now

FACT = "fingerprint:"
"""Prefix of the shared facts in which scorers note what their fingerprints are made of."""
PAGE = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """Which stored scores make the reference; what is None does not restrict."""

    name: str
    since: datetime | None = None
    until: datetime | None = None
    service: str | None = None
    model: str | None = None
    release: str | None = None


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
    found = stores.repository.fingerprints(
        since=window.since,
        until=window.until,
        service=window.service,
        model=window.model,
        release=window.release,
    )
    if fingerprint is None:
        if len(found) != 1:
            problem = (
                "no scored record"
                if not found
                else "scores of several settings: "
                + ", ".join(f"{mark[:12]} ({count} records)" for mark, count in found.items())
            )
            raise UsageError(
                f"window {window.name!r} holds {problem}; "
                + ("widen --since and --until" if not found else "name one with --fingerprint")
            )
        (fingerprint,) = found
    else:
        matches = [mark for mark in found if mark.startswith(fingerprint)]
        if len(matches) != 1:
            raise UsageError(
                f"--fingerprint: {fingerprint!r} matches {len(matches)} settings of the window; "
                "see `hss-monitor calibrations list`, or leave it out"
            )
        (fingerprint,) = matches
    documents = [
        ReferenceDocument(category=document.category, distances=document.distances)
        for document in stores.repository.reference_distances(
            fingerprint=fingerprint,
            since=window.since,
            until=window.until,
            service=window.service,
            model=window.model,
            release=window.release,
        )
    ]
    made_of = stores.facts.get(f"{FACT}{fingerprint}")
    if made_of is None:
        raise UsageError(
            f"fingerprint {fingerprint[:12]}: no scorer has noted what it is made of; "
            "start a scorer on this database once, then calibrate again"
        )
    return calibrate(
        documents,
        settings=json.loads(made_of),
        window=window.name,
        clock=now,
        since=window.since,
        until=window.until,
        release=window.release,
        min_documents=min_documents,
    )


def severities_of(stores: Stores, calibration: Calibration, window: Window) -> dict[str, Severity]:
    """The HSS that a calibration gives to the records of a window, by record."""
    return {
        document.record_id: severity(
            list(zip(document.strengths, document.distances, strict=True)),
            normalizer_for(calibration, document.category),
        )
        for document in stores.repository.reference_distances(
            fingerprint=calibration.fingerprint,
            since=window.since,
            until=window.until,
            service=window.service,
            model=window.model,
            release=window.release,
        )
    }


def renormalize(stores: Stores, calibration: Calibration, window: Window) -> int:
    """Give the scores of a window the HSS of a calibration; returns how many changed.

    Raw distances stay as they are: they are what everything can be recomputed from.
    """
    severities = iter(severities_of(stores, calibration, window).items())
    changed = 0
    while page := dict(islice(severities, PAGE)):
        changed += stores.repository.apply_normalization(calibration.id, page)
    return changed
