"""Marked texts on a terminal: shades of attribution, unstable words, replacements, facts."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from monitor.cli.output import out, prose
from monitor.investigate.marking import Stretch

LEGEND = "green words hold the summary, red ones work against it"
UNSTABLE = "underlined ones are unstable under rewording"
_POSITIVE = ("#dcefdc", "#a9d8a9", "#6fbf6f", "#3a9d3a")
_NEGATIVE = ("#f6dcdc", "#ebacac", "#dc7676", "#c23b3b")


def legend(*, underlined: bool = False) -> str | None:
    """What the colours mean; `None` where there are none: in a file, in a pipe."""
    if out.color_system is None or out.no_color:
        return None
    return f"{LEGEND}; {UNSTABLE}" if underlined else LEGEND


def styled(stretches: Sequence[Stretch]) -> Text:
    """The stretches one behind the other, each in its style."""
    text = Text()
    for stretch in stretches:
        part = prose(stretch.text)
        if stretch.shade:
            part.stylize(shade_style(stretch.shade))
        if stretch.word is not None and stretch.word.unstable:
            part.stylize("underline")
        if stretch.swap is not None:
            part.stylize("bold magenta")
        if stretch.unsupported is not None:
            part.stylize("bold red")
        text.append(part)
    return text


def shade_style(depth: int) -> str:
    """The style of a word of a depth from −4 (works against the summary) to 4.

    >>> shade_style(-1)
    'black on #f6dcdc'
    """
    return f"black on {(_POSITIVE if depth > 0 else _NEGATIVE)[abs(depth) - 1]}"
