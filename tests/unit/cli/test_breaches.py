"""Breaches in the terminal: from the list to what is marked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from monitor.stores import now

HOUR = timedelta(hours=1)


@pytest.fixture
def opened(stores: Any, made: Any) -> Any:
    """An open breach whose records are of release 2.0, after half an hour of release 1.0."""
    made.save_scores(stores, [0.2, 0.4] * 15, since=now() - 3 * HOUR, prefix="good", release="1.0")
    bad = made.save_scores(
        stores, [0.9, 1.0] * 10, since=now() - HOUR / 2, prefix="bad", release="2.0"
    )
    detail = made.breach(*bad[:3], exceeded_since=now() - HOUR / 2, opened_at=now() - HOUR / 3)
    resolved = made.breach(
        threshold="stale",
        signal="minutes_unscored",
        state="resolved",
        severity="ticket",
        resolved_at=made.AT,
    )
    states = [made.threshold_state("hss_mean", "open"), made.threshold_state("stale", "resolved")]
    made.save_breaches(stores, states, [detail, resolved])
    return detail


def test_breaches_are_listed_newest_first(cli: Any, opened: Any) -> None:
    """An open one among them is a finding."""
    result = cli("breaches", "list", "--json")
    assert result.code == 1
    assert [row["threshold"] for row in result.objects] == ["hss_mean", "stale"]
    first = result.objects[0]
    assert (first["id"], first["service"], first["state"]) == (opened.breach.id, "news", "open")
    printed = cli("breaches", "list")
    assert printed.code == 1
    assert opened.breach.id in printed.out


@pytest.mark.parametrize(
    ("options", "wanted", "code"),
    [
        (["--state", "resolved"], ["stale"], 0),
        (["--threshold", "hss_mean"], ["hss_mean"], 1),
        (["--since", "2h"], ["hss_mean"], 1),
        (["--service", "mail"], [], 0),
        (["--limit", "1"], ["hss_mean"], 1),
        (["--category", "politics", "--state", "open"], ["hss_mean"], 1),
    ],
)
def test_the_list_is_narrowed(
    cli: Any, opened: Any, options: list[str], wanted: list[str], code: int
) -> None:
    """The exit code is about what is listed."""
    result = cli("breaches", "list", "--json", *options)
    assert ([row["threshold"] for row in result.objects], result.code) == (wanted, code)


@pytest.mark.parametrize(
    ("reason", "words"), [("too_few_records", "too few records"), ("not_watched", "no recovery")]
)
def test_a_breach_without_a_value_now_says_why(
    cli: Any, stores: Any, made: Any, reason: str, words: str
) -> None:
    """It may stay open, or be over, for a reason that its records do not show."""
    state = made.threshold_state("stale", "open", number=1, value=None, reason=reason)
    detail = made.breach(threshold="stale", number=1)
    made.save_breaches(stores, [state], [detail])
    [row] = cli("breaches", "show", detail.breach.id, "--json").objects
    assert words in row["unanswered"]
    assert words in " ".join(cli("breaches", "show", detail.breach.id).out.split())


@pytest.mark.parametrize(
    ("reason", "later", "told"),
    [
        ("too_few_records", timedelta(0), False),
        ("not_watched", timedelta(0), True),
        ("not_watched", HOUR, False),
    ],
)
def test_a_resolved_breach_tells_how_it_was(
    cli: Any, stores: Any, made: Any, reason: str, later: timedelta, told: bool
) -> None:
    """What its threshold says later is not about it; that its watching ended is."""
    state = made.threshold_state(
        "stale", "resolved", number=1, value=None, reason=reason, evaluated_at=made.AT + later
    )
    detail = made.breach(threshold="stale", number=1, state="resolved", resolved_at=made.AT)
    made.save_breaches(stores, [state], [detail])
    [row] = cli("breaches", "show", detail.breach.id, "--json").objects
    assert (row["unanswered"] is not None) == told
    shown = " ".join(cli("breaches", "show", detail.breach.id).out.split())
    assert "was 0.950 at worst, resolved after 10 min" in shown
    assert "exceeded from" in shown
    assert ("no recovery" in shown) == told
    assert "no value now" not in shown


def test_a_share_is_told_with_its_level(cli: Any, stores: Any, made: Any) -> None:
    """A share above what?"""
    detail = made.breach(threshold="high_share", statistic="share_above")
    state = made.threshold_state("high_share", "open", level=0.45)
    made.save_breaches(stores, [state], [detail])
    shown = " ".join(cli("breaches", "show", detail.breach.id).out.split())
    assert "share_above 0.450 of hss above 0.800" in shown


def test_a_breach_tells_what_changed(cli: Any, opened: Any) -> None:
    """Mean before and since with intervals, releases, and the records with their companions."""
    result = cli("breaches", "show", opened.breach.id, "--json")
    [row] = result.objects
    assert result.code == 1
    found = row["change"]
    assert found["first"]["value"] == pytest.approx(0.3)
    assert found["second"]["value"] == pytest.approx(0.95)
    assert found["low"] < found["value"] < found["high"]
    counts = [(each["release"], each["before"], each["since"]) for each in row["releases"]]
    assert counts == [("1.0", 30, 0), ("2.0", 0, 20)]
    assert [each["record"] for each in row["contributors"]] == ["bad0000", "bad0001", "bad0002"]
    first = row["contributors"][0]
    assert (first["hss"], first["entity_support"], first["place"]) == (0.9, 0.5, 1)
    assert first["command"] == "hss-monitor records show bad0000"


def test_a_breach_is_printed_for_the_tired(cli: Any, opened: Any) -> None:
    """What, since when, how far, what to type next."""
    shown = cli("breaches", "show", opened.breach.id).out
    for part in (
        "open (page)",
        "mean of hss above 0.800 over 1 h: 0.900, at worst 0.950",
        "(30 min",
        "0.300 [",
        "3 of release 2.0",
        "hss-monitor records show bad0000",
        f"hss-monitor breaches ack {opened.breach.id} --name",
    ):
        assert part in shown


def test_a_breach_without_records_says_so(cli: Any, opened: Any) -> None:
    """Staleness has no contributors, and no mean before and after."""
    [stale] = cli("breaches", "list", "--threshold", "stale", "--json").objects
    result = cli("breaches", "show", stale["id"])
    assert result.code == 0
    assert "no single record contributed" in result.out
    [row] = cli("breaches", "show", stale["id"], "--json").objects
    assert (row["change"], row["contributors"]) == (None, [])


def test_a_breach_is_acknowledged_once_seen(cli: Any, opened: Any) -> None:
    """Name and note stand beside it from then on; it stays open."""
    result = cli("breaches", "ack", opened.breach.id, "--name", "ann", "--note", "rolling back")
    assert (result.code, result.out) == (0, "")
    shown = cli("breaches", "show", opened.breach.id)
    assert shown.code == 1
    assert "rolling back" in shown.out
    [row] = cli("breaches", "list", "--state", "open", "--json").objects
    assert (row["acknowledged_by"], row["note"], row["state"]) == ("ann", "rolling back", "open")


def test_records_are_marked(cli: Any, opened: Any) -> None:
    """Each by whoever says so; a wrong mark can be made good."""
    mark = ("breaches", "mark", opened.breach.id)
    assert cli(*mark, "bad0000", "--wrong", "--name", "ann").code == 0
    assert cli(*mark, "bad0000", "--right", "--name", "bob").code == 0
    [row] = cli("breaches", "show", opened.breach.id, "--json").objects
    first = row["contributors"][0]
    assert (first["mark"], first["marked_by"]) == (True, "bob")
    [marked] = cli(*mark, "bad0001", "--wrong", "--name", "ann", "--json").objects
    assert (marked["record"], marked["mark"]) == ("bad0001", False)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["list", "--state", "bad"], "'open'"),
        (["show", "nope"], "breaches list"),
        (["ack", "nope", "--name", "ann"], "nope"),
        (["mark", "nope", "r", "--right", "--name", "ann"], "nope"),
        (["mark", "nope", "r", "--name", "ann"], "--right, --wrong: neither is given"),
        (["mark", "nope", "r", "--name", "ann", "--right", "--wrong"], "both are given"),
    ],
)
def test_unknown_breaches_and_half_commands_are_refused(
    cli: Any, arguments: list[str], word: str
) -> None:
    """With the way to the right ones."""
    result = cli("breaches", *arguments)
    assert (result.code, result.out) == (2, "")
    assert word in result.err


def test_texts_of_senders_do_nothing_in_the_terminal(cli: Any, stores: Any, made: Any) -> None:
    """Names, notes and ids come from outside."""
    evil = "\x1b[2Jx\u202e\u009b31m"
    [record] = made.save_scores(stores, [0.9], since=now() - HOUR, prefix=evil, release=evil)
    detail = made.breach(record)
    made.save_breaches(stores, [made.threshold_state("hss_mean", "open")], [detail])
    cli("breaches", "ack", detail.breach.id, "--name", evil, "--note", evil)
    for arguments in (("list",), ("show", detail.breach.id)):
        for form in ((), ("--json",)):
            printed = cli("breaches", *arguments, *form)
            assert not {"\x1b", "\u202e", "\u009b"} & set(printed.out + printed.err)
    [row] = cli("breaches", "show", detail.breach.id, "--json").objects
    assert row["contributors"][0]["record"] == record, "JSON keeps what the terminal must not see"
