"""The calibration that ships with the package for the embedded models, as JSON data."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from monitor.errors import MalformedInput
from monitor.records import Calibration, Normalizer

FILE = "provisional.json"


def provisional() -> Calibration | None:
    """The shipped calibration, marked as provisional; `None` in a build without one.

    It serves its own fingerprint only: under any other setting a score stays
    `uncalibrated` until a calibration of one's own is computed.
    """
    source = files("monitor.scoring").joinpath(FILE)
    if not source.is_file():
        return None
    return replace(load(source.read_text(encoding="utf-8")), provisional=True)


def dump(calibration: Calibration) -> str:
    """A calibration as readable JSON that `load` gives back equal."""
    plain = asdict(calibration)
    for name in ("created_at", "since", "until"):
        moment: datetime | None = plain[name]
        plain[name] = None if moment is None else moment.astimezone(UTC).isoformat()
    return json.dumps(plain, indent=2, sort_keys=True, allow_nan=False) + "\n"


def load(text: str) -> Calibration:
    """Read what `dump` wrote.

    Raises `MalformedInput` naming the field that is missing, unknown or of a wrong kind,
    and for a calibration without a pooled normalizer.
    """
    try:
        plain: dict[str, Any] = json.loads(text)
        entries = [Normalizer(**entry) for entry in plain.pop("normalizers")]
        for name in ("created_at", "since", "until"):
            plain[name] = _moment(plain[name])
        warnings = tuple(plain.pop("warnings"))
        loaded = Calibration(normalizers=tuple(entries), warnings=warnings, **plain)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise MalformedInput(
            "calibration", f"{type(error).__name__}: {error}", "write it with `dump`"
        ) from error
    if not any(entry.category is None for entry in loaded.normalizers):
        raise MalformedInput(
            "calibration.normalizers", "no pooled entry (category null)", "calibrate again"
        )
    for entry in loaded.normalizers:
        if not (isinstance(entry.value, (int, float)) and 0.0 < entry.value <= 2.0):
            raise MalformedInput(
                "calibration.normalizers.value",
                f"{entry.value!r} of category {entry.category!r} is not in (0, 2]",
                "calibrate again",
            )
    return loaded


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"time {text} without a zone")
    return moment.astimezone(UTC)
