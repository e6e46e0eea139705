"""Where thresholds stand, and what one would have done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from monitor.stores import now

HOUR = timedelta(hours=1)


def _episode(stores: Any, made: Any, **fields: Any) -> list[str]:
    """A record a minute for six hours; the fifth hour is bad. Ends half an hour ago."""
    hours = [0.2] * 240 + [0.95] * 60 + [0.2] * 60
    return made.save_scores(stores, hours, since=now() - 6.5 * HOUR, **fields)


def test_every_threshold_is_shown_with_what_it_says_now(cli: Any, stores: Any, made: Any) -> None:
    """Those that were judged, and those that were not yet."""
    states = [
        made.threshold_state("hss_mean", "pending"),
        made.threshold_state("skipped_share", value=None, reason="too_few_records", records=3),
    ]
    made.save_breaches(stores, states)
    result = cli("thresholds", "show")
    assert result.code == 0
    assert "hss_mean (page): mean of hss above 0.8 over 1 h of at least 30 records" in result.out
    assert "pending" in result.out
    assert "too_few_records" in result.out
    assert "stale (ticket): minutes_unscored above 30; judged in no series" in result.out
    rows = {row["threshold"]: row for row in cli("thresholds", "show", "--json").objects}
    assert (rows["hss_mean"]["state"], rows["hss_mean"]["value"]) == ("pending", 0.9)
    assert (rows["stale"]["state"], rows["stale"]["service"]) == (None, None)


def test_an_open_breach_is_a_finding(cli: Any, stores: Any, made: Any) -> None:
    """Of what was asked about only."""
    states = [made.threshold_state("hss_mean", "open"), made.threshold_state("stale")]
    made.save_breaches(stores, states)
    assert cli("thresholds", "show").code == 1
    assert cli("thresholds", "show", "stale").code == 0
    assert cli("thresholds", "show", "--service", "mail").code == 0


def test_what_is_no_longer_configured_is_named_and_no_finding(
    cli: Any, stores: Any, made: Any
) -> None:
    """A threshold that was taken out wakes nobody; that its breach stands there is said."""
    made.save_breaches(stores, [made.threshold_state("taken_out", "open")])
    result = cli("thresholds", "show")
    assert result.code == 0
    assert "no longer configured, but stored: taken_out" in result.err


def test_marks_become_a_precision_with_its_interval(cli: Any, stores: Any, made: Any) -> None:
    """3 of 4 were right: Wilson's interval of 0.75 from 4."""
    records = made.save_scores(stores, [0.9] * 4, since=now() - HOUR)
    detail = made.breach(*records)
    made.save_breaches(stores, [made.threshold_state("hss_mean", "open")], [detail])
    for record, right in zip(records, (True, True, False, True), strict=True):
        stores.breaches.mark(detail.breach.id, record, right=right, name="ann")
    [row] = cli("thresholds", "show", "hss_mean", "--json").objects
    assert (row["precision"], row["marks"]) == (0.75, 4)
    assert row["precision_low"] == pytest.approx(0.3006, abs=1e-4)
    assert row["precision_high"] == pytest.approx(0.9544, abs=1e-4)
    assert "right 0.750 [0.301, 0.954], by 4 marks" in cli("thresholds", "show").out


def test_a_configured_threshold_is_tried_on_the_past(cli: Any, stores: Any, made: Any) -> None:
    """One page: opened within the bad hour, ended after it, by records of that hour."""
    ids = _episode(stores, made)
    result = cli("thresholds", "preview", "hss_mean", "--since", "6h", "--json")
    assert result.code == 1
    [row] = result.objects
    assert (row["opened"], row["service"], row["limit"]) == (1, "news", 0.8)
    [breach] = row["breaches"]
    assert breach["worst"] > 0.8
    assert breach["resolved_at"] > breach["opened_at"] > breach["exceeded_since"]
    assert {each["record"] for each in breach["contributors"]} <= set(ids[240:300])
    printed = cli("thresholds", "preview", "hss_mean", "--since", "6h")
    assert "hss_mean: 1 page in the last 6 h" in printed.out
    assert breach["contributors"][0]["record"] in printed.out


def test_a_change_of_one_key_is_tried_without_editing_the_file(
    cli: Any, stores: Any, made: Any
) -> None:
    """A higher limit would have stayed silent; the rest of the threshold is as configured."""
    _episode(stores, made)
    result = cli("thresholds", "preview", "hss_mean", "--since", "6h", "--limit", "0.99")
    assert result.code == 0
    assert "hss_mean: 0 pages in the last 6 h" in result.out


