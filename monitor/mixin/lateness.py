"""From when on something of the sidecar is late: alerts judge by it, panels are coloured by it."""

from __future__ import annotations

WAITING_SECONDS = 900
"""A record that waits longer makes a growing queue worth a ticket."""
UNSCORED_SECONDS = 1800
"""While a record has waited for so long and none was scored in it, somebody is paged."""
EVALUATION_SECONDS = 600
"""Least age of the last evaluation that pages."""
EVALUATION_TURNS = 10
"""So many turns without an evaluation, where they take longer than that."""
