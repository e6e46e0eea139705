"""Pictures: places computed by hand, words that tell the same, nothing unescaped."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from monitor.investigate.pictures.bar import bar
from monitor.investigate.pictures.clock import round_times
from monitor.investigate.pictures.histogram import Shape, histogram
from monitor.investigate.pictures.ribbons import Move, ribbons, wrapped
from monitor.investigate.pictures.scale import Axis
from monitor.investigate.pictures.severity import severity_scale
from monitor.investigate.pictures.sparkline import sparkline
from monitor.investigate.pictures.timeline import Moment, Point, timeline

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVIL = "<script>x</script> & \"q\" 'q'"


def parsed(picture: Markup | None) -> ElementTree.Element:
    """The picture as XML: it must be well-formed, whatever its words are."""
    assert picture is not None
    return ElementTree.fromstring(str(picture))  # noqa: S314 -- our own output


def parts(picture: ElementTree.Element, class_: str) -> list[ElementTree.Element]:
    return [each for each in picture.iter() if class_ in each.get("class", "").split()]


def description(picture: ElementTree.Element) -> str:
    return picture.findtext("desc") or ""


def test_each_picture_is_named_and_described() -> None:
    """For those who do not see it."""
    point = Point(at=NOON, mean=0.5, low=0.4, high=0.6)
    shape = Shape(name=EVIL, shares=(0.5, 0.5), mean=0.5)
    pictures = [
        sparkline([0.1, None, 0.3], id="a", title=EVIL),
        bar(0.5, id="a", title=EVIL),
        severity_scale(id="a", hss=0.5, low=0.4, high=0.6, versions=[(0.5, EVIL)], null=0.1),
        histogram(shape, shape, id="a", signal=EVIL, low=0, high=1, limit=0.5),
        timeline(
            [point, point],
            id="a",
            signal=EVIL,
            since=NOON,
            until=NOON + timedelta(hours=1),
            moments=[Moment(at=NOON, name=EVIL)],
            limit=0.5,
        ),
        ribbons([Move(source=0, target=0, mass=1.0, cost=0.5)], [EVIL], [None], id="a", title=EVIL),
    ]
    for made in pictures:
        picture = parsed(made)
        assert (picture.get("role"), picture.get("aria-labelledby")) == ("img", "a-title a-desc")
        assert picture.findtext("title")
        assert "<script" not in str(made)


def test_a_sparkline_breaks_where_nothing_is_known() -> None:
    """A gap is not a fall to zero."""
    picture = parsed(sparkline([0.0, 1.0, None, 0.5, 0.5], id="a", title="t"))
    lines = [each.get("points") for each in parts(picture, "spark")]
    assert lines == ["3,25 34.25,3", "96.75,14 128,14"]
    assert description(picture) == "First 0.00, last 0.50, least 0.00, greatest 1.00."
    assert description(parsed(sparkline([None], id="a", title="t"))) == "No scored record."


def test_ribbons_are_as_thick_as_the_mass_they_move() -> None:
    """And one beside the other at both ends: together as thick as their sentence."""
    moves = [
        Move(source=0, target=0, mass=0.5, cost=0.1),
        Move(source=1, target=0, mass=0.2, cost=0.7),
        Move(source=1, target=1, mass=0.3, cost=1.3),
    ]
    picture = parsed(ribbons(moves, ["one", "two"], ["uno", "dos"], id="a", title="t"))
    paths = parts(picture, "cost")
    thick = [float(re.search(r"v([\d.]+)C", each.get("d", ""))[1]) for each in paths]  # type: ignore[index]
    whole = 2 * 54.0 * 0.78
    assert thick == pytest.approx([0.5 * whole, 0.2 * whole, 0.3 * whole], abs=0.06)
    assert [each.get("class") for each in paths] == ["cost c0", "cost c3", "cost c5"]
    starts = [float(each.get("d", "").split()[1].split("C")[0]) for each in paths]
    nodes = [float(each.get("y", "0")) for each in parts(picture, "node")][:2]
    assert starts == pytest.approx([nodes[0], nodes[1], nodes[1] + 0.2 * whole], abs=0.06)
    assert description(picture).startswith("B2 to P2: 30% at cost 1.30; B2 to P1: 20%")


def test_too_many_sentences_have_no_picture() -> None:
    """The table has them all."""
    assert ribbons([], ["s"] * 25, ["s"], id="a", title="t") is None


def test_sentences_are_wrapped_and_cut() -> None:
    """A word longer than the line is broken, and no text is longer than its room."""
    lines = wrapped("w" * 5000, 3, 40)
    assert [len(line) for line in lines] == [40, 40, 40]
    assert lines[-1].endswith("…")
    assert wrapped("", 3) == [""]


def test_a_histogram_says_where_means_and_limit_lie() -> None:
    """The same axis for both distributions."""
    before = Shape(name="before", shares=(1.0, 0.0), mean=0.25)
    after = Shape(name="after", shares=(0.0, 0.5), mean=0.75)
    picture = parsed(histogram(before, after, id="a", signal="HSS", low=0, high=1, limit=0.5))
    [limit] = parts(picture, "limit")
    assert float(limit.get("x1", "0")) == 280.0
    [area] = parts(picture, "before")
    assert area.get("d") == "M12.0 186.0V58.0H280.0V186.0H548.0V186.0z"
    [outline] = parts(picture, "after")
    assert outline.get("d") == "M12.0 186.0V186.0H280.0V122.0H548.0V186.0"
    assert description(picture) == "before: mean 0.25; after: mean 0.75."


def test_an_empty_distribution_is_said_to_be_empty() -> None:
    """Not drawn as zeros."""
    empty = Shape(name="now", shares=(), mean=None)
    picture = parsed(histogram(empty, empty, id="a", signal="s", low=0, high=1))
    assert parts(picture, "before") == parts(picture, "after") == []
    assert description(picture) == "now: no records; now: no records."


def test_a_course_is_drawn_in_time_with_its_moments() -> None:
    """The middle of the hour stands in the middle of the axis."""
    points = [
        Point(at=NOON, mean=0.0, low=0.0, high=0.0),
        Point(at=NOON + timedelta(minutes=30), mean=1.0, low=0.9, high=1.0),
    ]
    picture = parsed(
        timeline(
            points,
            id="a",
            signal="HSS",
            since=NOON,
            until=NOON + timedelta(hours=1),
            moments=[Moment(at=NOON + timedelta(minutes=30), name="opened")],
            unit=True,
        )
    )
    [course] = parts(picture, "course")
    assert course.get("points") == "48,186 298,44"
    [moment] = parts(picture, "moment")
    assert moment.get("x1") == "298"
    assert description(picture) == ("Mean 0 at first, 1 at last. opened: 2026-03-01 12:30:00 UTC.")


@pytest.mark.parametrize(
    ("span", "names"),
    [
        (timedelta(seconds=40), ["12:00:40", "12:00:50", "12:01:00", "12:01:10"]),
        (timedelta(minutes=6), ["12:02", "12:04", "12:06"]),
        (timedelta(hours=6), ["14:00", "16:00", "18:00"]),
        (timedelta(days=2), ["02 Mar 00:00", "02 Mar 12:00", "03 Mar 00:00", "03 Mar 12:00"]),
        (timedelta(days=30), ["08 Mar", "18 Mar", "28 Mar"]),
    ],
)
def test_times_on_an_axis_are_round_and_stand_where_they_are(
    span: timedelta, names: list[str]
) -> None:
    """Cut to the minute, a label was up to 59 seconds from its place."""
    since = NOON + timedelta(seconds=35)
    found = round_times(since, since + span)
    assert [name for _, name in found] == names
    assert all(since <= at <= since + span for at, _ in found)
    picture = parsed(timeline([], id="a", signal="HSS", since=since, until=since + span))
    [first] = [each for each in parts(picture, "tick") if each.text == names[0]]
    share = (found[0][0] - since) / span
    assert float(first.get("x", "0")) == pytest.approx(48 + share * 500, abs=0.01)


def test_an_unknown_interval_is_not_drawn_as_a_narrow_one() -> None:
    """One record says nothing about the spread: the band has a gap there."""
    known = [(0, 0.4, 0.6), (10, 0.4, 0.6), (20, None, None), (30, 0.2, 0.8)]
    points = [
        Point(at=NOON + timedelta(minutes=minute), mean=0.5, low=low, high=high)
        for minute, low, high in known
    ]
    picture = parsed(
        timeline(
            points, id="a", signal="HSS", since=NOON, until=NOON + timedelta(hours=1), unit=True
        )
    )
    pair, alone = parts(picture, "band")
    assert pair.get("points") == "48.0,100.8 131.3,100.8 131.3,129.2 48.0,129.2"
    assert alone.get("points") == "296.0,72.4 300.0,72.4 300.0,157.6 296.0,157.6"
    assert len(parts(picture, "course-dot")) == 4


def test_marks_that_would_cover_each_other_are_stacked() -> None:
    """Eight rewordings at 1 are seen as eight."""
    picture = parsed(
        severity_scale(id="a", hss=1.0, low=None, high=None, versions=[(1.0, "low")] * 3, null=None)
    )
    heights = [float(mark.get("cy", "0")) for mark in parts(picture, "version")]
    assert len(set(heights)) == 3
    assert parts(picture, "interval") == parts(picture, "null-point") == []


def test_what_lies_outside_an_axis_is_put_on_its_end() -> None:
    """A picture never draws out of its frame."""
    axis = Axis(low=0.0, high=1.0, start=10.0, end=20.0)
    assert (axis.at(-5.0), axis.at(5.0)) == (10.0, 20.0)
