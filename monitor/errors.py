"""Everything that hss-monitor raises on purpose, as one tree.

A class docstring is the message of an error raised without one. A message names the
field, the value and the remedy. `exit_code` is what the command line ends with:
1 finding, 2 usage or configuration, 3 dependency unavailable, 70 internal error.
"""

from __future__ import annotations

from collections.abc import Iterable


class MonitorError(Exception):
    """hss-monitor could not do what was asked."""

    exit_code = 70

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class ConfigurationError(MonitorError):
    """The configuration is not valid."""

    exit_code = 2


class UsageError(MonitorError):
    """The command was given something that it cannot use."""

    exit_code = 2


class DependencyUnavailable(MonitorError):
    """Something that hss-monitor needs from outside is not there."""

    exit_code = 3


class ModelUnavailable(DependencyUnavailable):
    """A model that the configuration names cannot be loaded."""


class DatabaseUnavailable(DependencyUnavailable):
    """The database does not answer."""


class SchemaOutdated(DependencyUnavailable):
    """The database schema is older than this version: run `hss-monitor db upgrade`."""


class Overloaded(MonitorError):
    """The sidecar takes in no more records for now; send them again later."""

    exit_code = 3

    def __init__(self, message: str | None = None, *, retry_after: float = 5.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds after which the sender may try again."""


class LeaseLost(MonitorError):
    """Another process has taken this work over; what was found out is dropped."""


class MalformedInput(MonitorError):
    """What was sent cannot be read."""

    exit_code = 2

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field
        self.problem = problem
        self.remedy = remedy


def choices(values: Iterable[str]) -> str:
    """Words for a closed list in a message: `choices("ab")` is "'a' or 'b'".

    >>> choices(["low", "moderate", "high"])
    "'low', 'moderate' or 'high'"
    """
    quoted = [repr(str(value)) for value in values]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
