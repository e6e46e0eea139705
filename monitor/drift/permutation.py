"""p-values of two-sample statistics for records that are not independent.

Permuting single records assumes independence; records of one minute or one batch resemble
each other, and then such p-values fire far too often. Here both samples are cut into blocks
of consecutive records, and whole blocks are dealt anew to "reference" and "current":

    p = (1 + #{permutations with a statistic ≥ the observed one}) / (1 + permutations).

Blocks are at least ten times the integrated correlation time τ, estimated within each
sample, so that a difference between them does not look like correlation. Measured level at 5 %: see
`tests/benchmarks/test_drift.py`. Where fewer than `MIN_BLOCKS` blocks are left in a
sample there is no p-value, but `Insufficient`.

Every statistic is weighted by 1/π; the weights move with their records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from monitor.drift.correlation import correlation_time
from monitor.drift.hajek import check_finite, inverse
from monitor.drift.reference import Insufficient, Lacking
from monitor.records import FloatArray

BLOCK_TIMES = 10
MIN_BLOCKS = 8
"""In each sample: with 8 and 16 there are 735,471 ways to deal them."""
_CHUNK = 4_000_000
"""Numbers held at a time while permuting: 32 MB."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pooled:
    """Both samples together, sorted by value."""

    values: FloatArray
    """(n,) ascending."""
    weights: FloatArray
    """(n,) 1/π."""
    blocks: NDArray[np.intp]
    """(n,) number of each record's block; the reference's blocks come first."""
    reference_blocks: int
    current_blocks: int

    @property
    def observed(self) -> NDArray[np.bool_]:
        """(1, blocks): which blocks really are current."""
        numbers = np.arange(self.reference_blocks + self.current_blocks)
        return np.asarray(numbers >= self.reference_blocks)[None, :]


Statistic = Callable[[Pooled, FloatArray], FloatArray]
"""Statistics (p,) of p divisions; each row of the (p, n) matrix holds the weights of the
records that count as current, and 0 for the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockTest:
    """A statistic and its block-permutation p-value."""

    statistic: float
    p: float
    block: int
    """Records a block."""
    correlation_time: float
    """τ in records; 1 without correlation."""
    reference_blocks: int
    current_blocks: int
    permutations: int


def pool(
    reference: FloatArray,
    current: FloatArray,
    *,
    block: int,
    reference_probabilities: FloatArray | None = None,
    current_probabilities: FloatArray | None = None,
) -> Pooled:
    """Cut both samples into blocks of at least `block` records in order, and sort them."""
    counts = [max(len(sample) // block, 1) for sample in (reference, current)]
    blocks = np.concatenate(
        [
            np.arange(len(reference)) * counts[0] // max(len(reference), 1),
            counts[0] + np.arange(len(current)) * counts[1] // max(len(current), 1),
        ]
    )
    values = np.concatenate([reference, current])
    weights = np.concatenate(
        [
            inverse(reference_probabilities, len(reference)),
            inverse(current_probabilities, len(current)),
        ]
    )
    order = np.argsort(values, kind="stable")
    return Pooled(
        values=values[order],
        weights=weights[order],
        blocks=blocks[order],
        reference_blocks=counts[0],
        current_blocks=counts[1],
    )


def block_test(
    statistic: Statistic,
    reference: FloatArray,
    current: FloatArray,
    *,
    seed: int,
    reference_probabilities: FloatArray | None = None,
    current_probabilities: FloatArray | None = None,
    permutations: int = 999,
    block: int | None = None,
) -> BlockTest | Insufficient:
    """Test "both samples come from one process"; samples in their order of time.

    `block` overrides the estimated block length (1: the naive permutation test).
    """
    check_finite("reference", reference)
    check_finite("current", current)
    tau = max(correlation_time(reference), correlation_time(current))
    length = ceil(BLOCK_TIMES * tau) if block is None else block
    fewest = min(len(reference), len(current)) // length
    if fewest < MIN_BLOCKS:
        few = min(len(reference), len(current)) < BLOCK_TIMES * MIN_BLOCKS
        return Insufficient(
            reason=Lacking.TOO_FEW_RECORDS if few else Lacking.TOO_CORRELATED,
            detail=f"{fewest} blocks of {length} records (correlation time {tau:.1f}) in the "
            f"smaller sample, it takes {MIN_BLOCKS}",
        )
    pooled = pool(
        reference,
        current,
        block=length,
        reference_probabilities=reference_probabilities,
        current_probabilities=current_probabilities,
    )
    observed = float(_evaluate(statistic, pooled, pooled.observed)[0])
    rng = np.random.default_rng(seed)
    dealt = rng.permuted(np.repeat(pooled.observed, permutations, axis=0), axis=1)
    # Rounding must not turn a tie into a smaller value: ties count against significance.
    reached = _evaluate(statistic, pooled, dealt) >= observed - 1e-12
    return BlockTest(
        statistic=observed,
        p=(1 + int(reached.sum())) / (1 + permutations),
        block=length,
        correlation_time=tau,
        reference_blocks=pooled.reference_blocks,
        current_blocks=pooled.current_blocks,
        permutations=permutations,
    )


def _evaluate(statistic: Statistic, pooled: Pooled, dealt: NDArray[np.bool_]) -> FloatArray:
    rows = max(_CHUNK // len(pooled.values), 1)
    parts = [
        statistic(pooled, dealt[start : start + rows][:, pooled.blocks] * pooled.weights)
        for start in range(0, len(dealt), rows)
    ]
    return np.concatenate(parts)
