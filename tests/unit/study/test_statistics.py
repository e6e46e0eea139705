"""AUROC and its interval: by hand, against SciPy, and against plain resampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from monitor.errors import MalformedInput
from monitor.study.statistics import auroc, auroc_interval, auroc_within


def arrays(scores, labels):
    return np.array(scores, dtype=float), np.array(labels, dtype=bool)


@pytest.mark.parametrize(
    ("scores", "labels", "expected"),
    [
        ([1, 2, 3, 4], [0, 0, 1, 1], 1.0),
        ([4, 3, 2, 1], [0, 0, 1, 1], 0.0),
        # Labelled 1 and 3 against 2 and 4: only 3 > 2 of four pairs.
        ([1, 2, 3, 4], [1, 0, 1, 0], 0.25),
        # Labelled 5, 5, 7 against 5, 6: ½ + 0, ½ + 0, 1 + 1 of six pairs.
        ([5, 5, 7, 5, 6], [1, 1, 1, 0, 0], 0.5),
        # Labelled 5, 9 against 5, 5, 1: ½ + ½ + 1, 1 + 1 + 1 of six pairs.
        ([5, 9, 5, 5, 1], [1, 1, 0, 0, 0], 5 / 6),
        ([2, 2, 2], [0, 1, 1], 0.5),
    ],
)
def test_auroc_by_hand(scores, labels, expected) -> None:
    """Every pair counted on paper, a tie as one half."""
    assert auroc(*arrays(scores, labels)) == pytest.approx(expected, abs=1e-15)


@given(st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=40))
def test_auroc_is_the_u_statistic_over_all_pairs(rows) -> None:
    """SciPy ranks on its own; few different scores, so that most pairs tie."""
    scores, labels = arrays(*zip(*rows, strict=True))
    value = auroc(scores, labels)
    if labels.all() or not labels.any():
        assert value is None
    else:
        u = mannwhitneyu(scores[labels], scores[~labels]).statistic
        assert value == pytest.approx(u / (labels.sum() * (~labels).sum()), abs=1e-12)


@given(st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=2, max_size=30))
def test_turning_the_scores_turns_the_auroc_about_one_half(rows) -> None:
    """A check where high is good and a baseline where high is bad then compare."""
    scores, labels = arrays(*zip(*rows, strict=True))
    value, turned = auroc(scores, labels), auroc(-scores, labels)
    assert (value is None) == (turned is None)
    assert value is None or value + turned == pytest.approx(1.0, abs=1e-12)


def test_a_score_that_only_tells_systems_apart_has_one_half_within_them() -> None:
    """System b is nearly always wrong and always scores 1: .8 over all pairs, nothing within."""
    scores, labels = arrays([0] * 5 + [1] * 5, [0, 0, 0, 0, 1, 0, 1, 1, 1, 1])
    assert auroc(scores, labels) == pytest.approx(0.8)
    assert auroc_within(scores, labels, "aaaaabbbbb") == (0.5, 4 + 4)


def test_pairs_within_systems_are_weighted_by_their_number() -> None:
    """System a wins 1 of 1 pair, system b 1 of 3; c holds one label only."""
    scores, labels = arrays([1, 0, 5, 4, 6, 7, 9, 9], [1, 0, 1, 0, 0, 0, 1, 1])
    assert auroc_within(scores, labels, "aabbbbcc") == (0.5, 4)


def clustered(random, clusters, *, shift=1.0, share=0.5, size=3):
    """Normal scores; records of a cluster share a part of their variance."""
    names = np.repeat(np.arange(clusters), size)
    labels = random.random(names.size) < 0.5
    common = random.normal(size=clusters)[names] * np.sqrt(share)
    own = random.normal(size=names.size) * np.sqrt(1 - share)
    return common + own + shift * labels, labels, names


def test_the_interval_is_that_of_resampled_records() -> None:
    """The short cut over pairs of clusters against records put together and sorted anew."""
    scores, labels, names = clustered(np.random.default_rng(1), 12)
    scores = np.round(scores)
    values = []
    for drawn in np.random.default_rng(7).multinomial(12, np.full(12, 1 / 12), 300):
        rows = np.concatenate(
            [
                np.flatnonzero(names == name)
                for name, times in enumerate(drawn)
                for _ in range(times)
            ]
        )
        values.append(auroc(scores[rows], labels[rows]))
    low, high = np.quantile(values, [0.025, 0.975])
    found = auroc_interval(scores, labels, names.tolist(), resamples=300, seed=7)
    assert (found.low, found.high) == (
        pytest.approx(low, abs=1e-12),
        pytest.approx(high, abs=1e-12),
    )


def test_copies_of_a_record_do_not_make_the_interval_narrower() -> None:
    """Ten copies of each record in its cluster are still 30 draws; one by one they were 300."""
    scores, labels, names = clustered(np.random.default_rng(2), 30, size=1)
    once = auroc_interval(scores, labels, names.tolist())
    many = np.repeat(scores, 10), np.repeat(labels, 10)
    assert auroc_interval(*many, np.repeat(names, 10).tolist()) == once
    alone = auroc_interval(*many, list(range(300)))
    assert alone.high - alone.low < 0.5 * (once.high - once.low)


def test_no_interval_where_resamples_lack_a_label() -> None:
    """One faithful record in ten documents is missing from a third of all draws."""
    scores, labels = arrays(range(10), [1] * 9 + [0])
    assert auroc_interval(scores, labels, list(range(10))) is None


def test_no_interval_from_one_document() -> None:
    """All resamples would be the same, and an interval of width 0 would look certain."""
    assert auroc_interval(*arrays([1, 2, 3], [0, 1, 0]), ["a", "a", "a"]) is None


def test_no_records_have_no_auroc() -> None:
    """A check without a model has no known row."""
    none = arrays([], [])
    assert (auroc(*none), auroc_within(*none, []), auroc_interval(*none, [])) == (
        None,
        (None, 0),
        None,
    )


def test_a_score_that_is_no_number_is_refused() -> None:
    """NaN would be ranked last in silence."""
    with pytest.raises(MalformedInput, match="scores: NaN"):
        auroc(*arrays([1.0, float("nan")], [0, 1]))


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "least"), [(10, 0.85), (30, 0.90), (120, 0.92)])
def test_coverage_of_the_interval(clusters, least) -> None:
    """How often the nominal 95 % hold the truth, Φ(1/√2) for normals one deviation apart."""
    truth, random = 0.7602, np.random.default_rng(clusters)
    held = stated = 0
    for seed in range(2000):
        scores, labels, names = clustered(random, clusters)
        found = auroc_interval(scores, labels, names.tolist(), resamples=500, seed=seed)
        if found is not None:
            stated += 1
            held += found.low <= truth <= found.high
    print(f"{clusters} clusters: {held / stated:.3f} of {stated}")  # noqa: T201 -- a measured figure
    assert held / stated >= least
