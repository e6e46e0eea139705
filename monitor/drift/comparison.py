"""The current window against the reference window, as a whole: PSI, KS and Wasserstein.

Slower to see a shift than the e-detector, but it sees any change of shape, and it says how
large the change is. Every p-value is corrected over all series, signals and statistics that
are looked at together; they are repeated at every evaluation, without a promise over time,
which is why they make a series `suspect` and never `drifted`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from monitor.drift.correction import FEW, holm
from monitor.drift.hajek import Clusters
from monitor.drift.ks import ks
from monitor.drift.permutation import BlockTest, block_test
from monitor.drift.psi import psi
from monitor.drift.reference import Insufficient, Reference
from monitor.drift.wasserstein import wasserstein
from monitor.records import FloatArray

STATISTICS = {"psi": psi, "ks": ks, "wasserstein": wasserstein}

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """Stored scores of one signal of one series, in the order (received_at, id).

    Records whose signal was not computed are left out.
    """

    values: FloatArray
    """(n,) as stored."""
    times: FloatArray
    """(n,) seconds since the epoch, ascending."""
    probabilities: FloatArray | None = None
    """(n,) inclusion probabilities π; all equal where there are none."""
    clusters: Clusters | None = None
    """(n,) trace ids."""
    shares: FloatArray | None = None
    """(n,) mean achieved share; for signals that depend on perturbation."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two-sample tests of one signal of one series, by name of the statistic."""

    tests: Mapping[str, BlockTest | Insufficient]
    adjusted: Mapping[str, float]
    """p-values corrected over everything looked at together; empty before `correct`."""


def compare(
    reference: Reference,
    before: Sample,
    now: Sample,
    *,
    seed: int,
    permutations: int = 999,
) -> Comparison:
    """Test `now` against the reference's own records `before`, both without hour and share.

    Both samples have to be non-empty; too few records give `Insufficient` tests.
    """
    then, current = (
        reference.adjusted(sample.values, sample.times, shares=sample.shares)
        for sample in (before, now)
    )
    return Comparison(
        tests={
            name: block_test(
                statistic,
                then,
                current,
                seed=seed,
                reference_probabilities=before.probabilities,
                current_probabilities=now.probabilities,
                permutations=permutations,
            )
            for name, statistic in STATISTICS.items()
        },
        adjusted={},
    )


def correct(comparisons: Mapping[Key, Comparison]) -> dict[Key, Comparison]:
    """The same comparisons with p-values corrected over all of them.

    With m tests in all an adjusted p is at least m/(permutations + 1): 999 permutations can
    show something at 5 % among up to 50 tests, so hand `compare` more where there are more.
    """
    places = [
        (key, name, test.p)
        for key, comparison in comparisons.items()
        for name, test in comparison.tests.items()
        if isinstance(test, BlockTest)
    ]
    adjusted: dict[Key, dict[str, float]] = {key: {} for key in comparisons}
    for (key, name, _), p in zip(places, holm([p for *_, p in places]), strict=True):
        adjusted[key][name] = p
    return {
        key: Comparison(tests=comparison.tests, adjusted=adjusted[key])
        for key, comparison in comparisons.items()
    }


def sharper(comparison: Comparison, again: Comparison) -> Comparison:
    """The comparison with those tests done `again`, with more permutations, that need it.

    A test is repeated only where its first p-value was among the smallest that its permutations
    can give. The p-value of the repetition is one by itself, and below the level of interest a
    test has to pass both, so selecting does not make it too small.
    """
    return Comparison(
        tests={
            name: again.tests[name] if _at_the_end(test) else test
            for name, test in comparison.tests.items()
        },
        adjusted={},
    )


def too_coarse(comparison: Comparison) -> bool:
    """Whether a p-value is as small as its permutations allow: more of them would tell more."""
    return any(_at_the_end(test) for test in comparison.tests.values())


def _at_the_end(test: BlockTest | Insufficient) -> bool:
    return isinstance(test, BlockTest) and test.p <= FEW / (test.permutations + 1)


def compare_halves(reference: Reference, sample: Sample, *, seed: int) -> Comparison:
    """Is the reference itself stable: its first half of records against its second, corrected.

    A small adjusted p warns that "normal" was changing while it was recorded.
    """
    middle = len(sample.values) // 2
    halves = [_part(sample, slice(None, middle)), _part(sample, slice(middle, None))]
    return correct({"halves": compare(reference, *halves, seed=seed)})["halves"]


def _part(sample: Sample, part: slice) -> Sample:
    return Sample(
        values=sample.values[part],
        times=sample.times[part],
        probabilities=None if sample.probabilities is None else sample.probabilities[part],
        clusters=None if sample.clusters is None else sample.clusters[part],
        shares=None if sample.shares is None else sample.shares[part],
    )
