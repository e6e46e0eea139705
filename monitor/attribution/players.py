"""The players of a game: the words of a document, or its sentences, whose words go together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from monitor.attribution.segmentation import BoolArray, IntArray, Segmentation
from monitor.attribution.value import ValueFunction
from monitor.records import Attribution, FloatArray, Granularity, Reason

Game = Callable[[BoolArray], FloatArray]
"""v of each coalition of players: (n, players) → (n,)."""


def refusal(value: ValueFunction, *, least: int = 2) -> Attribution | None:
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


def game_of(value: ValueFunction, players: IntArray) -> Game:
    """The game of these players, from the value function of words."""
    return lambda coalitions: value(coalitions[:, players])


def only_player(game: Game) -> FloatArray:
    """φ of a player without others, (1,): v(all) − v(none)."""
    none, whole = game(np.array([[False], [True]]))
    return np.array([whole - none])
