"""A value that may be some seconds old."""

from __future__ import annotations

import pytest

from monitor.recent import Recent


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_is_read_once_in_its_time() -> None:
    """Every record asks, the database is asked every few seconds."""
    clock, reads = Clock(), []
    recent = Recent(lambda: reads.append(1) or len(reads), seconds=5.0, monotonic=clock)
    assert [recent(), recent()] == [1, 1]
    clock.now = 5.0
    assert [recent(), recent()] == [2, 2]


def test_a_failure_is_not_remembered() -> None:
    """The next call may reach the database again."""
    answers = iter([RuntimeError, 7])

    def read() -> int:
        answer = next(answers)
        if answer is RuntimeError:
            raise RuntimeError
        return answer

    recent = Recent(read, seconds=5.0)
    with pytest.raises(RuntimeError):
        recent()
    assert recent() == 7
