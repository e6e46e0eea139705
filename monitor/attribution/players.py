"""The players of a game: the words of a document, or its sentences, whose words go together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from monitor.attribution.segmentation import BoolArray, IntArray, Segmentation, spread
from monitor.attribution.value import BudgetedValue
from monitor.records import Attribution, FloatArray, Granularity, Reason

Game = Callable[[BoolArray], FloatArray]
"""v of each coalition of players: (n, players) → (n,)."""


def refusal(value: BudgetedValue, *, least: int = 2) -> Attribution | None:
    """Why nothing can be said of a document: no words, or fewer evaluations than `least` left.

    Two are what v(all) − v(none) takes.
    """
    if not value.segmentation.words:
        return Attribution(values=None, reason=Reason.EMPTY_DOCUMENT)
    if value.remaining < least:
        return Attribution(values=None, reason=Reason.OVER_BUDGET)
    return None


def players_of(cut: Segmentation, granularity: Granularity) -> IntArray:
    """(words,): the player of each word, by `WORD` or by `SENTENCE`."""
    return np.arange(len(cut.words)) if granularity is Granularity.WORD else cut.sentences


def game_of(value: BudgetedValue, players: IntArray) -> Game:
    """The game of these players, from the value function of words."""
    return lambda coalitions: value(coalitions[:, players])


def by_surrogate(
    value: BudgetedValue,
    granularity: Granularity,
    fitted: Callable[[IntArray], tuple[FloatArray, float | None]],
) -> Attribution:
    """φ = coefficients of a surrogate over random masks of words or sentences.

    `fitted` gives, for the player of each word, the coefficients (players,) and how well they
    fit; a single player needs no surrogate. Uses at most `value.remaining` evaluations.
    """
    if (refused := refusal(value)) is not None:
        return refused
    before = value.evaluations
    players = players_of(value.segmentation, granularity)
    fit: float | None = None
    if players.max() == 0:
        values = only_player(game_of(value, players))
    else:
        values, fit = fitted(players)
    return Attribution(
        values=spread(values, players),
        granularity=granularity,
        evaluations=value.evaluations - before,
        fit=fit,
    )


def only_player(game: Game) -> FloatArray:
    """φ of a player without others, (1,): v(all) − v(none)."""
    none, whole = game(np.array([[False], [True]]))
    return np.array([whole - none])
