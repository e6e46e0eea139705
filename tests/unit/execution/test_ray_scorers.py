"""Actors under supervision, on a Ray that is told what happens to them."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from monitor.errors import ModelUnavailable
from monitor.execution.ray.scorers import RayScorers


class _RayError(Exception):
    pass


class _RayTaskError(_RayError):
    def __init__(self, cause: Exception) -> None:
        super().__init__("a task failed; the arguments were: a document")
        self.cause = cause


class Reference:
    """The answer of a call that has not come yet."""

    def __init__(self) -> None:
        self.here = False
        self._answer: object = None

    def arrive(self, answer: object = None) -> None:
        self.here, self._answer = True, answer

    def get(self) -> object:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


class Actor:
    def __init__(self) -> None:
        self.answers: dict[str, Reference] = {}
        self.killed = False

    def __getattr__(self, method: str) -> Any:
        def remote(*_: object) -> Reference:
            return self.answers.setdefault(method, Reference())

        return SimpleNamespace(remote=remote)

    def gets_a_place(self) -> None:
        self.answers["place"].arrive("host:1")


class Ray:
    """As much of the module `ray` as is used; the test says when an answer arrives."""

    exceptions = SimpleNamespace(RayError=_RayError, RayTaskError=_RayTaskError)

    def __init__(self) -> None:
        self.actors: list[Actor] = []
        self.asked: dict[str, Any] = {}
        self.waited: list[float] = []

    def remote(self, _: type) -> Any:
        def options(**asked: Any) -> Any:
            self.asked = asked
            return SimpleNamespace(remote=self._make)

        return SimpleNamespace(options=options)

    def _make(self) -> Actor:
        self.actors.append(Actor())
        return self.actors[-1]

    def wait(
        self, references: Sequence[Reference], *, timeout: float, num_returns: int = 1
    ) -> tuple[list[Reference], list[Reference]]:
        if timeout:
            self.waited.append(timeout)
        ready = [reference for reference in references if reference.here][:num_returns]
        return ready, [reference for reference in references if reference not in ready]

    def get(self, reference: Reference) -> object:
        assert reference.here
        return reference.get()

    def kill(self, actor: Actor) -> None:
        actor.killed = True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ray() -> Ray:
    return Ray()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def _scorers(ray: Ray, clock: Clock, count: int = 1) -> RayScorers:
    return RayScorers(
        ray,
        object,  # type: ignore[arg-type]  # no actor here ever makes its scorer
        count=count,
        cpus=2,
        gpus=0.5,
        environment={"OMP_NUM_THREADS": "1"},
        monotonic=clock,
    )


def test_as_many_actors_run_as_asked_each_with_its_resources(ray: Ray, clock: Clock) -> None:
    """Ray places them by what they ask for."""
    scorers = _scorers(ray, clock, count=3)
    assert scorers.supervise() == 0
    assert (len(ray.actors), scorers.running()) == (3, 0)
    for actor in ray.actors:
        actor.gets_a_place()
    assert scorers.running() == 3
    assert (ray.asked["num_cpus"], ray.asked["num_gpus"], ray.asked["max_restarts"]) == (2, 0.5, 0)


def test_an_actor_that_ended_comes_back_after_its_pause(ray: Ray, clock: Clock) -> None:
    """A machine may be lost at any moment."""
    scorers = _scorers(ray, clock)
    scorers.supervise()
    ray.actors[0].gets_a_place()
    ray.actors[0].answers["run"].arrive(_RayError("its node died"))
    assert (scorers.supervise(), scorers.running()) == (1, 0)
    assert len(ray.actors) == 1, "it must not come back before its pause is over"
    clock.now += 1.0
    assert scorers.supervise() == 0
    assert [actor.killed for actor in ray.actors] == [True, False]


def test_waiting_for_a_machine_is_no_part_of_a_life(ray: Ray, clock: Clock) -> None:
    """An autoscaler takes minutes; a scorer that then fails at once has not lived for minutes."""
    scorers = _scorers(ray, clock)
    scorers.supervise()
    clock.now += 600.0
    ray.actors[0].gets_a_place()
    scorers.supervise()
    ray.actors[0].answers["run"].arrive(_RayError("died"))
    with capture_logs() as logs:
        scorers.supervise()
    assert [told["restart_in"] for told in logs] == [1.0]


def test_that_there_is_no_place_is_told_once(ray: Ray, clock: Clock) -> None:
    """Ray itself waits without a word for resources that no machine has."""
    scorers = _scorers(ray, clock)
    with capture_logs() as logs:
        for _ in range(5):
            scorers.supervise()
            clock.now += 30.0
    told = [(log["event"], log["num_cpus"], log["num_gpus"]) for log in logs]
    assert told == [("scorer_waits_for_resources", 2, 0.5)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_RayTaskError(ModelUnavailable("embedding.model: no such folder")), "embedding.model: no"),
        (_RayTaskError(ValueError("could not parse: a document")), "ValueError"),
        (_RayError("The actor died\n  because its node did"), "The actor died because its node"),
        (None, "ended by itself"),
    ],
)
def test_a_death_is_told_with_its_reason_and_without_a_text(
    ray: Ray, clock: Clock, answer: object, reason: str
) -> None:
    """What we raise names key and remedy; what others raise may quote a document."""
    scorers = _scorers(ray, clock)
    scorers.supervise()
    ray.actors[0].answers["run"].arrive(answer)
    with capture_logs() as logs:
        scorers.supervise()
    [told] = logs
    assert told["event"] == "scorer_died"
    assert told["reason"].startswith(reason)
    assert "a document" not in str(told)


def test_stopping_asks_first_and_kills_what_is_left(ray: Ray, clock: Clock) -> None:
    """An actor without a place cannot be asked, and is not worth waiting for."""
    scorers = _scorers(ray, clock, count=2)
    scorers.supervise()
    ray.actors[0].gets_a_place()
    scorers.supervise()
    scorers.stop(seconds=30)
    assert [list(actor.answers) for actor in ray.actors] == [
        ["place", "run", "stop"],
        ["place", "run"],
    ]
    assert ray.waited == [30]
    assert [actor.killed for actor in ray.actors] == [True, True]
