"""What `drift show` tells of the stored verdicts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from monitor.stores import now


def test_nothing_judged_is_said_with_its_reason(cli: Any) -> None:
    """An empty table would read as "no drift"."""
    result = cli("drift", "show")
    assert (result.code, result.out) == (0, "")
    assert "no verdict" in result.err
    assert "nobody evaluates" in result.err


def test_a_drifted_signal_is_a_finding(cli: Any, stores: Any, made: Any) -> None:
    """Exit code 1, so that a script can ask; the head line names the moved signals."""
    made.save_drift(
        stores,
        [made.finding("hss"), made.finding("excess", "stable"), made.finding("null_distance")],
    )
    result = cli("drift", "show")
    assert result.code == 1
    head, columns, *rows = result.out.splitlines()
    assert head.split() == [
        "drifted", "news", "·", "gemma", "·", "politics:", "hss,", "null_distance", "since",
        "2026-03-01", "11:50:00",
    ]  # fmt: skip
    assert columns.split()[:3] == ["signal", "state", "since"]
    assert [row.split()[0] for row in rows if row] == ["hss", "null_distance", "excess"]
    assert "0.200 [0.150, 0.250] +1.5 SD" in rows[0]
    assert "2,000,000 of 1,000,000" in rows[0]
    assert "0.003 psi" in rows[0]
    assert "drifted level_up" in rows[0]


def test_the_effect_on_a_length_says_that_it_counts_in_ranks(
    cli: Any, stores: Any, made: Any
) -> None:
    """A change of 0.2 words would wake nobody; 0.2 of the ranks is a different service."""
    made.save_drift(stores, [made.finding("hss"), made.finding("summary_words")])
    rows = [row for row in cli("drift", "show").out.splitlines() if "[0.150" in row]
    assert ["of rank" in row for row in rows] == [False, True]
    assert "0.200 [0.150, 0.250] of rank +1.5 SD" in rows[1]


def test_json_has_a_head_and_a_line_for_each_signal(cli: Any, stores: Any, made: Any) -> None:
    """Keys are part of the interface; what was not tested has its reason."""
    made.save_drift(stores, [made.finding("hss"), made.finding("excess", "insufficient")])
    result = cli("drift", "show", "--json")
    head, moved, unknown = result.objects
    assert result.code == 1
    assert (head["kind"], head["state"], head["moved"]) == ("series", "drifted", ["hss"])
    assert head["since"] == moved["since"] == "2026-03-01T11:50:00+00:00"
    assert (moved["kind"], moved["signal"], moved["direction"]) == ("signal", "hss", "level_up")
    assert (moved["evidence"], moved["threshold"]) == (2e6, 1e6)
    assert moved["tests"]["psi"]["adjusted_p"] == 0.003
    assert moved["tests"]["ks"] == {
        "value": None, "p": None, "adjusted_p": None, "reason": "too_few_records",
    }  # fmt: skip
    assert (unknown["state"], unknown["reason"]) == ("insufficient", "no_reference")


def test_stable_and_suspect_are_no_findings(cli: Any, stores: Any, made: Any) -> None:
    """A suspicion is worth a look, not an exit code."""
    made.save_drift(stores, [made.finding("hss", "suspect"), made.finding("excess", "stable")])
    assert cli("drift", "show").code == 0


def test_what_was_not_asked_about_does_not_count(cli: Any, stores: Any, made: Any) -> None:
    """The drifted series is another service's."""
    other = replace(made.SERIES, service="mail")
    made.save_drift(stores, [made.finding("hss"), made.finding("hss", "stable", series=other)])
    result = cli("drift", "show", "--service", "mail", "--json")
    assert result.code == 0
    assert {row["service"] for row in result.objects} == {"mail"}
    assert cli("drift", "show", "--signal", "excess", "--json").objects == []
    assert len(cli("drift", "show", "--state", "drifted", "--json").objects) == 2


def test_the_worst_series_comes_first(cli: Any, stores: Any, made: Any) -> None:
    """At night the first lines are read."""
    quiet = replace(made.SERIES, service="aaa")
    made.save_drift(stores, [made.finding("hss", "stable", series=quiet), made.finding("hss")])
    heads = [row for row in cli("drift", "show", "--json").objects if row["kind"] == "series"]
    assert [row["service"] for row in heads] == ["news", "aaa"]


def test_changes_are_listed_on_request(cli: Any, stores: Any, made: Any) -> None:
    """Also those that are over by now, and only the ones since then."""
    recent = now() - timedelta(hours=1)
    made.save_drift(
        stores, [made.finding("hss", "stable")], [made.change(at=recent), made.change(at=made.AT)]
    )
    result = cli("drift", "show", "--since", "2h", "--json")
    changes = [row for row in result.objects if row["kind"] == "change"]
    assert [(row["signal"], row["after"]) for row in changes] == [("hss", "drifted")]
    assert "Changes" in cli("drift", "show", "--since", "2h").out
    assert "Changes" not in cli("drift", "show").out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["--signal", "mood"], "'hss'"), (["--state", "bad"], "'drifted'")],
)
def test_unknown_words_are_refused_with_the_known_ones(
    cli: Any, arguments: list[str], word: str
) -> None:
    """A typo must not look like silence."""
    result = cli("drift", "show", *arguments)
    assert (result.code, result.out) == (2, "")
    assert word in result.err


def test_fresh_verdicts_come_without_a_note(cli: Any, stores: Any, made: Any) -> None:
    """And old ones with the name of who should have renewed them."""
    lease = stores.lease.acquire("front-a", seconds=60)
    stores.drift.save(lease, states=(), findings=[made.finding("hss", "stable")], changes=())
    assert "front-a has begun" in cli("drift", "show").err
    stores.lease.complete(lease)
    assert cli("drift", "show").err == ""


def test_nothing_found_by_a_living_evaluator_is_no_problem_of_it(
    cli: Any, stores: Any, made: Any
) -> None:
    """Somebody who asks for what is drifted, and is glad to find none."""
    made.save_drift(stores, [made.finding("hss", "stable")])
    stores.lease.complete(stores.lease.acquire("front-a", seconds=60))
    result = cli("drift", "show", "--state", "drifted")
    assert (result.code, result.err) == (0, "no verdict of this kind is stored\n")
