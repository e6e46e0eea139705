"""W₁ between summaries: golden values by hand and by independent solvers, and its guards."""

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog

from monitor.errors import MalformedInput
from monitor.records import SummaryDistribution
from monitor.scoring.transport import transport


def points(*rows):
    return SummaryDistribution(
        sentences=tuple(f"s{index}" for index in range(len(rows))),
        embeddings=np.array(rows, dtype=float),
    )


def random_points(generator, n, dimensions=6):
    rows = generator.normal(size=(n, dimensions))
    return points(*(rows / np.linalg.norm(rows, axis=1, keepdims=True)))


EAST, NORTH, WEST = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)


def test_single_sentences_are_as_far_apart_as_their_vectors():
    """With one sentence each there is one plan: by hand √2 for a right angle."""
    assert transport(points(EAST), points(NORTH)).distance == pytest.approx(math.sqrt(2))


def test_opposite_sentences_have_the_greatest_distance():
    """The diameter of the unit sphere bounds D."""
    assert transport(points(EAST), points(WEST)).distance == 2.0


def test_a_summary_has_distance_zero_to_itself_in_another_order():
    """Sentence order is not meaning here, and 0 has to be exactly 0, never −0 or 1e-8."""
    moved = transport(points(EAST, NORTH, WEST), points(WEST, EAST, NORTH))
    assert (moved.distance, math.copysign(1, moved.distance)) == (0.0, 1.0)


def test_half_of_the_mass_moves_where_one_of_two_sentences_changed():
    """By hand: EAST stays, NORTH goes to WEST with mass ½ over √2."""
    moved = transport(points(EAST, NORTH), points(EAST, WEST))
    assert moved.distance == pytest.approx(math.sqrt(2) / 2)
    np.testing.assert_allclose(moved.plan, [[0.5, 0.0], [0.0, 0.5]])
    np.testing.assert_allclose(moved.cost, [[0.0, 2.0], [math.sqrt(2), math.sqrt(2)]], atol=1e-12)


def test_a_repeated_sentence_carries_two_shares():
    """By hand: ⅔ EAST and ⅓ NORTH against EAST alone moves ⅓ by √2."""
    moved = transport(points(EAST, EAST, NORTH), points(EAST))
    assert moved.distance == pytest.approx(math.sqrt(2) / 3)


@pytest.mark.parametrize("n", [2, 5, 9])
def test_equal_sizes_agree_with_the_assignment_problem(n):
    """With equal weights and sizes the optimum is a matching (Birkhoff–von Neumann)."""
    generator = np.random.default_rng(n)
    moved = transport(random_points(generator, n), random_points(generator, n))
    rows, columns = linear_sum_assignment(moved.cost)
    assert moved.distance == pytest.approx(moved.cost[rows, columns].mean(), abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(1, 4), (2, 3), (7, 5)])
def test_unequal_sizes_agree_with_a_linear_program(n, m):
    """An independent solver on the primal problem as it stands in the docstring."""
    generator = np.random.default_rng(10 * n + m)
    moved = transport(random_points(generator, n), random_points(generator, m))
    marginals = np.zeros((n + m, n * m))
    for i in range(n):
        for j in range(m):
            marginals[i, i * m + j] = marginals[n + j, i * m + j] = 1.0
    masses = [1 / n] * n + [1 / m] * m
    solved = linprog(moved.cost.ravel(), A_eq=marginals, b_eq=masses, method="highs")
    assert moved.distance == pytest.approx(solved.fun, abs=1e-9)


def test_plan_cost_and_sentences_explain_the_distance():
    """The plan is shown to people: its sum with the costs has to be the distance."""
    moved = transport(points(EAST, NORTH), points(NORTH, WEST, EAST))
    assert moved.distance == pytest.approx(float((moved.plan * moved.cost).sum()))
    assert (moved.source, moved.target) == (("s0", "s1"), ("s0", "s1", "s2"))


def test_an_empty_summary_is_refused_on_either_side():
    """POT crashes on an empty list; the caller has to skip it with a reason."""
    empty = SummaryDistribution(sentences=(), embeddings=np.empty((0, 2)))
    with pytest.raises(MalformedInput, match=r"source: no sentences.*empty_summary"):
        transport(empty, points(EAST))
    with pytest.raises(MalformedInput, match="target: no sentences"):
        transport(points(EAST), empty)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[2.0, 0.0]], "row lengths"),
        ([[math.nan, 0.0]], "row lengths"),
        ([[0.0, 0.0]], "row lengths"),
        ([[1.0, 0.0], [0.0, 1.0]], "for 1 sentences"),
        ([1.0, 0.0], "for 1 sentences"),
        ([[1.0, 0.0, 0.0]], "dimensions"),
    ],
)
def test_embeddings_that_are_no_unit_rows_are_refused(rows, message):
    """A wrong encoder would otherwise give a plausible number."""
    wrong = SummaryDistribution(sentences=("s",), embeddings=np.array(rows))
    with pytest.raises(MalformedInput, match=message):
        transport(points(EAST), wrong)


def test_float32_rounding_is_accepted():
    """Encoders answer in float32, whose rows are of unit length to 1e-7 only."""
    row = np.array([[0.6, 0.8]], dtype=np.float32)
    single = SummaryDistribution(sentences=("s",), embeddings=row)
    assert transport(single, single).distance == 0.0
