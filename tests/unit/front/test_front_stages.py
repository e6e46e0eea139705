"""What the configuration makes of the front's stages."""

from __future__ import annotations

from monitor.front_stages import label_policy
from monitor.settings import Settings


def test_every_category_that_the_configuration_names_may_be_a_label() -> None:
    """By the sender's own name for it, by a rule, by a description, or as the default."""
    settings = Settings(
        labels={"categories": ["sent"]},
        categories={
            "default": "usual",
            "rules": [{"category": "ruled", "service": "court-*"}],
            "descriptions": {"described": "Football matches"},
        },
    )
    labels = label_policy(settings)
    named = ("sent", "usual", "ruled", "described", "invented by a sender")
    assert [labels.category(name) for name in named] == [*named[:4], "other"]
