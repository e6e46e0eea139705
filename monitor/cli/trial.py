"""Which thresholds a preview tries: configured ones, changed ones, new ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from monitor.cli.options import period
from monitor.errors import UsageError, choices
from monitor.settings import Settings, Threshold


def thresholds_tried(
    settings: Settings, name: str | None, every_one: bool, changes: Mapping[str, Any]
) -> list[Threshold]:
    """The thresholds to try: configured ones as they are or changed, or one of the options."""
    configured = {each.name: each for each in settings.thresholds}
    if every_one:
        if name is not None or changes:
            raise UsageError("--all: takes neither a name nor changes; give one or the other")
        return list(configured.values())
    if name is not None and name not in configured:
        raise UsageError(
            f"NAME: {name!r} is not configured; there are {choices(configured)}. For one that is "
            "not configured yet leave the name out, and give --signal and --limit"
        )
    if name is None and not {"signal", "limit"} <= changes.keys():
        raise UsageError(
            "preview: give a name, or --all, or --signal and --limit of one that is not "
            "configured yet"
        )
    known = {} if name is None else configured[name].model_dump()
    try:
        return [Threshold.model_validate({"name": "preview", **known, **changes})]
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "threshold"
        raise UsageError(
            f"{where}: {first['input']!r} cannot be used: {first['msg']}; see "
            "`thresholds preview --help`"
        ) from None


def limit_of(
    value: float | None, reference_quantile: float | None, at_least: float | None
) -> dict[str, float] | None:
    """What was given of a limit; `None` where nothing was."""
    given = {"value": value, "reference_quantile": reference_quantile, "at_least": at_least}
    return {key: number for key, number in given.items() if number is not None} or None


def seconds_of(option: str, value: str | None) -> float | None:
    """A length of time that may be 0."""
    if value is None:
        return None
    return 0.0 if value.strip() in {"0", "0s"} else period(option, value).total_seconds()
