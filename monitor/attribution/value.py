"""Value functions: what the words that are kept are worth, within a budget.

v(S) says how much of a summary survives when only the words S of its document are kept.
An `Evaluator` computes it for many masks at once; `BudgetedValue` stands before it, caches,
counts and refuses; methods see only the latter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from monitor.attribution.segmentation import BoolArray, Segmentation
from monitor.errors import MonitorError
from monitor.records import FloatArray, Reason


class BudgetExceeded(MonitorError):
    """An explanation asked for more evaluations than it may use."""


class ValueUnknown(MonitorError):
    """A masked document has no value: the summarizer failed on it."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(
            f"value function: a masked document gave no summary ({reason.value}); "
            "look at the summarizer's own errors"
        )
        self.reason = reason


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Outcome:
    """What one masked document came to."""

    value: float
    """v(S)."""
    output: FloatArray
    """What the evaluator's `separation` compares; its shape is the evaluator's own."""


class Evaluator(Protocol):
    """Values of masked versions of one document, for one summary of it."""

    segmentation: Segmentation
    summary: str
    """The summary that is explained (y₀ for the document itself)."""

    def evaluate(self, masks: BoolArray) -> list[Outcome]:
        """One outcome a row of `masks` (n, words), in order; a pure function of the row.

        Raises `ValueUnknown` where a masked document has no value.
        """

    def separation(self, outcome: Outcome, full: Outcome) -> float:
        """Wasserstein distance of two output distributions over its greatest possible
        value, in [0, 1]; `full` is the outcome of the document with all its words."""


class BudgetedValue:
    """What a method explains: v over the words of one document, behind a cache and a limit.

    What counts are distinct masks that the evaluator was asked for; the evaluator may do
    still less, since different masks can leave the same text or the same summary.
    """

    def __init__(self, evaluator: Evaluator, *, budget: int) -> None:
        self._evaluator = evaluator
        self._budget = budget
        self._spent = 0
        self._outcomes: dict[bytes, Outcome] = {}

    @property
    def segmentation(self) -> Segmentation:
        return self._evaluator.segmentation

    @property
    def summary(self) -> str:
        return self._evaluator.summary

    @property
    def evaluations(self) -> int:
        """Distinct masked documents evaluated so far."""
        return self._spent

    @property
    def remaining(self) -> int:
        """Evaluations that are left."""
        return self._budget - self._spent

    def __call__(self, masks: BoolArray) -> FloatArray:
        """v of each row: (n, words) → (n,). Repeated masks cost nothing.

        Raises `BudgetExceeded` before anything of the call was evaluated.
        """
        return np.array([outcome.value for outcome in self._resolve(masks)], dtype=np.float64)

    def separations(self, masks: BoolArray) -> FloatArray:
        """`Evaluator.separation` of each row from the full document: (n, words) → (n,)."""
        whole = np.ones((1, masks.shape[1]), dtype=bool)
        full, *outcomes = self._resolve(np.concatenate([whole, masks]))
        return np.array([self._evaluator.separation(outcome, full) for outcome in outcomes])

    def spend(self, count: int) -> None:
        """Charge model calls, as a method does for those that it makes by itself (attention)."""
        if count > self.remaining:
            raise BudgetExceeded(
                f"attribution.max_evaluations: {count} more evaluations were asked for, "
                f"{self.remaining} of {self._budget} are left; raise the limit or ask for less"
            )
        self._spent += count

    def _resolve(self, masks: BoolArray) -> list[Outcome]:
        keys = [row.tobytes() for row in np.packbits(masks, axis=1)]
        fresh = {
            key: row for row, key in enumerate(keys) if key not in self._outcomes
        }  # one row for each distinct unknown mask
        if fresh:
            self.spend(len(fresh))
            outcomes = self._evaluator.evaluate(masks[list(fresh.values())])
            self._outcomes.update(zip(fresh, outcomes, strict=True))
        return [self._outcomes[key] for key in keys]
