"""Tables on terminals of several widths."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from rich.console import Console

from monitor.cli import fitting
from monitor.cli.fitting import Column, beginnings, fitted, times
from monitor.stores import now

COLUMNS = (
    Column(name="at", short=times),
    Column(name="id", short=beginnings),
    Column(name="service", rank=1, once=True),
    Column(name="reason", rank=3),
    Column(name="HSS"),
    Column(name="numbers", rank=2),
)
IDS = ("211856310a21c2eaad78bf9fd3cea0ad-1e02b31861617deb", "edf5282fcd32e547a407cd6f20818a7a-dd")


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Prints rows on a terminal of this width; gives its lines and the columns left out."""

    def print_(width: int, columns: Any, rows: Any, **more: Any) -> tuple[list[str], list[str]]:
        screen = io.StringIO()
        terminal = Console(
            file=screen, width=width, force_terminal=True, color_system=None, highlight=False,
            soft_wrap=True,
        )  # fmt: skip
        monkeypatch.setattr(fitting, "out", terminal)
        left = fitted(columns, rows, **more)
        return [line.rstrip() for line in screen.getvalue().splitlines()], left

    return print_


def _rows(services: tuple[str, str] = ("news", "news")) -> list[tuple[Any, ...]]:
    at = now()
    return [(at, id_, service, None, 0.5, 1.0) for id_, service in zip(IDS, services, strict=True)]


def test_a_wide_terminal_shows_all(printed: Any) -> None:
    """Nothing is cut without need."""
    lines, left = printed(120, COLUMNS, _rows())
    assert IDS[0] in lines[1]
    assert (lines[0].split(), left) == ([column.name for column in COLUMNS], [])


def test_a_narrow_one_shortens_before_it_leaves_out(printed: Any) -> None:
    """Ids to beginnings, today's times to the clock, and what is empty goes."""
    rows = _rows(("news", "mail"))
    lines, left = printed(50, COLUMNS, rows)
    assert (lines[0].split(), left) == (["at", "id", "service", "HSS", "numbers"], [])
    assert lines[1].split() == [f"{rows[0][0]:%H:%M:%S}", "211856310a21…", "news", "0.500", "1.000"]


def test_what_all_rows_have_is_said_once(printed: Any) -> None:
    """It takes a column from what differs."""
    lines, left = printed(42, COLUMNS, _rows())
    assert (lines[0], lines[1].split(), left) == (
        "service news",
        ["at", "id", "HSS", "numbers"],
        [],
    )


def test_what_matters_least_is_left_out_by_name(printed: Any) -> None:
    """Silently it would look as if there were no such number."""
    lines, left = printed(33, COLUMNS, _rows(("news", "mail")))
    assert lines[0].split() == ["at", "id", "HSS"]
    assert left == ["numbers", "service"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_word_and_no_number_is_broken(printed: Any, width: int) -> None:
    """A value that goes on in the next line reads as two."""
    columns = (Column(name="series", wraps=True), Column(name="value"), Column(name="", wraps=True))
    rows = [("demo-summarizer · demo-news-1 · news", 0.645, "too few records")] * 2
    lines, _ = printed(width, columns, rows, title="mean of hss above 0.8 over 1 min 30 s")
    words = {word for line in lines for word in line.split()}
    wanted = "series value mean of hss above 0.8 over 1 min 30 s demo-summarizer · demo-news-1 news"
    assert words == {*wanted.split(), "0.645", "too", "few", "records"}
    assert max(map(len, lines)) <= width


def test_a_time_of_another_day_keeps_the_day() -> None:
    """03:00 of which night would be a guess."""
    at = now() - timedelta(days=400)
    assert times([at, None]) == [f"{at:%Y-%m-%d}", None]


def test_where_nobody_watches_rows_stay_whole(cli: Any, add_records: Any) -> None:
    """For `grep`."""
    record = {"document": "d", "summary": "s", "service": "s" * 60, "model": "m" * 60}
    add_records([{**record, "id": IDS[0]}])
    listed = cli("records", "list").out
    [line] = [line for line in listed.splitlines() if IDS[0] in line]
    assert ("s" * 60 in line, "m" * 60 in line) == (True, True)
