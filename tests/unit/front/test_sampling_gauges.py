"""The sampling rates that `/metrics` shows."""

from __future__ import annotations

from datetime import UTC, datetime

from monitor.gauges.traffic import sampling_samples
from monitor.labels import LabelPolicy
from monitor.records import SamplingEpoch, Stratum

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LABELS = LabelPolicy(services=["news"], models=["m"], categories=[])


def test_strata_of_the_first_epoch_have_a_rate() -> None:
    """Otherwise the panel stays empty until an epoch has ended; the greatest rate stands."""
    epoch = SamplingEpoch(
        number=1,
        starts_at=NOW,
        ends_at=NOW,
        rates={Stratum(service="a", model="m", category=""): 0.25},
        default_rate=0.5,
    )
    arrived = [Stratum(service=name, model="m", category="") for name in ("news", "b")]
    found = sampling_samples(epoch, arrived, spent=None, labels=LABELS)
    assert {sample.labels: sample.value for sample in found} == {
        ("news", "m", "other"): 0.5,
        ("other", "m", "other"): 0.5,
    }
