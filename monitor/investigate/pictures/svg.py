"""Elements of SVG, with everything escaped."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

Value = str | float | int | None


def element(name: str, *children: str | Markup, **attributes: Value) -> Markup:
    """One element; `class_` is `class`, an underscore a hyphen, None leaves an attribute out.

    >>> element("text", "a < b", class_="axis", x=1.50)
    Markup('<text class="axis" x="1.5">a &lt; b</text>')
    """
    shown = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), number(value))
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(name, shown, inside)


def number(value: Value) -> str:
    """A coordinate with at most two decimals.

    >>> number(1.0), number(0.125), number("M0 0")
    ('1', '0.12', 'M0 0')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def picture(
    parts: Iterable[Markup],
    *,
    id: str,
    size: tuple[float, float],
    title: str,
    description: str,
    class_: str = "",
) -> Markup:
    """A whole picture; `id` is unique on its page, so that title and description are found."""
    width, height = size
    return element(
        "svg",
        element("title", title, id=f"{id}-title"),
        element("desc", description, id=f"{id}-desc"),
        *parts,
        class_=f"picture {class_}".strip(),
        viewBox=f"0 0 {number(float(width))} {number(float(height))}",
        role="img",
        aria_labelledby=f"{id}-title {id}-desc",
    )


def text(words: str, x: float, y: float, *, class_: str = "label", anchor: str = "start") -> Markup:
    return element(
        "text", words, class_=class_, x=x, y=y, text_anchor=None if anchor == "start" else anchor
    )


def line(x1: float, y1: float, x2: float, y2: float, *, class_: str) -> Markup:
    return element("line", class_=class_, x1=x1, y1=y1, x2=x2, y2=y2)


def polyline(points: Iterable[tuple[float, float]], *, class_: str) -> Markup:
    joined = " ".join(f"{number(float(x))},{number(float(y))}" for x, y in points)
    return element("polyline", class_=class_, points=joined)
