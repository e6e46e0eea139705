"""What the pages call things: one place for the words of people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

SIGNALS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "hss": "HSS",
        "raw_distance": "raw distance",
        "excess": "excess over serving noise",
        "null_distance": "serving noise (null distance)",
        "observed_distance": "distance of the observed summary",
        "entity_support": "entity support",
        "number_support": "number support",
        "content_word_precision": "content word precision",
        "summac": "SummaC",
        "factcc": "FactCC",
        "shap_instability": "SHAP instability",
        "lime_instability": "LIME instability",
        "smile_instability": "SMILE instability",
        "attention_instability": "attention instability",
        "shap_noise_floor": "noise floor of SHAP",
        "lime_noise_floor": "noise floor of LIME",
        "smile_noise_floor": "noise floor of SMILE",
        "mean_share": "share of replaced words",
        "document_words": "document length (words)",
        "summary_words": "summary length (words)",
        "skipped": "share not scored",
        "minutes_unscored": "minutes without a score",
    }
)


RANKED: Final = frozenset({"document_words", "summary_words"})
"""Signals whose effect is one of ranks: a length has no bound that a bet could rest on."""


def effect_unit(signal: str) -> str:
    """What stands behind an effect, where that is not in the unit of the means beside it.

    >>> effect_unit("hss"), effect_unit("summary_words")
    ('', 'of rank')
    """
    return "of rank" if signal in RANKED else ""


def signal_name(signal: str) -> str:
    """
    >>> signal_name("hss"), signal_name("new_signal")
    ('HSS', 'new signal')
    """
    return SIGNALS.get(signal, signal.replace("_", " "))


def number(value: float | None, digits: int = 3) -> str:
    """Unknown is a dash.

    >>> number(0.5), number(None), number(123.456)
    ('0.500', '–', '123')
    """
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if abs(value) < 100 else f"{value:,.0f}"


def when(at: datetime | None) -> str:
    """UTC, to the second."""
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def how_long(span: timedelta | float) -> str:
    """
    >>> how_long(90), how_long(timedelta(minutes=75)), how_long(3 * 86400)
    ('90 s', '1 h 15 min', '3 d')
    """
    seconds = span.total_seconds() if isinstance(span, timedelta) else span
    if seconds < 120:
        return f"{max(seconds, 0):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        hours, rest = divmod(minutes, 60)
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    days, rest = divmod(round(minutes / 60), 24)
    return f"{days} d {rest} h" if rest else f"{days} d"


def ago(at: datetime | None, now: datetime) -> str:
    if at is None:
        return "–"
    return f"in {how_long(at - now)}" if at > now else f"{how_long(now - at)} ago"
