"""Dividing a budget among strata, by hand where it can be done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.records import Stratum
from monitor.sampling.allocation import rates


def stratum(name):
    return Stratum(service=str(name), model="m", category="")


def granted(hourly, **options):
    given_ = {"budget": 100.0, "ceiling": 1.0, "minimum_share": 0.0, **options}
    named = {stratum(name): arrivals for name, arrivals in hourly.items()}
    found = rates(named, **given_)
    return {each.service: found[each] * named[each] for each in found}


def test_grants_go_by_the_square_root():
    """By hand: √10000 : √100 = 10 : 1 of a budget of 55 are 50 and 5."""
    assert granted({"a": 10_000, "b": 100}, budget=55) == pytest.approx({"a": 50, "b": 5})


def test_what_a_small_stratum_cannot_use_goes_to_the_others():
    """By hand: b has 4 records only (√ would grant 9.1), so 96 are left for a."""
    assert granted({"a": 400, "b": 4}, minimum_share=0.0) == pytest.approx({"a": 96, "b": 4})


def test_rare_stratum_gets_its_floor():
    """By hand: floor 0.4·100/2 = 20 for b (√ would grant 9.09), 80 left for a."""
    assert granted({"a": 1_000_000, "b": 10_000}, minimum_share=0.4) == pytest.approx(
        {"a": 80, "b": 20}
    )


def test_everything_is_scored_up_to_the_ceiling_where_the_budget_allows():
    """By hand: half of 60 + 20 is 40, below the budget."""
    assert granted({"a": 60, "b": 20}, ceiling=0.5) == pytest.approx({"a": 30, "b": 10})


def test_strata_without_arrivals_are_left_out():
    """They get the default rate, and must not dilute the floor."""
    assert granted({"a": 400, "b": 0}, minimum_share=1.0) == pytest.approx({"a": 100})


def test_no_arrivals_no_rates():
    """An idle epoch teaches nothing."""
    assert rates({}, budget=1, ceiling=1, minimum_share=0) == {}


loads = st.dictionaries(st.integers(0, 30), st.floats(0.01, 1e6), min_size=1, max_size=12)


@given(loads, st.floats(0.01, 1e5), st.floats(0.01, 1), st.floats(0, 1))
def test_budget_and_ceiling_hold_for_every_load(hourly, budget, ceiling, share):
    """The two promises to the platform engineer, and that nothing is left unspent."""
    found = granted(hourly, budget=budget, ceiling=ceiling, minimum_share=share)
    spent = sum(found.values())
    most = ceiling * sum(hourly.values())
    assert spent == pytest.approx(min(budget, most), rel=1e-6)
    for name, arrivals in hourly.items():
        assert 0 < found[str(name)] <= ceiling * arrivals * (1 + 1e-9)


@given(loads, st.floats(1, 1e4), st.floats(1, 10))
def test_larger_budget_lowers_no_rate(hourly, budget, factor):
    """Nested picks would otherwise lose records when a scorer is added."""
    before = granted(hourly, budget=budget, minimum_share=0.2)
    after = granted(hourly, budget=budget * factor, minimum_share=0.2)
    assert all(after[name] >= before[name] * (1 - 1e-9) for name in before)
