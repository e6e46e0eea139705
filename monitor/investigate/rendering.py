"""Pages out of templates: everything is escaped, and an unknown name is an error."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib import resources
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from monitor import __version__
from monitor.access.visitor import csrf_field
from monitor.findings import Series
from monitor.investigate import marking, words
from monitor.investigate.diff import word_diff
from monitor.investigate.noise_floor import NOT_ABOVE, above_floor
from monitor.investigate.pictures.bar import bar
from monitor.investigate.pictures.ribbons import COSTS, cost_class, ribbons
from monitor.investigate.pictures.sparkline import sparkline
from monitor.records import UnsupportedFact

STATIC: Final[Mapping[str, str]] = {
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""Files that pages load, with their media types."""


def static_file(name: str) -> bytes:
    """One of `STATIC`."""
    return resources.files("monitor.investigate").joinpath("static", name).read_bytes()


def environment() -> Environment:
    """The templates with what they call."""
    made = Environment(
        loader=PackageLoader("monitor.investigate"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": words.number,
        "once": once,
        "when": words.when,
        "signal": words.signal_name,
        "effect_unit": words.effect_unit,
        "how_long": words.how_long,
        "segment": segment,
        "series_query": series_query,
    }
    made.globals |= {
        "above_floor": above_floor,
        "ago": words.ago,
        "bar": bar,
        "coloured": marking.coloured,
        "cost_class": cost_class,
        "costs": COSTS,
        "csrf_field": csrf_field,
        "not_above_floor": NOT_ABOVE,
        "ribbons": ribbons,
        "sparkline": sparkline,
        "style_version": hashlib.sha256(static_file("style.css")).hexdigest()[:12],
        "version": __version__,
        "with_facts": marking.with_facts,
        "with_swaps": marking.with_swaps,
        "word_diff": word_diff,
    }
    return made


def render(templates: Environment, name: str, *, now: datetime, **context: Any) -> str:
    """One page; pictures get ids that are unique on it."""
    count = itertools.count(1)
    return templates.get_template(name).render(
        now=now, picture_id=lambda: f"picture-{next(count)}", **context
    )


def once(facts: Sequence[UnsupportedFact]) -> list[tuple[UnsupportedFact, int]]:
    """Each invented name or number once, with how often the summary has it.

    Where texts are not kept every occurrence is one of its own.
    """
    counts = Counter((fact.kind, fact.text or fact.start) for fact in facts)
    first = {(fact.kind, fact.text or fact.start): fact for fact in reversed(facts)}
    return [(first[key], count) for key, count in counts.items()]


def segment(word: str) -> str:
    """One segment of an address, whatever the word holds."""
    return quote(word, safe="")


def series_query(series: Series, **more: str) -> Markup:
    """The query of an address that names a series.

    >>> series_query(Series(service="a b", model="m", category=""))
    Markup('service=a+b&amp;model=m&amp;category=')
    """
    named = {"service": series.service, "model": series.model, "category": series.category}
    return Markup("{}").format(urlencode(named | more))
