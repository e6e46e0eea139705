"""What the doctor says about costs and about the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import yaml

from monitor.cli.diagnosis import advice_of
from monitor.cli.evaluating import EvaluationState
from monitor.records import (
    Attribution,
    Explanation,
    MethodResult,
    Reason,
    SamplingEpoch,
    Stratum,
)
from monitor.stores import now


@pytest.fixture
def configure(config_file: Path) -> Any:
    """Writes sections into the configuration of the commands."""

    def configure(**sections: Any) -> None:
        values = yaml.safe_load(config_file.read_text()) | sections
        config_file.write_text(yaml.safe_dump(values))

    return configure


@pytest.fixture
def answering() -> Iterator[Callable[[int, bytes], int]]:
    """Starts servers that answer every request alike; gives the port of each."""
    servers: list[HTTPServer] = []

    def start(status: int, body: bytes) -> int:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        server = HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return int(server.server_port)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def hourly(stores: Any) -> None:
    """An epoch that began an hour ago, with 100 arrivals of which 10 % are sampled."""
    stratum = Stratum(service="news", model="gemma", category="")
    start = now() - timedelta(hours=1)
    stores.epochs.open(
        SamplingEpoch(
            number=1,
            starts_at=start,
            ends_at=start + timedelta(hours=2),
            rates={stratum: 0.1},
            default_rate=0.1,
        )
    )
    stores.epochs.add_arrivals(1, "test", {stratum: 100})


def _cost(cli: Any) -> dict[str, Any]:
    [told] = cli("doctor", "--json").objects
    return told["cost"]


def test_every_evaluation_of_a_remote_summarizer_is_a_call(
    cli: Any, configure: Any, hourly: Any
) -> None:
    """K' + 2 explanations of 200 masks each, for a tenth of 240 records a day."""
    configure(
        summarizer={"kind": "replay", "replay": {"url": "http://127.0.0.1:1/v1"}},
        attribution={"share": 0.1, "methods": ["shap"]},
    )
    attribution = _cost(cli)["attribution"]
    assert attribution["explanations_per_record"] == 4
    assert (attribution["evaluations_per_record"], attribution["evaluations_measured"]) == (
        800,
        False,
    )
    assert attribution["calls_per_record"] == 800
    assert attribution["explained_per_day"] == pytest.approx(24, rel=0.01)
    assert attribution["calls_per_day"] == pytest.approx(24 * 800, rel=0.01)
    printed = cli("doctor").out
    assert "evaluations (at most)" in printed
    assert ["calls", "800"] in [line.split()[:2] for line in printed.splitlines()]
    assert "10% of the scored" in printed


def test_a_day_says_from_how_long_it_is_reckoned(cli: Any, hourly: Any) -> None:
    """From a few minutes it is a guess."""
    assert _cost(cli)["seen_seconds"] == pytest.approx(3600, abs=60)
    assert "a day is reckoned from the arrivals of 1 h" in cli("doctor").out


def test_the_budget_of_a_record_bounds_it(cli: Any, configure: Any, hourly: Any) -> None:
    """Three methods would take 2,400 masks; 1,000 are allowed."""
    configure(
        summarizer={"kind": "replay", "replay": {"url": "http://127.0.0.1:1/v1"}},
        attribution={"share": 1.0, "methods": ["shap", "lime", "smile"]},
    )
    attribution = _cost(cli)["attribution"]
    assert (attribution["explanations_per_record"], attribution["calls_per_record"]) == (12, 1000)


@pytest.mark.parametrize(
    ("summarizer", "attribution", "share", "in_breach", "calls"),
    [
        ({"kind": "textrank"}, {}, 0.1, True, 0.0),
        ({"kind": "replay", "replay": {"url": "http://127.0.0.1:1/v1"}}, {}, 0.0, False, 800.0),
        ({"kind": "textrank"}, {"methods": []}, 0.0, False, 0.0),
        ({"kind": "textrank"}, {"share": 0.5, "above_hss": 0.8}, 0.75, True, 0.0),
        ({"kind": "textrank"}, {"in_breach": False}, 0.1, False, 0.0),
    ],
)
def test_the_share_is_the_one_that_applies(
    cli: Any,
    configure: Any,
    stores: Any,
    made: Any,
    summarizer: Any,
    attribution: Any,
    share: float,
    in_breach: bool,
    calls: float,
) -> None:
    """By id, and half of the stored records by their HSS; in a breach all of them."""
    made.save_scores(stores, [0.2, 0.9], since=now() - timedelta(hours=1))
    configure(summarizer=summarizer, attribution=attribution)
    found = _cost(cli)["attribution"]
    assert found["share"] == pytest.approx(share)
    assert found["in_breach"] == in_breach
    assert found["calls_per_record"] == calls


def test_an_epoch_that_begins_later_costs_nothing_yet(cli: Any, stores: Any) -> None:
    """The clock of the replica that opened it is ahead of ours: no day can be reckoned from it."""
    stratum = Stratum(service="news", model="gemma", category="")
    start = now() + timedelta(minutes=1)
    stores.epochs.open(
        SamplingEpoch(
            number=1,
            starts_at=start,
            ends_at=start + timedelta(hours=1),
            rates={stratum: 1.0},
            default_rate=1.0,
        )
    )
    stores.epochs.add_arrivals(1, "test", {stratum: 5})
    assert _cost(cli)["records_per_day"] is None


REPLAY = {"kind": "replay", "replay": {"url": "http://127.0.0.1:1/v1"}}


