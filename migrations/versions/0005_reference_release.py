"""Add the release of a calibration and its references, and which references were kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    for table in ("calibrations", "drift_references"):
        op.add_column(table, sa.Column("release", sa.Text()))
    op.add_column("drift_references", sa.Column("origin", sa.Text()))