def test_a_threshold_that_is_not_configured_is_tried(cli: Any, stores: Any, made: Any) -> None:
    """A share above a level, with a window of its own: the bad hour and nothing else."""
    ids = _episode(stores, made)
    options = "--signal hss --statistic share_above --level 0.9 --limit 0.5 --window 10m"
    more = "--min-records 5 --hold 1m --calm 1m --since 6h --json --every 60s"
    result = cli("thresholds", "preview", *options.split(), *more.split())
    assert result.code == 1
    [row] = result.objects
    assert (row["threshold"], row["opened"]) == ("preview", 1)
    assert {each["record"] for each in row["breaches"][0]["contributors"]} <= set(ids[240:300])
    # The stretch begins half an hour after the first record; the last half hour has none.
    assert row["evaluations"] == 361
    assert 20 <= row["unanswered"] <= 30


def test_a_long_past_is_not_looked_at_past_a_short_window(cli: Any, stores: Any, made: Any) -> None:
    """10,000 steps over 30 days are four minutes each, and a window of one minute lies between."""
    _episode(stores, made)
    options = "--window 1m --min-records 1 --hold 0s --calm 0s"
    [row] = cli("thresholds", "preview", "hss_mean", *options.split(), "--json").objects
    assert (row["every_seconds"], row["opened"] >= 1) == (30.0, True)
    coarse = cli("thresholds", "preview", "hss_mean", *options.split(), "--every", "5m")
    assert "--every: 5 min is longer than the window of hss_mean" in coarse.err


@pytest.mark.parametrize(
    ("options", "tried"),
    [
        (("--category", "pol*"), 1),
        (("--category", "sport"), 0),
        (("--service", "mail"), 0),
        (("--model", "gemma", "--service", "n*"), 1),
    ],
)
def test_only_the_series_that_were_asked_for_are_tried(
    cli: Any, stores: Any, made: Any, options: tuple[str, ...], tried: int
) -> None:
    """Each part by itself; patterns of the shell hold."""
    made.save_scores(stores, [0.2] * 3, since=now() - HOUR)
    rows = cli("thresholds", "preview", "hss_mean", "--since", "2h", "--json", *options).objects
    assert len(rows) == tried


def test_all_are_tried_at_once(cli: Any, stores: Any, made: Any) -> None:
    """Also those of which nothing is stored: without an answer, and without a reference."""
    _episode(stores, made)
    rows = cli("thresholds", "preview", "--all", "--since", "6h", "--json").objects
    found = {row["threshold"]: row for row in rows}
    assert found["hss_mean"]["opened"] == 1
    assert found["entity_support_low"]["opened"] == 1
    # Tests finish everything at the end: until then all of it waited.
    assert found["stale"]["opened"] == 1
    none = found["null_distance_high"]
    assert (none["reason"], none["unanswered"]) == ("no_reference", none["evaluations"])


def test_silence_is_found_in_the_past(cli: Any, stores: Any, made: Any) -> None:
    """A record came in two hours ago and was never finished: stale after 30 minutes."""
    made.save_scores(stores, [0.2] * 20, since=now() - 3 * HOUR)
    sampled = made.waiting("late", now() - 2 * HOUR)
    stores.queue.accept([sampled])
    [row] = cli("thresholds", "preview", "stale", "--since", "3h", "--json").objects
    # Finished just now, as tests do it: until then everything waited.
    [breach] = row["breaches"]
    opened = now() - 3 * HOUR + timedelta(minutes=30)
    assert abs((made.parsed(breach["opened_at"]) - opened).total_seconds()) < 60
    assert breach["contributors"] == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "--signal"),
        (["nope"], "'hss_mean'"),
        (["hss_mean", "--all"], "--all"),
        (["--signal", "hss"], "--limit"),
        (["--signal", "mood", "--limit", "1"], "signal"),
        (["hss_mean", "--statistic", "quantile"], "quantile"),
        (["hss_mean", "--window", "long"], "--window"),
        (["hss_mean", "--since", "1h", "--until", "2h"], "--since"),
        (["hss_mean", "--limit", "1", "--reference-quantile", "0.9"], "exactly one"),
    ],
)
def test_what_cannot_be_tried_is_refused(cli: Any, arguments: list[str], word: str) -> None:
    """With the name of what is wrong."""
    result = cli("thresholds", "preview", *arguments)
    assert (result.code, result.out) == (2, "")
    assert word in result.err


def test_an_empty_past_is_said_so(cli: Any) -> None:
    """Not "0 pages": there was nothing to page about."""
    result = cli("thresholds", "preview", "hss_mean")
    assert result.code == 0
    assert "no series has records" in result.err
