"""The warning about unstable halves: its false alarms and its power, as stated."""

import numpy as np

from monitor.scoring.stability import unstable_halves


def documents(generator, count, shift=0.0):
    """Eight Beta distances around a level of the document's own."""
    levels = generator.beta(2, 8, size=count)
    levels[count // 2 :] += shift
    levels = np.minimum(levels, 0.99)[:, None]
    return generator.beta(8 * levels + 0.01, 8 * (1 - levels) + 0.01, size=(count, 8))


def test_steady_references_rarely_warn():
    """Nominal 1 %; at most 3 % of 400 (six standard errors are 3 points)."""
    generator = np.random.default_rng(5)
    warned = sum(bool(unstable_halves({None: documents(generator, 60)})) for _ in range(400))
    assert warned <= 12


def test_shift_of_half_a_standard_deviation_is_mostly_noticed():
    """0.063 is half the standard deviation of document means in this world."""
    generator = np.random.default_rng(6)
    warned = sum(
        bool(unstable_halves({"news": documents(generator, 200, shift=0.063)})) for _ in range(200)
    )
    assert 130 <= warned <= 180


def test_limit_is_corrected_for_the_number_of_categories():
    """Twenty steady categories together warn about as rarely as one."""
    generator = np.random.default_rng(8)
    warned = sum(
        bool(unstable_halves({str(name): documents(generator, 60) for name in range(20)}))
        for _ in range(50)
    )
    assert warned <= 4


def test_halves_without_spread_but_with_another_mean_warn():
    """A division by zero must not hide the clearest change of all."""
    (warning,) = unstable_halves({"faq": [[0.1]] * 20 + [[0.4]] * 20})
    assert "category 'faq'" in warning
    assert "0.100" in warning
    assert "0.400" in warning


def test_small_halves_are_not_judged():
    """Nineteen documents a half are below the least number."""
    assert unstable_halves({None: [[0.1]] * 19 + [[0.4]] * 19}) == []
