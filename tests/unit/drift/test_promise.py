"""From "thirty days between false alarms" to the evidence that an alarm takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.drift.comparison import Comparison, sharper, too_coarse
from monitor.drift.permutation import BlockTest
from monitor.drift.promise import LEAST, evidence_needed, records_expected

DAY = 86_400.0


def test_the_faster_of_two_rates_counts(reference) -> None:
    """The reference came with 240 records a day; traffic may have grown since, or shrunk."""
    quiet = records_expected(reference, recent=24, recent_seconds=DAY, days=30)
    busy = records_expected(reference, recent=2400, recent_seconds=DAY, days=30)
    assert quiet == pytest.approx(240 * 30, rel=0.01)
    assert busy == 2400 * 30


def test_evidence_counts_everything_that_could_alarm() -> None:
    """3 series × 8 signals × 4 directions × 7,200 records."""
    assert evidence_needed(series=3, signals=8, records=7200) == 3 * 8 * 4 * 7200


@pytest.mark.parametrize("records", [0, 10])
def test_it_is_never_less_than_what_was_measured(records: float) -> None:
    """Also for a reference of one instant, which has no rate."""
    assert evidence_needed(series=1, signals=1, records=records) == LEAST


def test_only_the_smallest_p_values_are_worth_more_permutations() -> None:
    """With 99 permutations 0.01 is the smallest; 0.5 stays 0.5 whatever the effort."""
    one = BlockTest(
        statistic=0.1,
        p=0.01,
        block=10,
        correlation_time=1.0,
        reference_blocks=10,
        current_blocks=10,
        permutations=99,
    )
    coarse = Comparison(tests={"psi": one, "ks": replace(one, p=0.5)}, adjusted={})
    fine = replace(one, p=0.0004, permutations=9999)
    again = Comparison(tests={"psi": fine, "ks": replace(fine, p=0.3)}, adjusted={})
    assert too_coarse(coarse)
    found = sharper(coarse, again)
    assert {name: test.p for name, test in found.tests.items()} == {"psi": 0.0004, "ks": 0.5}
    assert not too_coarse(
        sharper(coarse, Comparison(tests={"psi": replace(fine, p=0.02)}, adjusted={}))
    )
