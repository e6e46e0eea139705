"""What a configuration must have for the processes that `execution.backend` starts."""

from __future__ import annotations

from monitor.settings import Settings
from monitor.stores import require_shared_queue
from monitor.summarizers import check_summarizer


def check_execution(settings: Settings) -> None:
    """Raises `ConfigurationError` for what this process, or scorers of its own, would die of.

    A front without scorers needs no summarizer, nor its key: scorers elsewhere have them.
    """
    if settings.execution.backend == "none":
        require_shared_queue(settings)
    else:
        # They would die of it again and again, while traffic is taken in.
        check_summarizer(settings)
