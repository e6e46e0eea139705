"""Invariants of distances, normalizers and HSS over random inputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.records import Normalizer, Strength, SummaryDistribution
from monitor.scoring.fingerprint import fingerprint
from monitor.scoring.normalization import ReferenceDocument, normalizer
from monitor.scoring.severity import severity
from monitor.scoring.transport import transport

coordinates = st.floats(-1, 1, allow_subnormal=False)
rows = st.lists(coordinates, min_size=3, max_size=3).filter(
    lambda row: float(np.linalg.norm(row)) > 1e-3
)
distances = st.floats(0, 2, allow_subnormal=False)
runs = st.lists(st.tuples(st.sampled_from(Strength), distances), min_size=1, max_size=12)


@st.composite
def summaries(draw):
    drawn = np.array(draw(st.lists(rows, min_size=1, max_size=5)))
    unit = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return SummaryDistribution(sentences=tuple("s" * len(unit)), embeddings=unit)


def scale(value):
    return Normalizer(category=None, value=value, low=None, high=None, documents=9, distances=99)


@given(summaries(), summaries())
@settings(deadline=None)
def test_distance_is_symmetric_and_bounded(first, second):
    """Two metric axioms, and 0 ≤ D ≤ 2."""
    there, back = transport(first, second), transport(second, first)
    assert there.distance == pytest.approx(back.distance, abs=1e-9)
    assert 0.0 <= there.distance <= 2.0


@given(summaries())
@settings(deadline=None)
def test_distance_to_itself_is_zero(summary):
    """Identity: nothing has to move."""
    assert transport(summary, summary).distance == 0.0


@given(summaries(), summaries(), summaries())
@settings(deadline=None)
def test_triangle_inequality(first, second, third):
    """A detour is never shorter."""
    direct = transport(first, third).distance
    detour = transport(first, second).distance + transport(second, third).distance
    assert direct <= detour + 1e-9


@given(summaries(), summaries())
@settings(deadline=None)
def test_plan_is_a_coupling(first, second):
    """Rows sum to 1/n and columns to 1/m, without negative mass."""
    plan = transport(first, second).plan
    n, m = plan.shape
    np.testing.assert_allclose(plan.sum(axis=1), 1 / n, atol=1e-9)
    np.testing.assert_allclose(plan.sum(axis=0), 1 / m, atol=1e-9)
    assert plan.min() >= 0.0


@given(summaries(), summaries(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_distance_ignores_sentence_order(first, second, random):
    """A summary is a point set."""
    order = list(range(len(first.sentences)))
    random.shuffle(order)
    shuffled = SummaryDistribution(
        sentences=tuple(first.sentences[index] for index in order),
        embeddings=first.embeddings[order],
    )
    assert transport(shuffled, second).distance == pytest.approx(
        transport(first, second).distance, abs=1e-9
    )


@given(runs, st.floats(0.01, 2))
def test_severity_lies_inside_its_interval_inside_the_unit_interval(drawn, value):
    """0 ≤ low ≤ HSS ≤ high ≤ 1 whenever there is an interval."""
    score = severity(drawn, scale(value))
    bounds = [score.hss] if score.low is None else [score.low, score.hss, score.high]
    assert [0.0, *bounds, 1.0] == sorted([0.0, *bounds, 1.0])
    assert (score.low is None) == (score.high is None) == (score.interval_reason is not None)


@given(runs, st.floats(0.01, 1), st.floats(1, 2))
def test_severity_falls_with_a_larger_normalizer(drawn, value, factor):
    """The same distances are less severe where the reference moves more."""
    assert severity(drawn, scale(value)).hss >= severity(drawn, scale(value * factor)).hss - 1e-12


@given(st.lists(st.lists(distances, min_size=1, max_size=4), min_size=1, max_size=8))
@settings(deadline=None, max_examples=30)
def test_normalizer_lies_among_its_distances(reference):
    """A percentile never leaves the range of the data; neither does its interval."""
    documents = [ReferenceDocument(category="c", distances=tuple(each)) for each in reference]
    made = normalizer(documents, "c")
    everything = [value for each in reference for value in each]
    inside = [made.value] if made.low is None else [made.low, made.high, made.value]
    assert all(min(everything) <= value <= max(everything) for value in inside)
    assert (made.documents, made.distances) == (len(reference), len(everything))


names = st.text(min_size=1, max_size=5)
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
trees = st.recursive(
    leaves | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(names, trees, max_size=5))
def test_fingerprint_ignores_the_order_of_keys(settings_):
    """Two readers of one configuration file agree on it."""
    backwards = dict(reversed(list(settings_.items())))
    assert fingerprint(settings_) == fingerprint(backwards)