@pytest.mark.parametrize(
    ("sections", "calls"),
    [
        ({"summarizer": REPLAY}, 10),
        ({"summarizer": REPLAY, "storage": {"mode": "redacted"}}, 11),
        ({"summarizer": {"kind": "chat", "chat": {"url": "http://h/v1", "model": "m"}}}, 11),
        ({"summarizer": {"kind": "textrank"}}, 10),
        ({"summarizer": {"kind": "textrank"}, "scoring": {"null_runs": 0}}, 9),
    ],
)
def test_a_record_takes_versions_null_runs_and_its_own_baseline(
    cli: Any, configure: Any, sections: Any, calls: int
) -> None:
    """8 versions; 2 null runs, 1 of a deterministic model; and y₀ where it is not y itself."""
    configure(**sections)
    assert _cost(cli)["calls_per_record"] == calls


def _explanation(values: list[float] | None, evaluations: int) -> Explanation:
    """By SHAP, or none where a record was not selected for one."""
    known = values is not None
    reason = None if known else Reason.NOT_SELECTED
    shap = MethodResult(
        method="shap",
        words=("The",) * known,
        original=Attribution(values=None if values is None else np.array(values), reason=reason),
        perturbed=(),
        instability=0.1 if known else None,
        absolute=0.1 if known else None,
        one_minus_spearman=0.1 if known else None,
        one_minus_cosine=0.1 if known else None,
        noise_floor=0.0 if known else None,
        compared=int(known),
        evaluations=evaluations,
        reason=reason,
    )
    return Explanation(
        methods=(shap,),
        probability=0.1 if known else None,
        value="similarity" if known else None,
        versions=(),
        spans=((0, 3),) * known,
    )


def test_what_was_measured_is_told_instead_of_the_bound(
    cli: Any, stores: Any, made: Any, hourly: Any
) -> None:
    """An explained record took 120 masks and three seconds; the one beside it was not selected."""
    stores.queue.accept([made.waiting("a", now()), made.waiting("b", now())])
    explained, left = stores.queue.lease("test", count=2, seconds=60)
    for leased, explanation, seconds in (
        (explained, _explanation([1.0], 120), 3.0),
        (left, _explanation(None, 0), 0.0),
    ):
        result = made.scored(
            leased.record.id,
            0.4,
            explanation=explanation,
            stage_seconds={"attribute": seconds},
            core_seconds=5.0,
        )
        stores.queue.finish(leased.lease, result)
    cost = _cost(cli)
    attribution = cost["attribution"]
    assert (attribution["evaluations_per_record"], attribution["evaluations_measured"]) == (
        120,
        True,
    )
    assert attribution["calls_per_record"] == 0, "TextRank runs here"
    assert attribution["seconds_per_record"] == 3.0
    assert attribution["seconds_per_day"] == pytest.approx(72, rel=0.01)
    assert cost["core_seconds_per_day"] == pytest.approx(1200, rel=0.01)


def test_the_doctor_says_who_evaluates(cli: Any, stores: Any, made: Any) -> None:
    """Nobody, somebody who has not finished a turn, and somebody who does."""

    def evaluation() -> dict[str, Any]:
        [told] = cli("doctor", "--json").objects
        return told["evaluation"]

    assert evaluation() == {
        "enabled": True, "running": False, "holder": None, "until": None, "evaluated_at": None,
    }  # fmt: skip
    lease = stores.lease.acquire("front-a", seconds=60)
    assert (evaluation()["running"], evaluation()["holder"]) == (False, "front-a")
    stores.lease.complete(lease)
    assert evaluation()["running"]
    assert "judged by front-a, last at" in cli("doctor").out
    stores.drift.save(lease, states=(), findings=[made.finding()], changes=())
    stores.lease.release(lease)
    ended = evaluation()
    assert (ended["running"], ended["evaluated_at"]) == (False, made.AT.isoformat())


@pytest.mark.parametrize(
    ("evaluation", "advised"),
    [
        ({"enabled": True, "running": False, "holder": None, "evaluated_at": None}, True),
        ({"enabled": True, "running": False, "holder": "a", "evaluated_at": None}, False),
        ({"enabled": True, "running": False, "holder": "a", "evaluated_at": now()}, True),
        ({"enabled": True, "running": True, "holder": "a", "evaluated_at": now()}, False),
        ({"enabled": False, "running": False, "holder": None, "evaluated_at": None}, False),
    ],
)
def test_it_advises_where_nothing_is_judged(evaluation: dict[str, Any], advised: bool) -> None:
    """Not in the first turn, and not where another sidecar is to do it."""
    advice = advice_of(
        {"content_missing": [], "received": 1, "scorers_running": 1},
        queued=0,
        documents=[],
        evaluation=EvaluationState(until=None, **evaluation),
    )
    assert ["judged" in line for line in advice] == [True] * advised


@pytest.mark.parametrize(
    ("status", "body", "advised"),
    [
        (401, b"", "the same access tokens"),
        (200, b"<html>", "is no sidecar"),
        (500, b"{}", "is no sidecar"),
    ],
)
def test_an_answer_that_is_no_report_is_told_apart_from_none(
    cli: Any, configure: Any, answering: Any, status: int, body: bytes, advised: str
) -> None:
    """Whoever is told to start a sidecar that runs already looks in the wrong place."""
    configure(http={"port": answering(status, body)})
    [told] = cli("doctor", "--json").objects
    assert told["sidecar"] is None
    assert advised in told["advice"][0]
    assert not any("hss-monitor run" in line for line in told["advice"])


def test_a_sidecar_on_an_ipv6_address_is_asked_there(cli: Any, configure: Any) -> None:
    """Its address stands in brackets; without them it is no URL."""
    configure(http={"host": "::1", "port": 1})
    result = cli("doctor", "--json")
    assert result.code == 1
    assert "no sidecar answers" in result.objects[0]["advice"][0]
