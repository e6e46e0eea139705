"""Normalizers and calibrations: percentile, cluster bootstrap, fallback and refusals."""

from datetime import UTC, datetime

import numpy as np
import pytest

from monitor.errors import MalformedInput, UsageError
from monitor.scoring.calibration import calibrate
from monitor.scoring.normalization import ReferenceDocument, normalizer, normalizer_for

NOW = datetime(2025, 3, 4, 5, 6, tzinfo=UTC)
SETTINGS = {"encoder": "e", "k": 10, "tau": 0.6, "K": 8}


def document(*distances, category="news"):
    return ReferenceDocument(category=category, distances=distances)


def reference(n, *, category="news", seed=1, level=0.0):
    drawn = level + np.random.default_rng(seed).beta(2, 8, size=(n, 8))
    return [document(*row, category=category) for row in np.minimum(drawn, 2.0).tolist()]


def made(documents, **options):
    return calibrate(documents, settings=SETTINGS, window="w", clock=lambda: NOW, **options)


def test_percentile_interpolates_linearly():
    """By hand: of 0.0, 0.1, …, 1.0 position 0.95·10 = 9.5 lies midway between 0.9 and 1.0."""
    entry = normalizer([document(*(index / 10 for index in range(11)))], "news")
    assert entry.value == pytest.approx(0.95)


def test_interval_resamples_documents_not_distances():
    """Eight copies of one distance a document carry no more information than one copy."""
    # Few documents leave gaps at the top, over which both ways come to the same distances.
    levels = np.random.default_rng(3).beta(2, 8, size=600)
    once = normalizer([document(level) for level in levels], None)
    copied = normalizer([document(*[level] * 8) for level in levels], None)
    assert copied.high - copied.low == pytest.approx(once.high - once.low, rel=0.15)


def test_interval_covers_the_true_percentile():
    """At least 42 of 50 references of 60 documents hold the 95th percentile of Beta(2,8)."""
    truth = 0.4292  # scipy.stats.beta(2, 8).ppf(0.95)
    entries = [normalizer(reference(60, seed=seed), None) for seed in range(50)]
    assert sum(entry.low <= truth <= entry.high for entry in entries) >= 42


def test_one_document_has_no_interval():
    """A cluster bootstrap over one cluster would claim certainty."""
    entry = normalizer([document(0.1, 0.2, 0.3)], "news")
    assert (entry.low, entry.high) == (None, None)


def test_same_reference_gives_the_same_calibration():
    """A calibration has to be reproducible from stored distances, to the last digit."""
    assert made(reference(30)) == made(reference(30))


def test_calibration_holds_pooled_and_own_normalizers():
    """Counts by hand: 30 + 25 documents of 8 distances."""
    calibration = made(reference(30) + reference(25, category="legal", seed=2))
    sizes = [
        (entry.category, entry.documents, entry.distances) for entry in calibration.normalizers
    ]
    assert sizes == [(None, 55, 440), ("legal", 25, 200), ("news", 30, 240)]
    assert (calibration.created_at, calibration.window) == (NOW, "w")
    assert calibration.id.startswith("20250304-")


def test_small_category_falls_back_to_the_pooled_normalizer_and_says_so():
    """Five documents do not make a 95th percentile."""
    calibration = made(reference(30) + reference(5, category="legal", seed=2))
    assert normalizer_for(calibration, "legal").category is None
    assert normalizer_for(calibration, "news").category == "news"
    assert normalizer_for(calibration, "never seen").category is None
    assert any("'legal': only 5 documents with 40" in line for line in calibration.warnings)


def test_still_category_falls_back_to_the_pooled_normalizer_and_says_so():
    """M_c = 0 would divide by zero."""
    still = [document(*[0.0] * 8, category="faq") for _ in range(25)]
    calibration = made(reference(60) + still)
    assert normalizer_for(calibration, "faq").category is None
    assert any("'faq': its 95th percentile is 0" in line for line in calibration.warnings)


def test_perfectly_stable_reference_is_refused_with_a_remedy():
    """Every later tremor would be an HSS of 1."""
    with pytest.raises(UsageError, match="stronger perturbations"):
        made([document(*[0.0] * 8) for _ in range(40)])


@pytest.mark.parametrize("documents", [0, 19])
def test_too_small_a_reference_is_refused_with_its_size(documents):
    """The message says how many there were and what to do."""
    with pytest.raises(UsageError, match=rf"'w': {documents} documents.*widen the window"):
        made(reference(documents) if documents else [])


def test_what_others_keep_is_no_substitute_for_a_reference():
    """A few documents would take the place of what their series was held to before."""
    with pytest.raises(UsageError, match="'w': 5 documents with 40 distances"):
        made(reference(5), kept=reference(200))


def test_documents_without_distances_do_not_count():
    """Records whose every run failed are no reference."""
    with pytest.raises(UsageError, match="19 documents"):
        made(reference(19) + [document() for _ in range(10)])


@pytest.mark.parametrize("wrong", [float("nan"), -0.1, 2.5])
def test_distance_outside_its_range_is_refused(wrong):
    """NaN would make every percentile NaN."""
    with pytest.raises(MalformedInput, match=r"in \[0, 2\]"):
        made([*reference(30), document(wrong)])


def test_change_inside_the_reference_is_warned_about():
    """The normalizer would be an average of two states."""
    calibration = made(reference(40) + reference(40, seed=2, level=0.3))
    assert any("choose a window without a change" in line for line in calibration.warnings)


def test_steady_reference_carries_no_warning():
    """A warning that is always there is not read."""
    assert made(reference(80)).warnings == ()


def test_calibration_of_other_distances_has_another_id():
    """Ids name one frozen content."""
    assert made(reference(30)).id != made(reference(30, seed=9)).id
