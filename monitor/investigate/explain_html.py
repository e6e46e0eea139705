"""One record as one self-contained page, for a report that outlives the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from markupsafe import Markup

from monitor.findings import BreachRow
from monitor.investigate import drawing
from monitor.investigate.record import facts_of
from monitor.investigate.rendering import environment, render, static_file
from monitor.records import CapturedRequest
from monitor.storage.detail import RecordDetail


def explain_html(
    detail: RecordDetail,
    *,
    now: datetime,
    request: CapturedRequest | None = None,
    breaches: Sequence[BreachRow] = (),
) -> str:
    """The record's page without a server: its styles are in it, and it loads nothing."""
    facts = facts_of(detail, request=request, breaches=breaches)
    # Ours, and without a `<`: it cannot end its element.
    style = Markup(static_file("style.css").decode())  # noqa: S704 -- a file of this package
    return render(
        environment(),
        "explained.html",
        now=now,
        facts=facts,
        style=style,
        scale=drawing.record_scale(facts),
        alone=True,
    )
