"""Ids as people type them."""

from __future__ import annotations

from typing import Any

import pytest

RECORD = {"document": "The council met.", "summary": "s", "service": "news", "model": "m"}


@pytest.fixture
def two(add_records: Any, score_all: Any) -> None:
    add_records([{**RECORD, "id": name} for name in ("alike-one", "alike-two", "alike")])
    score_all(0.5)


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("given", ["alike-o", "alike-o…", "alike-one"])
def test_so_much_of_an_id_as_only_one_begins_with_is_enough(cli: Any, given: str) -> None:
    """Nobody types 49 characters; a list that has cut them is copied with its ellipsis."""
    [shown] = cli("records", "show", given, "--json").objects
    assert shown["row"]["id"] == "alike-one"


@pytest.mark.usefixtures("two")
def test_a_whole_id_is_never_ambiguous(cli: Any) -> None:
    """Though it begins others."""
    [shown] = cli("records", "show", "alike", "--json").objects
    assert shown["row"]["id"] == "alike"


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("command", [["show", "alike-"], ["retry", "alike-"]])
def test_an_ambiguous_beginning_is_refused_with_those_it_may_mean(
    cli: Any, command: list[str]
) -> None:
    """Guessing would show or queue another record."""
    told = cli("records", *command)
    assert (told.code, told.out) == (2, "")
    assert "'alike-' begins the id of more than one record (alike-one, alike-two)" in told.err
    assert "give more of the id" in told.err


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("given", ["Alike-o", "%", "_like-o", ""])
def test_a_beginning_is_meant_to_the_letter(cli: Any, given: str) -> None:
    """No wildcards, no other case, and nothing is no beginning of everything."""
    told = cli("records", "show", given)
    assert told.code == 2
    assert f"no record {given!r}; see `hss-monitor records list`" in told.err


@pytest.mark.usefixtures("two")
def test_records_are_compared_and_retried_by_their_beginnings(cli: Any) -> None:
    """As they are shown."""
    [pair] = cli("records", "compare", "alike-o", "alike-t", "--json").objects
    assert [pair[side]["id"] for side in ("first", "second")] == [
        "alike-one",
        "alike-two",
    ]
    assert cli("records", "retry", "alike-o").err.startswith("alike-one: it is scored")


def test_breaches_and_their_records_are_named_by_their_beginnings(
    cli: Any, stores: Any, made: Any
) -> None:
    """A record of a breach among those of the breach only: it may be pruned by now."""
    detail = made.breach("gone-one", "gone-two")
    made.save_breaches(stores, [made.threshold_state("hss_mean", "open")], [detail])
    [shown] = cli("breaches", "show", "hss_mean-1", "--json").objects
    assert shown["id"] == detail.breach.id
    assert cli("breaches", "ack", "hss_mean-1", "--name", "ann").code == 0
    mark = ("breaches", "mark", "hss_mean-1")
    [marked] = cli(*mark, "gone-o", "--right", "--name", "ann", "--json").objects
    assert (marked["breach"], marked["record"]) == (detail.breach.id, "gone-one")
    told = cli(*mark, "gone", "--right", "--name", "ann")
    assert (told.code, "gone-one, gone-two" in told.err) == (2, True)
