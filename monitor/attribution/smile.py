"""SMILE: a linear surrogate whose kernel is a Wasserstein distance between outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.attribution.players import by_surrogate
from monitor.attribution.segmentation import BoolArray, IntArray
from monitor.attribution.value import BudgetedValue
from monitor.records import Attribution, FloatArray, Granularity


@dataclass(frozen=True, kw_only=True, slots=True)
class SmileMethod:
    """φ = coefficients of a ridge regression of v on random masks z, weighted by the output.

        φ = argmin Σᵢ πᵢ (v(zᵢ) − b − φ·zᵢ)² + α‖φ‖²,   πᵢ = √exp(−dᵢ²/w²)

    dᵢ ∈ [0, 1] is the Wasserstein distance between the output distributions of the masked
    and of the full document over its greatest possible value (2 for unit embeddings), and
    w = `width`. `fit` is the weighted R² on the sample itself: high with fewer masks than
    words whatever the truth, so it is no proof of a good explanation then.

    Beside gSMILE's published code: the same mask law (each word kept with probability ½, at
    least two words kept), kernel and width; but masks are kept in document order where gSMILE
    joins the kept words into another sentence; no mask is drawn twice, and the full document is in
    the sample; the distance is divided by its fixed bound where gSMILE takes the minimum
    and maximum of the batch, which makes the weight of one mask depend on all others and two
    explanations incomparable; the regression is a ridge, since there may be more words
    than masks; the number of masks is the budget, not 64.
    """

    name: str = "smile"
    random: bool = True
    granularity: Granularity = Granularity.WORD
    """`WORD` or `SENTENCE`."""
    width: float = 0.25
    penalty: float = 0.01
    """α, in units of the summed weights' share of one mask."""

    def explain(self, value: BudgetedValue, *, seed: int) -> Attribution:
        """Uses at most `value.remaining` evaluations; raises what `value` raises."""
        return by_surrogate(
            value, self.granularity, lambda players: self._fitted(value, players, seed=seed)
        )

    def _fitted(
        self, value: BudgetedValue, players: IntArray, *, seed: int
    ) -> tuple[FloatArray, float | None]:
        generator = np.random.default_rng(seed)
        masks = random_masks(int(players.max()) + 1, value.remaining, generator)
        responses = value(masks[:, players])
        distances = value.separations(masks[:, players])
        weights = np.sqrt(np.exp(-((distances / self.width) ** 2)))
        return weighted_ridge(masks, responses, weights, penalty=self.penalty)


def random_masks(players: int, count: int, generator: np.random.Generator) -> BoolArray:
    """At most `count` different masks, (m, players), the full one first.

    Each player is kept with probability ½ and at least two are (one, where there are two
    players only). Small games run out of masks before the count is reached; then all are
    returned, in random order.
    """
    fewest = min(2, players - 1)
    if players <= 16 and 2**players <= 4 * count:
        # So few that drawing would mostly repeat: list them, then shuffle.
        every = (np.arange(2**players)[:, None] >> np.arange(players)) & 1
        every = every[(every.sum(axis=1) >= fewest)][:-1]
        drawn = generator.permutation(every).astype(bool)
    else:
        drawn = generator.random((2 * count, players)) < 0.5
        drawn = drawn[drawn.sum(axis=1) >= fewest]
        _, first = np.unique(drawn, axis=0, return_index=True)
        drawn = drawn[np.sort(first)]
        drawn = drawn[~drawn.all(axis=1)]
    return np.concatenate([np.ones((1, players), dtype=bool), drawn])[:count]


def weighted_ridge(
    masks: BoolArray, responses: FloatArray, weights: FloatArray, *, penalty: float
) -> tuple[FloatArray, float | None]:
    """Coefficients (players,) and weighted R², the intercept left unpenalized.

    Solved in the smaller of the two dimensions, masks or players. R² is `None` where the
    responses do not vary.
    """
    share = weights / weights.sum()
    x = masks - share @ masks
    y = responses - share @ responses
    root = np.sqrt(weights)
    x_weighted, y_weighted = x * root[:, None], y * root
    samples, players = x.shape
    alpha = penalty * float(weights.mean())
    if players <= samples:
        gram = x_weighted.T @ x_weighted + alpha * np.eye(players)
        coefficients = np.linalg.solve(gram, x_weighted.T @ y_weighted)
    else:
        gram = x_weighted @ x_weighted.T + alpha * np.eye(samples)
        coefficients = x_weighted.T @ np.linalg.solve(gram, y_weighted)
    spread_of_y = float(weights @ y**2)
    if spread_of_y <= 1e-24:
        return np.zeros(players), None
    missed = float(weights @ (y - x @ coefficients) ** 2)
    return np.asarray(coefficients, dtype=np.float64), 1.0 - missed / spread_of_y
