"""What `ingest --follow` does beside taking in lines, until it is told to stop."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from monitor.errors import DatabaseUnavailable
from monitor.front import Front
from monitor.ingest.following import Taken
from monitor.records import SamplingEpoch
from monitor.sampling.budget import EpochBook


class Script:
    """A log in which each turn finds what it was told; the last turn tells the command to stop."""

    def __init__(self, *turns: Taken) -> None:
        self.left = list(turns)

    def turn(self) -> Taken:
        taken = self.left.pop(0)
        if not self.left:
            signal.raise_signal(signal.SIGTERM)
        return taken

    def close(self) -> None:
        pass


@pytest.fixture
def follow(cli: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Runs the command over a script; handlers of signals are put back after it."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def run(*turns: Taken) -> Any:
        script = Script(*turns)
        monkeypatch.setattr(Front, "following", lambda _, __: script)
        return cli("ingest", "service.log", "--follow", "--json")

    yield run
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def advanced(monkeypatch: pytest.MonkeyPatch) -> list[SamplingEpoch]:
    """The epochs that the book handed out."""
    found: list[SamplingEpoch] = []
    advance = EpochBook.advance

    def noted(book: EpochBook) -> SamplingEpoch:
        found.append(advance(book))
        return found[-1]

    monkeypatch.setattr(EpochBook, "advance", noted)
    return found


def test_a_log_that_never_rests_is_sampled_at_the_rates_of_today(
    follow: Any, advanced: list[SamplingEpoch]
) -> None:
    """The budget is kept by going on to the next epoch; a backlog of hours would overrun it."""
    result = follow(*(Taken(accepted=1, sampled=1) for _ in range(3)))
    assert (result.code, result.objects[0]["accepted"]) == (0, 3)
    assert len(advanced) == 1 + 3, "at the start, and after each turn"


def test_a_database_that_is_gone_for_a_while_does_not_end_it(
    follow: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines wait in the log; the epoch that was known last applies."""
    advance = EpochBook.advance
    calls = iter(range(10))

    def broken_once(book: EpochBook) -> SamplingEpoch:
        if next(calls) == 1:
            raise DatabaseUnavailable("database.url: no answer")
        return advance(book)

    monkeypatch.setattr(EpochBook, "advance", broken_once)
    monkeypatch.setenv("HSS_MONITOR__INGEST__TAIL__POLL_SECONDS", "0.1")
    result = follow(Taken(), Taken(accepted=1, sampled=1))
    assert (result.code, result.objects[0]["accepted"]) == (0, 1)
