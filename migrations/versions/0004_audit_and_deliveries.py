"""Add the audit of viewed texts, deliveries of breaches, and cursors of outlets."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"

_DUE = "delivered_at IS NULL AND given_up_at IS NULL"
_SCORED = "state = 'scored'"


def _key() -> sa.types.TypeEngine[str]:
    """Ordered by code point in both databases."""
    return sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def _time() -> sa.types.TypeEngine[Any]:
    return sa.DateTime().with_variant(postgresql.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "text_views",
        sa.Column("id", _key(), nullable=False),
        sa.Column("viewed_at", _time(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("viewer", sa.Text(), nullable=False),
        sa.Column("record_id", _key(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_text_views"),
        sa.CheckConstraint(
            "channel IN ('page', 'api', 'cli', 'export')", name=op.f("ck_text_views_channel")
        ),
    )
    op.create_index("ix_text_views_viewed", "text_views", ["viewed_at", "id"])
    op.create_index("ix_text_views_record", "text_views", ["record_id", "viewed_at"])
    op.create_table(
        "deliveries",
        sa.Column("breach_id", _key(), nullable=False),
        sa.Column("event", _key(), nullable=False),
        sa.Column("queued_at", _time(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", _time(), nullable=False),
        sa.Column("delivered_at", _time()),
        sa.Column("given_up_at", _time()),
        sa.Column("problem", sa.Text()),
        sa.ForeignKeyConstraint(
            ["breach_id"], ["breaches.id"], ondelete="CASCADE", name="fk_deliveries_breach_id"
        ),
        sa.PrimaryKeyConstraint("breach_id", "event", name="pk_deliveries"),
        sa.CheckConstraint("event IN ('open', 'resolved')", name=op.f("ck_deliveries_event")),
        sa.CheckConstraint(
            "delivered_at IS NULL OR given_up_at IS NULL", name=op.f("ck_deliveries_one_end")
        ),
    )
    op.create_index(
        "ix_deliveries_due",
        "deliveries",
        ["not_before"],
        sqlite_where=sa.text(_DUE),
        postgresql_where=sa.text(_DUE),
    )
    op.create_table(
        "outlet_cursors",
        sa.Column("outlet", _key(), nullable=False),
        sa.Column("finished_at", _time(), nullable=False),
        sa.Column("record_id", _key(), nullable=False),
        sa.PrimaryKeyConstraint("outlet", name="pk_outlet_cursors"),
    )
    op.create_index(
        "ix_records_scored",
        "records",
        ["finished_at", "id"],
        sqlite_where=sa.text(_SCORED),
        postgresql_where=sa.text(_SCORED),
    )
