"""The comparators that a configuration or a command asks for."""

from __future__ import annotations

import pytest

from monitor.factuality.configured import NamedModel, comparators
from monitor.records import Reason


@pytest.mark.parametrize("named", ["summac", "factcc"])
def test_each_check_takes_the_model_that_is_named_for_it(named: str) -> None:
    """A missing one is told by its own key and name; without a name nothing is loaded."""
    models = {
        name: NamedModel(key=f"key.of.{name}", source="no/such/model" if name == named else None)
        for name in ("summac", "factcc")
    }
    made = comparators(lambda texts: [[] for _ in texts], **models, allow_download=False)
    assert [check.name for check in made] == ["summac", "factcc"]
    told = {check.name: check.check([("document", "summary")])[0] for check in made}
    assert {score.reason for score in told.values()} == {Reason.UNAVAILABLE}
    assert told.pop(named).detail.startswith(f"key.of.{named}: 'no/such/model' is no classifier")
    ((other, score),) = told.items()
    assert score.detail == f"no model is configured for {other}"
